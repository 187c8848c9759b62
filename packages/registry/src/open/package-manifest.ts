import { readdir } from 'node:fs/promises';
import { createRequire, findPackageJSON } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isPlainObject } from '@holdfast/core';
import { readEntryName } from '../resolve/names.ts';
import { decodeText, readSmallFile } from './small-file.ts';

/** What is asked of the `package.json` of an installed package. */
export interface PackageManifest {
  /** The folder of the package, as it was found: perhaps a link. */
  readonly folder: string;
  /** `undefined` where it says none. */
  readonly version: string | undefined;
  readonly description: string | undefined;
  /** What it says to be, whatever that is. */
  readonly holdfast: unknown;
  /** The versions of Holdfast that it says to work with. */
  readonly coreRange: string | undefined;
  /** The raw fields that say where it begins. */
  readonly exports: unknown;
}

/** The folder of a package, as an import from a file in `directory` finds it. `undefined`: it is not installed there. */
export function findPackage(name: string, directory: string): string | undefined {
  try {
    // The base is a file in the folder; it does not have to exist.
    const path = findPackageJSON(name, pathToFileURL(join(directory, 'program.js')));
    return path === undefined ? undefined : dirname(path);
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw thrown;
  }
}

/**
 * What an import of the package in `folder` runs. `undefined` where there is no such package, its `package.json` cannot be read, or it
 * names nothing in the package.
 */
export async function findPackageEntry(folder: string | undefined): Promise<string | undefined> {
  const reading = folder === undefined ? undefined : await readManifest(folder);
  return reading?.type === 'read' ? findEntryFile(reading.manifest) : undefined;
}

/** What the `package.json` in `folder` gives as the version. */
export async function readPackageVersion(folder: string | undefined): Promise<string | undefined> {
  const reading = folder === undefined ? undefined : await readManifest(folder);
  return reading?.type === 'read' ? reading.manifest.version : undefined;
}

export type ReadManifest =
  | { readonly type: 'read'; readonly manifest: PackageManifest }
  | { readonly type: 'missing' }
  | { readonly type: 'refused'; readonly why: string };

/** Reads the `package.json` of `folder`, and runs nothing. */
export async function readManifest(folder: string): Promise<ReadManifest> {
  const reading = await readSmallFile(join(folder, 'package.json'));
  if (reading.type !== 'read') return reading;
  const text = decodeText(reading.bytes);
  const fields = text === undefined ? undefined : parseObject(text.replace(/^\u{feff}/u, ''));
  if (fields === undefined) return { type: 'refused', why: 'it is no JSON object' };
  const { version, description, holdfast, exports, peerDependencies } = fields;
  const coreRange = isPlainObject(peerDependencies) ? toText(peerDependencies['@holdfast/core']) : undefined;
  const manifest = { folder, version: toText(version), description: toText(description), holdfast, coreRange, exports };
  return { type: 'read', manifest };
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : undefined;
  } catch {
    // No JSON: the caller says so.
    return undefined;
  }
}

/** One line of at most 200 characters, because people get to see it. */
function toText(value: unknown): string | undefined {
  return typeof value === 'string' && /^[^\p{Cc}\p{Cf}\u2028\u2029]{1,200}$/u.test(value) ? value : undefined;
}

/** The file that an import of the package gets; `undefined` where there is none, or it would lie outside of the package. */
export function findEntryFile({ folder, exports }: PackageManifest): string | undefined {
  if (exports === undefined || exports === null) return findMain(folder);
  const target = pickTarget(toRootTarget(exports));
  if (target === undefined || !target.startsWith('./')) return undefined;
  const path = join(folder, target);
  return relative(folder, path).startsWith('..') ? undefined : path;
}

function findMain(folder: string): string | undefined {
  try {
    // As for `main`, with and without its ending, Node has one rule for `require` and `import`.
    return createRequire(join(folder, 'package.json')).resolve(folder);
  } catch {
    // Nothing is there to be imported.
    return undefined;
  }
}

// `require.resolve` would look for what CommonJS is given, and `import.meta.resolve` starts from this file.
const conditions: ReadonlySet<string> = new Set([
  'node',
  'import',
  'module-sync',
  'default',
  // Whoever runs Holdfast from its sources gets its other packages so, too.
  ...(import.meta.url.endsWith('.ts') ? ['holdfast-source'] : []),
]);

function toRootTarget(exports: unknown): unknown {
  if (!isPlainObject(exports)) return exports;
  return Object.keys(exports).some((key) => key.startsWith('.')) ? exports['.'] : exports;
}

/** The first target whose conditions an import meets, as far as anybody nests them. */
function pickTarget(target: unknown, depthLeft = 32): string | undefined {
  if (typeof target === 'string') return target;
  if (depthLeft === 0) return undefined;
  const pick = (inner: unknown): string | undefined => pickTarget(inner, depthLeft - 1);
  if (Array.isArray(target)) return target.map(pick).find((found) => found !== undefined);
  if (!isPlainObject(target)) return undefined;
  const met = Object.entries(target).filter(([condition]) => conditions.has(condition));
  return met.map(([, inner]) => pick(inner)).find((found) => found !== undefined);
}

/** A package that says it is one, in its `package.json`: `"holdfast": "plugin"` or `"holdfast": "pack"`. */
export interface InstalledPlugin {
  /** Of the package, as a configuration names it. */
  readonly name: string;
  /** Empty where it gives none that can be shown. */
  readonly version: string;
  readonly kind: 'plugin' | 'pack';
  /** One line; empty where it gives none that can be shown. */
  readonly description: string;
}

/**
 * The packages that a file in `folder` can import and that declare themselves, by name. Only their `package.json` is read: nothing of
 * them runs. What cannot be read, or says something else, is passed over.
 */
export async function findInstalledPlugins(folder: string): Promise<readonly InstalledPlugin[]> {
  const found = new Map<string, InstalledPlugin | undefined>();
  for (let above = folder; ; above = dirname(above)) {
    const modules = join(above, 'node_modules');
    for (const name of await listPackages(modules)) {
      // Nearer ones hide those further up.
      if (!found.has(name)) found.set(name, await readInstalled(name, join(modules, name)));
    }
    if (dirname(above) === above) break;
  }
  return [...found.values()]
    .filter((one) => one !== undefined)
    .sort((left, right) => (left.name < right.name ? -1 : 1));
}

async function listPackages(modules: string): Promise<readonly string[]> {
  const names: string[] = [];
  for (const name of await listFolder(modules)) {
    if (name.startsWith('@')) names.push(...(await listFolder(join(modules, name))).map((inner) => `${name}/${inner}`));
    else names.push(name);
  }
  return names.filter((name) => readEntryName(name)?.type === 'package');
}

async function listFolder(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path);
  } catch {
    // No folder, or none that can be read: nothing can be imported from it either.
    return [];
  }
}

async function readInstalled(name: string, folder: string): Promise<InstalledPlugin | undefined> {
  const reading = await readManifest(folder);
  if (reading.type !== 'read') return undefined;
  const { holdfast: kind, version = '', description = '' } = reading.manifest;
  return kind === 'plugin' || kind === 'pack' ? { name, version, kind, description } : undefined;
}
