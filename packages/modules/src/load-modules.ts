import { describeThrown, HoldfastError, isHoldfastError } from '@holdfast/core';
import { checkModule } from './check-module.ts';
import {
  hashText,
  type ManifestEntry,
  type ManifestProblem,
  manifestPath,
  parseManifest,
  toPendingPath,
} from './manifest.ts';
import type { ModuleDefinition } from './module-definition.ts';
import { parseModule } from './module-file.ts';
import { type ModuleDiagnostic, type ModuleProblem, problemAt } from './module-problem.ts';
import type { ModuleSource } from './module-source.ts';
import type { Program } from './program.ts';
import type { Signature } from './signature.ts';

/** A module that was read and that fits its signature. Frozen. */
export interface LoadedModule {
  readonly definition: ModuleDefinition;
  readonly signature: Signature;
  readonly program: Program;
  /** Of the file, as `manifest.json` names it. */
  readonly path: string;
  /** `sha256:` and the digest of what was read, also where the manifest pins nothing. */
  readonly hash: string;
  readonly tags: readonly string[];
}

export interface LoadModulesOptions {
  /** Modules name them. @throws HoldfastError `modules.signature_duplicate`. */
  readonly signatures: readonly Signature[];
}

export interface LoadedModules {
  /** By id, in the order of the manifest: those without errors. */
  readonly modules: ReadonlyMap<string, LoadedModule>;
  /** In the order of the manifest. */
  readonly diagnostics: readonly ModuleDiagnostic[];
}

export type ManifestReading =
  | {
      readonly type: 'manifest';
      readonly text: string;
      readonly entries: ReadonlyMap<string, ManifestEntry>;
      readonly diagnostics: readonly ModuleDiagnostic[];
    }
  | { readonly type: 'missing' | 'invalid'; readonly text?: string; readonly diagnostics: readonly ModuleDiagnostic[] };

/** As `toSignatureMap` makes it. */
export interface KnownSignatures {
  readonly signatures: ReadonlyMap<string, Signature>;
}

export interface LoadedFile {
  /** Absent after an error. */
  readonly module: LoadedModule | undefined;
  readonly diagnostics: readonly ModuleDiagnostic[];
}

/** How often a folder is read again that changes while it is read. */
const maxReadings = 5;
const maxFilesAtOnce = 16;

/**
 * Reads the manifest and every module that it lists. A module with an error is left out and told of; the others load. Without a
 * manifest there are no modules and a warning. Where a file does not fit the manifest and that has just been changed, as during
 * `saveModule`, all is read again. Never rejects for what a source holds.
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
  let manifest = await readManifest(source);
  for (let readings = 1; ; readings += 1) {
    const loaded = await loadListed(source, manifest, known);
    if (readings === maxReadings || !loaded.diagnostics.some(({ code }) => isOfChange(code))) return loaded;
    const again = await readManifest(source);
    if (again.text === manifest.text) return loaded;
    manifest = again;
  }
}

/** @throws HoldfastError `modules.signature_duplicate`. */
export function toSignatureMap(signatures: readonly Signature[]): ReadonlyMap<string, Signature> {
  const found = new Map<string, Signature>();
  for (const signature of signatures) {
    if (found.has(signature.name))
      throw new HoldfastError(
        'modules.signature_duplicate',
        `There are two signatures \`${signature.name}\`; rename one of them.`,
      );
    found.set(signature.name, signature);
  }
  return found;
}

async function loadListed(
  source: ModuleSource,
  manifest: ManifestReading,
  signatures: ReadonlyMap<string, Signature>,
): Promise<LoadedModules> {
  const entries = manifest.type === 'manifest' ? [...manifest.entries] : [];
  const files: LoadedFile[] = new Array(entries.length);
  const waiting = entries.entries();
  const work = async (): Promise<void> => {
    // The iterator is shared: each file is taken by one.
    for (const [index, [moduleId, entry]] of waiting) {
      files[index] = await loadModule(source, moduleId, entry, { signatures });
    }
  };
  await Promise.all(Array.from({ length: maxFilesAtOnce }, work));
  const modules = new Map<string, LoadedModule>();
  for (const { module } of files) if (module !== undefined) modules.set(module.definition.module_id, module);
  return { modules, diagnostics: [...manifest.diagnostics, ...files.flatMap(({ diagnostics }) => diagnostics)] };
}

/** What may come of reading a file and the manifest at different times. */
function isOfChange(code: string): boolean {
  return code === 'modules.file_missing' || code === 'modules.hash_mismatch';
}

/** The manifest as it is now. An entry that is no good is a diagnostic with its `moduleId`, and not among the entries. */
export async function readManifest(source: ModuleSource): Promise<ManifestReading> {
  const at = (problem: ManifestProblem): ModuleDiagnostic => ({ ...problem, path: manifestPath });
  let text: string | undefined;
  try {
    text = await source.read(manifestPath);
  } catch (thrown) {
    return { type: 'invalid', diagnostics: [at({ ...toReadProblem(thrown, manifestPath), severity: 'error' })] };
  }
  if (text === undefined) {
    const message = `\`${source.name}\` has no \`${manifestPath}\`, and so no modules.`;
    return {
      type: 'missing',
      diagnostics: [at({ ...problemAt('', 'modules.manifest_missing', message), severity: 'warning' })],
    };
  }
  const parsing = parseManifest(text);
  const diagnostics = parsing.problems.map(at);
  return parsing.type === 'manifest'
    ? { type: 'manifest', text, entries: parsing.entries, diagnostics }
    : { type: 'invalid', text, diagnostics };
}

/** Reads and checks the module that a manifest lists as `moduleId`. */
export async function loadModule(
  source: ModuleSource,
  moduleId: string,
  { path, hash: pinned, tags }: ManifestEntry,
  { signatures }: KnownSignatures,
): Promise<LoadedFile> {
  const diagnostics: ModuleDiagnostic[] = [];
  const report = (problems: readonly ModuleProblem[], severity?: 'error' | 'warning'): void => {
    for (const problem of problems)
      diagnostics.push({ severity: 'error', ...problem, ...(severity ? { severity } : {}), path, moduleId });
  };
  const refused: LoadedFile = { module: undefined, diagnostics };
  const read = await readPinned(source, path, pinned);
  if (read.type === 'problem') {
    report([read.problem]);
    return refused;
  }
  const parsing = parseModule(read.text);
  if (parsing.type === 'invalid') {
    report(parsing.problems);
    return refused;
  }
  const { definition } = parsing;
  if (definition.module_id !== moduleId) {
    const message = `The file is of \`${definition.module_id}\`, and the manifest lists it as \`${moduleId}\`; make them equal.`;
    report([problemAt('module_id', 'modules.id_mismatch', message)]);
  }
  const { program, problems } = checkModule(definition, signatures);
  report(problems);
  if (program === undefined || diagnostics.some(({ severity }) => severity === 'error')) return refused;
  const { signature } = program;
  return { module: Object.freeze({ definition, signature, program, path, hash: read.hash, tags }), diagnostics };
}

type PinnedReading =
  | { readonly type: 'read'; readonly text: string; readonly hash: string }
  | { readonly type: 'problem'; readonly problem: ModuleProblem };

/**
 * The file as the manifest pins it. Whoever saves writes the new file beside the old one, then the manifest, and only then puts the new
 * file in the place of the old one: what is pinned may still be on its way, or have arrived since the file was read.
 */
async function readPinned(source: ModuleSource, path: string, pinned: string | null): Promise<PinnedReading> {
  const places = pinned === null ? [path] : [path, toPendingPath(pinned), path];
  let problem: ModuleProblem | undefined;
  for (const place of places) {
    let text: string | undefined;
    try {
      text = await source.read(place);
    } catch (thrown) {
      problem = toReadProblem(thrown, path);
      if (place === path) break;
      continue;
    }
    if (text === undefined) {
      if (place === path) problem = problemAt('', 'modules.file_missing', `There is no file \`${path}\`.`);
      continue;
    }
    const hash = await hashText(text);
    if (pinned === null || hash === pinned) return { type: 'read', text, hash };
    const message = `\`${path}\` is not what \`${manifestPath}\` pins: it has \`${hash}\`. Restore the file, or put its hash, or null, into the manifest.`;
    problem = problemAt('', 'modules.hash_mismatch', message);
  }
  // There is always at least one place.
  return {
    type: 'problem',
    problem: problem ?? problemAt('', 'modules.file_missing', `There is no file \`${path}\`.`),
  };
}

function toReadProblem(thrown: unknown, path: string): ModuleProblem {
  if (isHoldfastError(thrown)) return problemAt('', thrown.code, thrown.message);
  return problemAt('', 'modules.unreadable', `\`${path}\` cannot be read: ${describeThrown(thrown).slice(0, 300)}.`);
}
