import type { ModuleDiagnostic } from '../signature/problems.ts';
import type { Signature } from '../signature/signature.ts';
import { type LoadedModule, toSignatureMap } from './load-module.ts';
import { emptyShelf, listDiagnostics, readChange } from './shelf.ts';
import type { ModuleSource } from './source.ts';

export interface LoadModulesOptions {
  /** The signatures that modules may name. @throws HoldfastError `modules.invalid`. */
  readonly signatures: readonly Signature[];
}

export interface LoadedModules {
  /** The modules without errors by id, in manifest order. */
  readonly modules: ReadonlyMap<string, LoadedModule>;
  /** The problems of the manifest, then of its modules. */
  readonly diagnostics: readonly ModuleDiagnostic[];
}

/**
 * Reads the manifest and all modules that it lists. A module with an error becomes a diagnostic; the others load. A missing manifest is a
 * warning. If a file does not match a manifest that has just changed, as during `saveModule`, both are read again. Never rejects because of
 * a source's content.
 *
 * Codes of diagnostics: `modules.invalid` (warning), `modules.invalid` (warning),
 * `modules.invalid`.
 *
 * @throws HoldfastError `modules.invalid`.
 */
export async function loadModules(source: ModuleSource, { signatures }: LoadModulesOptions): Promise<LoadedModules> {
  const known = toSignatureMap(signatures);
  const { shelf } = await readChange(emptyShelf, { type: 'all' }, { source, signatures: known });
  return { modules: shelf.modules, diagnostics: listDiagnostics(shelf) };
}
