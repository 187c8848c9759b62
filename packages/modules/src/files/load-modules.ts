import type { ModuleDiagnostic } from '../signature/problems.ts';
import type { Signature } from '../signature/signature.ts';
import { type LoadedModule, toSignatureMap } from './load-module.ts';
import { emptyShelf, listDiagnostics, readChange } from './shelf.ts';
import type { ModuleSource } from './source.ts';

export interface LoadModulesOptions {
  /** Modules name them. @throws HoldfastError `modules.signature_duplicate`. */
  readonly signatures: readonly Signature[];
}

export interface LoadedModules {
  /** By id, in the order of the manifest: those without errors. */
  readonly modules: ReadonlyMap<string, LoadedModule>;
  /** Of the manifest, then of its modules. */
  readonly diagnostics: readonly ModuleDiagnostic[];
}

/**
 * Reads the manifest and every module that it lists. A module with an error is left out and told of; the others load. Without a
 * manifest there are no modules and a warning. Where a file does not fit the manifest and that has just been changed, as during
 * `saveModule`, that is read again. Never rejects for what a source holds.
 *
 * Codes of diagnostics: `modules.manifest_missing` (warning), `modules.manifest_invalid`, `modules.path_refused`, `modules.id_twin`,
 * `modules.file_missing`, `modules.file_invalid`, `modules.too_large`, `modules.unreadable`, `modules.hash_mismatch`,
 * `modules.id_mismatch`, `modules.signature_not_found`, `modules.signature_mismatch`, `modules.field_type_unknown` (warning),
 * `modules.description_unknown`, `modules.demo_invalid`.
 *
 * @throws HoldfastError `modules.signature_duplicate`.
 */
export async function loadModules(source: ModuleSource, { signatures }: LoadModulesOptions): Promise<LoadedModules> {
  const known = toSignatureMap(signatures);
  const { shelf } = await readChange(emptyShelf, { type: 'all' }, { source, signatures: known });
  return { modules: shelf.modules, diagnostics: listDiagnostics(shelf) };
}
