import { readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isPlainObject, parseJson } from '@holdfast/core';

/** Where the package `name` begins for an import from `directory`; `undefined` when nobody installed it there. */
export async function findPackageEntry(name: string, directory: string): Promise<string | undefined> {
  const manifestPath = findManifest(name, directory);
  return manifestPath === undefined ? undefined : await readEntry(manifestPath);
}

/** What an import of the package with this `package.json` runs; `undefined` where it says nothing of the kind. */
export async function readEntry(manifestPath: string): Promise<string | undefined> {
  const manifest = JSON.parse(await readFile(manifestPath, 'utf8')) as Manifest;
  const entry =
    manifest.exports === undefined ? (manifest.main ?? 'index.js') : pickTarget(toRootTarget(manifest.exports));
  return entry === undefined ? undefined : pathToFileURL(join(dirname(manifestPath), entry)).href;
}

interface Manifest {
  readonly main?: string;
  readonly exports?: unknown;
}

/** Where the `package.json` of the package `name` is for an import from `directory`; `undefined` when it is not installed there. */
export function findManifest(name: string, directory: string): string | undefined {
  try {
    // The base is a file in the folder; it does not have to exist.
    return findPackageJSON(name, pathToFileURL(join(directory, 'program.js')));
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw thrown;
  }
}

// `require.resolve` would look for what CommonJS is given, and `import.meta.resolve` starts from this file.
const conditions: ReadonlySet<string> = new Set([
  ...['node', 'import', 'module-sync', 'default'],
  // Only a checkout runs the source, and its packages may not have been built.
  ...(import.meta.url.endsWith('.ts') ? ['holdfast-source'] : []),
]);

function toRootTarget(exports: unknown): unknown {
  return typeof exports === 'object' && exports !== null && '.' in exports ? exports['.'] : exports;
}

/** The first target whose conditions an import meets. */
function pickTarget(target: unknown): string | undefined {
  if (typeof target === 'string') return target;
  if (Array.isArray(target)) return pickTarget(target[0]);
  if (typeof target !== 'object' || target === null) return undefined;
  for (const [condition, inner] of Object.entries(target)) {
    const found = conditions.has(condition) ? pickTarget(inner) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The version in a `package.json`; `null` where it has none that can be read: what mends that is to install the package again. */
export async function readVersion(path: string | undefined): Promise<string | null> {
  if (path === undefined) return null;
  const manifest = parseJson(await readFile(path, 'utf8'));
  const version = manifest.ok && isPlainObject(manifest.value) ? manifest.value['version'] : undefined;
  return typeof version === 'string' ? version : null;
}
