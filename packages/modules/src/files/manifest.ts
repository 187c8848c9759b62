import { deepFreeze, isPlainObject, type JsonObject, toPrintable } from '@holdfast/core';
import { compileSchema } from '@holdfast/schema';
import { jsonSchema } from '@holdfast/schema/json';
import { type FileProblem, type ModuleProblem, problemAt } from '../signature/problems.ts';
import { findIdProblem } from './module-file.ts';
import { parseText, toProblems } from './parse-text.ts';

/** Where a source keeps the list of its modules. */
export const manifestPath = 'manifest.json';

/** What `saveModule` keeps beside the modules. */
export const pendingFolder = '.holdfast';

/** Where a file waits that the manifest pins already, until it takes the place of the one before it. */
export function toPendingPath(hash: string): string {
  return `${pendingFolder}/${hash.replace('sha256:', '')}.json`;
}

/** What a manifest says of one module. */
export interface ManifestEntry {
  /** Of the module file, relative to the manifest, with `/`. */
  readonly path: string;
  /** `sha256:` and the digest of the file's bytes in lower case hexadecimal; null where the file is not pinned. */
  readonly hash: string | null;
  readonly tags: readonly string[];
}

/** A problem of one entry costs that entry only. */
export interface ManifestProblem extends FileProblem {
  readonly moduleId?: string;
}

/** What came of the text of a manifest: the entries that can be used, in the order of the file. */
export type ManifestParsing =
  | {
      readonly type: 'manifest';
      readonly entries: ReadonlyMap<string, ManifestEntry>;
      readonly problems: readonly ManifestProblem[];
    }
  | { readonly type: 'invalid'; readonly problems: readonly ManifestProblem[] };

const wholeShape = compileSchema(
  jsonSchema({
    type: 'object',
    properties: {
      version: { type: 'string' },
      modules: { type: 'object', additionalProperties: true },
    },
    required: ['version'],
    additionalProperties: true,
  }),
);

const entryShape = compileSchema<{ path: string; hash?: string | null; tags?: readonly string[] | null }>(
  jsonSchema({
    type: 'object',
    properties: {
      path: { type: 'string' },
      hash: { type: ['string', 'null'] },
      tags: { type: ['array', 'null'], items: { type: 'string', minLength: 1, maxLength: 100 } },
    },
    required: ['path'],
  }),
);

/**
 * Reads a manifest: `{ "version": "1.0", "modules": { id: { "path", "hash", "tags" } } }`. Without `modules` there are
 * none. `hash` and `tags` may be null or left out;
 * a digest may stand without `sha256:`. An entry that is no good costs only itself; of ids that differ only by case the first counts.
 * Unknown keys of an entry are problems, those beside `modules` warnings.
 *
 * Codes: `modules.manifest_invalid`, `modules.path_refused`, `modules.id_twin`, `modules.too_large`.
 *
 * Source: the public repository SolPatrol/ml-crate, README, "Module Format".
 */
export function parseManifest(text: string): ManifestParsing {
  const parsed = parseText(text, invalidCode);
  if (parsed.type === 'invalid') return { type: 'invalid', problems: parsed.problems.map(asError) };
  const { value } = parsed;
  const shaped = wholeShape.validate(value);
  const problems: ManifestProblem[] = shaped.ok ? [] : toProblems(shaped.issues, { code: invalidCode }).map(asError);
  const { version, modules = {} } = isPlainObject(value) ? value : {};
  if (typeof version === 'string' && !/^1(\.\d{1,9}){0,2}$/.test(version)) {
    const shown = version.slice(0, 40);
    problems.push(asError(problemAt('version', invalidCode, `\`${shown}\` is not known; version \`1.0\` is.`)));
  }
  if (problems.length > 0 || !isPlainObject(value) || !isPlainObject(modules)) return { type: 'invalid', problems };

  for (const key of Object.keys(value)) {
    if (key === 'version' || key === 'modules') continue;
    const place = key.slice(0, 100);
    problems.push({ ...problemAt(place, invalidCode, 'Unknown key; it has no effect.'), severity: 'warning' });
  }
  const entries = new Map<string, ManifestEntry>();
  const ids = new Map<string, string>();
  for (const [moduleId, written] of Object.entries(modules)) {
    const reading = readEntry(moduleId, written, ids.get(moduleId.toLowerCase()));
    if (reading.type === 'entry') {
      entries.set(moduleId, reading.entry);
      ids.set(moduleId.toLowerCase(), moduleId);
    } else {
      const shownId = toPrintable(moduleId.slice(0, 128));
      problems.push(...reading.problems.map((problem) => ({ ...asError(problem), moduleId: shownId })));
    }
  }
  return { type: 'manifest', entries, problems };
}

type EntryReading =
  | { readonly type: 'entry'; readonly entry: ManifestEntry }
  | { readonly type: 'refused'; readonly problems: readonly ModuleProblem[] };

function readEntry(moduleId: string, written: unknown, twin: string | undefined): EntryReading {
  const place = `modules.${moduleId.slice(0, 128)}`;
  const problems: ModuleProblem[] = [];
  const idProblem = findIdProblem(moduleId);
  if (idProblem !== undefined) problems.push(problemAt(place, invalidCode, idProblem));
  if (twin !== undefined)
    problems.push(problemAt(place, 'modules.id_twin', `Differs from \`${twin}\` only by case; rename one of the two.`));
  const shaped = entryShape.validate(written);
  if (!shaped.ok) problems.push(...toProblems(shaped.issues, { code: invalidCode, below: place }));
  const { path, hash: writtenHash }: JsonObject = isPlainObject(written) ? (written as JsonObject) : {};
  const pathProblem = typeof path === 'string' ? findPathProblem(path) : undefined;
  if (pathProblem !== undefined) problems.push(problemAt(`${place}.path`, 'modules.path_refused', pathProblem));
  const hash = typeof writtenHash === 'string' ? toHash(writtenHash) : null;
  if (hash === undefined) {
    const expected = 'Must be `sha256:` and 64 hexadecimal digits, or null where the file is not pinned.';
    problems.push(problemAt(`${place}.hash`, invalidCode, expected));
  }
  if (!shaped.ok || hash === undefined || problems.length > 0) return { type: 'refused', problems };
  const tags = [...new Set(shaped.value.tags)];
  return { type: 'entry', entry: deepFreeze({ path: shaped.value.path, hash, tags }) };
}

function toHash(text: string): string | undefined {
  const digest = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(text)?.[1];
  return digest === undefined ? undefined : `sha256:${digest.toLowerCase()}`;
}

/** As `ManifestEntry.hash` has it. */
export async function hashText(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return `sha256:${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

const invalidCode = 'modules.manifest_invalid';

function asError(problem: ModuleProblem): ManifestProblem {
  return { ...problem, severity: 'error' };
}

const maxPathLength = 1024;

/**
 * Why a path of a manifest is refused: `undefined` for one that leads to a file below the folder, spelled in the one way that every
 * system reads alike. Whether a link on the way leads out only the source can tell.
 */
export function findPathProblem(path: string): string | undefined {
  const shown = `\`${toPrintable(path.slice(0, 200))}\``;
  if (path.length > maxPathLength) return `${shown}… is longer than ${maxPathLength} characters.`;
  if (path.startsWith('/')) return `${shown} begins with \`/\`: paths are relative to the folder of the manifest.`;
  // A drive, `file:`, or a stream of a file on Windows.
  if (path.includes(':')) return `${shown} holds \`:\`; write a path relative to the folder of the manifest.`;
  if (path.includes('\\')) return `${shown} holds a backslash; write \`/\`.`;
  if (toPrintable(path) !== path) return `${shown} holds characters that cannot be seen.`;
  for (const segment of path.split('/')) {
    if (segment === '') return `${shown} has an empty part; name a file, with one \`/\` between the parts.`;
    if (segment === '.' || segment === '..') return `${shown} holds \`${segment}\`; write the path without it.`;
    // Windows drops them, so that two spellings would be one file.
    if (segment.endsWith('.') || segment.endsWith(' ')) return `${shown} has a part that ends with a dot or a space.`;
  }
  return undefined;
}
