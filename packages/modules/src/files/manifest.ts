import type { JsonObject } from '@holdfast/core';
import { deepFreeze, isPlainObject, toPrintable } from '@holdfast/core/internal';
import { compileSchema } from '@holdfast/schema';
import { jsonSchema } from '@holdfast/schema/json';
import { type FileProblem, type ModuleProblem, problemAt } from '../signature/problems.ts';
import { findIdProblem } from './module-file.ts';
import { parseText, toProblems } from './parse-text.ts';

/** The file with a source's list of modules. */
export const manifestPath = 'manifest.json';

/** The folder of `saveModule`, next to the modules. */
export const pendingFolder = '.holdfast';

/** The path of a file that the manifest already pins, until it replaces the previous version. */
export function toPendingPath(hash: string): string {
  return `${pendingFolder}/${hash.replace('sha256:', '')}.json`;
}

/** The manifest entry of one module. */
export interface ManifestEntry {
  /** The path of the module file, relative to the manifest, with `/`. */
  readonly path: string;
  /** `sha256:` and the lowercase hexadecimal digest of the file's bytes; null if the file is not pinned. */
  readonly hash: string | null;
  readonly tags: readonly string[];
}

/** A problem with a `moduleId` affects only that entry. */
export interface ManifestProblem extends FileProblem {
  readonly moduleId?: string;
}

/** The result of parsing a manifest: the usable entries, in file order. */
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
 * Parses a manifest: `{ "version": "1.0", "modules": { id: { "path", "hash", "tags" } } }`. `modules` is optional; `hash` and `tags` may be
 * null or absent; a digest may omit `sha256:`. An invalid entry affects only itself; of ids that differ only by case, the first counts.
 * Unknown keys are errors within an entry and warnings next to `modules`.
 *
 * Codes: `modules.invalid`.
 *
 * Source: the public repository SolPatrol/ml-crate, README, "Module Format".
 */
export function parseManifest(text: string): ManifestParsing {
  const parsed = parseText(text, 'manifest');
  if (parsed.type === 'invalid') return { type: 'invalid', problems: parsed.problems.map(asError) };
  const { value } = parsed;
  const shaped = wholeShape.validate(value);
  const problems: ManifestProblem[] = shaped.ok ? [] : toProblems(shaped.issues, { reason: 'manifest' }).map(asError);
  const { version, modules = {} } = isPlainObject(value) ? value : {};
  if (typeof version === 'string' && !/^1(\.\d{1,9}){0,2}$/.test(version)) {
    const shown = version.slice(0, 40);
    problems.push(
      asError(problemAt('version', 'manifest', `Unknown version \`${shown}\`. The known version is \`1.0\`.`)),
    );
  }
  if (problems.length > 0 || !isPlainObject(value) || !isPlainObject(modules)) return { type: 'invalid', problems };

  for (const key of Object.keys(value)) {
    if (key === 'version' || key === 'modules') continue;
    const place = key.slice(0, 100);
    problems.push({ ...problemAt(place, 'manifest', 'Unknown key, which has no effect.'), severity: 'warning' });
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
  if (idProblem !== undefined) problems.push(problemAt(place, 'manifest', idProblem));
  if (twin !== undefined)
    problems.push(problemAt(place, 'id_twin', `Differs from \`${twin}\` only by case. Rename one of them.`));
  const shaped = entryShape.validate(written);
  if (!shaped.ok) problems.push(...toProblems(shaped.issues, { reason: 'manifest', below: place }));
  const { path, hash: writtenHash }: JsonObject = isPlainObject(written) ? (written as JsonObject) : {};
  const pathProblem = typeof path === 'string' ? findPathProblem(path) : undefined;
  if (pathProblem !== undefined) problems.push(problemAt(`${place}.path`, 'path', pathProblem));
  const hash = typeof writtenHash === 'string' ? toHash(writtenHash) : null;
  if (hash === undefined) {
    const expected = 'Must be `sha256:` and 64 hexadecimal digits, or null to leave the file unpinned.';
    problems.push(problemAt(`${place}.hash`, 'manifest', expected));
  }
  if (!shaped.ok || hash === undefined || problems.length > 0) return { type: 'refused', problems };
  const tags = [...new Set(shaped.value.tags)];
  return { type: 'entry', entry: deepFreeze({ path: shaped.value.path, hash, tags }) };
}

function toHash(text: string): string | undefined {
  const digest = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(text)?.[1];
  return digest === undefined ? undefined : `sha256:${digest.toLowerCase()}`;
}

/** In the format of `ManifestEntry.hash`. */
export async function hashText(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return `sha256:${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

function asError(problem: ModuleProblem): ManifestProblem {
  return { ...problem, severity: 'error' };
}

const maxPathLength = 1024;

/**
 * The reason to refuse a path of a manifest; `undefined` for a path below the folder whose spelling means the same on every system. Links
 * are checked by the source.
 */
export function findPathProblem(path: string): string | undefined {
  const shown = `\`${toPrintable(path.slice(0, 200))}\``;
  if (path.length > maxPathLength) return `${shown}… is longer than ${maxPathLength} characters.`;
  if (path.startsWith('/')) return `${shown} begins with \`/\`. Paths are relative to the folder of the manifest.`;
  // A drive, `file:`, or an alternate data stream on Windows.
  if (path.includes(':')) return `${shown} contains \`:\`. Use a path relative to the folder of the manifest.`;
  if (path.includes('\\')) return `${shown} contains a backslash. Use \`/\`.`;
  if (toPrintable(path) !== path) return `${shown} contains invisible characters.`;
  for (const segment of path.split('/')) {
    if (segment === '') return `${shown} has an empty segment. Name a file, with one \`/\` between segments.`;
    if (segment === '.' || segment === '..') return `${shown} contains \`${segment}\`. Write the path without it.`;
    // Windows drops them, so two spellings would name one file.
    if (segment.endsWith('.') || segment.endsWith(' '))
      return `${shown} has a segment that ends with a dot or a space.`;
  }
  return undefined;
}
