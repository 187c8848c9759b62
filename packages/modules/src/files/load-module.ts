import { HoldfastError, isHoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { type ModuleDiagnostic, type ModuleProblem, problemAt, problemOf } from '../signature/problems.ts';
import type { Program } from '../signature/program.ts';
import type { Signature } from '../signature/signature.ts';
import { checkModule } from './check.ts';
import type { ModuleDefinition } from './definition.ts';
import {
  hashText,
  type ManifestEntry,
  type ManifestProblem,
  manifestPath,
  parseManifest,
  toPendingPath,
} from './manifest.ts';
import { parseModule } from './module-file.ts';
import type { ModuleSource } from './source.ts';

/** A module that was read and matches its signature. Frozen. */
export interface LoadedModule {
  readonly definition: ModuleDefinition;
  readonly signature: Signature;
  readonly program: Program;
  /** The path of the file, as in `manifest.json`. */
  readonly path: string;
  /** `sha256:` and the digest of the file, whether or not the manifest pins it. */
  readonly hash: string;
  readonly tags: readonly string[];
}

export type ManifestReading =
  | {
      readonly type: 'manifest';
      readonly text: string;
      readonly entries: ReadonlyMap<string, ManifestEntry>;
      readonly diagnostics: readonly ModuleDiagnostic[];
    }
  | {
      readonly type: 'missing' | 'invalid';
      readonly text?: undefined;
      readonly diagnostics: readonly ModuleDiagnostic[];
    };

/** As returned by `toSignatureMap`. */
export interface KnownSignatures {
  readonly signatures: ReadonlyMap<string, Signature>;
}

export interface LoadedFile {
  /** Absent after an error. */
  readonly module: LoadedModule | undefined;
  readonly diagnostics: readonly ModuleDiagnostic[];
}

/** @throws HoldfastError `modules.invalid`. */
export function toSignatureMap(signatures: readonly Signature[]): ReadonlyMap<string, Signature> {
  const found = new Map<string, Signature>();
  for (const signature of signatures) {
    if (found.has(signature.name))
      throw new HoldfastError('modules.invalid', `Two signatures are named \`${signature.name}\`. Rename one.`, {
        data: { reason: 'signature_duplicate' },
      });
    found.set(signature.name, signature);
  }
  return found;
}

/** Reads the current manifest. An invalid entry is left out and becomes a diagnostic with its `moduleId`. */
export async function readManifest(source: ModuleSource): Promise<ManifestReading> {
  const at = (problem: ManifestProblem): ModuleDiagnostic => ({ ...problem, path: manifestPath });
  let text: string | undefined;
  try {
    text = await readText(source, manifestPath);
  } catch (thrown) {
    return { type: 'invalid', diagnostics: [at({ ...toReadProblem(thrown, manifestPath), severity: 'error' })] };
  }
  if (text === undefined) {
    const message = `\`${source.name}\` has no \`${manifestPath}\`, so no modules are loaded.`;
    return {
      type: 'missing',
      diagnostics: [at({ ...problemAt('', 'manifest_missing', message), severity: 'warning' })],
    };
  }
  const parsing = parseManifest(text);
  const diagnostics = parsing.problems.map(at);
  return parsing.type === 'manifest'
    ? { type: 'manifest', text, entries: parsing.entries, diagnostics }
    : { type: 'invalid', diagnostics };
}

/** Reads and checks the module that the manifest lists as `moduleId`. */
export async function loadModule(
  source: ModuleSource,
  moduleId: string,
  { path, hash: pinned, tags }: ManifestEntry,
  { signatures }: KnownSignatures,
): Promise<LoadedFile> {
  const diagnostics: ModuleDiagnostic[] = [];
  const report = (problems: readonly ModuleProblem[]): void => {
    for (const problem of problems) diagnostics.push({ severity: 'error', ...problem, path, moduleId });
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
    const message = `The file has the id \`${definition.module_id}\`, but the manifest lists it as \`${moduleId}\`. Use the same id.`;
    report([problemAt('module_id', 'id_mismatch', message)]);
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
 * Reads the file as pinned by the manifest. `saveModule` writes the new file next to the old one, updates the manifest, and then replaces
 * the file, so the pinned version may still be pending, or may have arrived since the first read.
 */
async function readPinned(source: ModuleSource, path: string, pinned: string | null): Promise<PinnedReading> {
  const places = pinned === null ? [path] : [path, toPendingPath(pinned), path];
  const missing = problemAt('', 'file_missing', `The file \`${path}\` does not exist.`);
  // The last place, the file's own, determines the problem.
  let problem = missing;
  for (const place of places) {
    let text: string | undefined;
    try {
      text = await readText(source, place);
    } catch (thrown) {
      problem = toReadProblem(thrown, path);
      continue;
    }
    if (text === undefined) {
      problem = missing;
      continue;
    }
    const hash = await hashText(text);
    if (pinned === null || hash === pinned) return { type: 'read', text, hash };
    const message = `\`${path}\` does not match its hash in \`${manifestPath}\`: expected \`${pinned}\`, got \`${hash}\`. Restore the file, or set the hash in the manifest to the new value or null.`;
    problem = problemAt('', 'hash_mismatch', message);
  }
  return { type: 'problem', problem };
}

/** Checks the type: a host's source that returns bytes would otherwise fail much later. */
async function readText(source: ModuleSource, path: string): Promise<string | undefined> {
  const text: unknown = await source.read(path);
  if (text === undefined || typeof text === 'string') return text;
  throw new HoldfastError(
    'modules.invalid',
    `Cannot read \`${path}\`: the source must return a string, or \`undefined\` for a missing file.`,
    { data: { reason: 'unreadable' } },
  );
}

function toReadProblem(thrown: unknown, path: string): ModuleProblem {
  if (isHoldfastError(thrown)) return problemOf(thrown);
  return problemAt('', 'unreadable', `Cannot read \`${path}\`: ${describeThrown(thrown).slice(0, 300)}.`);
}
