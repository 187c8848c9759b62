import { describeThrown, HoldfastError, isHoldfastError } from '@holdfast/core';
import { type ModuleDiagnostic, type ModuleProblem, problemAt } from '../signature/problems.ts';
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

/** As `toSignatureMap` makes it. */
export interface KnownSignatures {
  readonly signatures: ReadonlyMap<string, Signature>;
}

export interface LoadedFile {
  /** Absent after an error. */
  readonly module: LoadedModule | undefined;
  readonly diagnostics: readonly ModuleDiagnostic[];
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

/** The manifest as it is now. An entry that is no good is a diagnostic with its `moduleId`, and not among the entries. */
export async function readManifest(source: ModuleSource): Promise<ManifestReading> {
  const at = (problem: ManifestProblem): ModuleDiagnostic => ({ ...problem, path: manifestPath });
  let text: string | undefined;
  try {
    text = await readText(source, manifestPath);
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
    : { type: 'invalid', diagnostics };
}

/** Reads and checks the module that a manifest lists as `moduleId`. */
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
  const missing = problemAt('', 'modules.file_missing', `There is no file \`${path}\`.`);
  // What the last place says counts, which is the file's own.
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
    const message = `\`${path}\` is not what \`${manifestPath}\` pins: that is \`${pinned}\`, and the file has \`${hash}\`. Restore the file, or put its hash, or null, into the manifest.`;
    problem = problemAt('', 'modules.hash_mismatch', message);
  }
  return { type: 'problem', problem };
}

/** A source is code of a host: bytes would make trouble only far from here. */
async function readText(source: ModuleSource, path: string): Promise<string | undefined> {
  const text: unknown = await source.read(path);
  if (text === undefined || typeof text === 'string') return text;
  throw new HoldfastError(
    'modules.unreadable',
    `\`${path}\` cannot be read: the source has to give text, or \`undefined\` where there is no file, and gave something else.`,
  );
}

function toReadProblem(thrown: unknown, path: string): ModuleProblem {
  if (isHoldfastError(thrown)) return problemAt('', thrown.code, thrown.message);
  return problemAt('', 'modules.unreadable', `\`${path}\` cannot be read: ${describeThrown(thrown).slice(0, 300)}.`);
}
