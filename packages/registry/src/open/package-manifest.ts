import { readdir } from 'node:fs/promises';
import { createRequire, findPackageJSON } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isPlainObject } from '@holdfast/core/internal';
import { readEntryName } from '../resolve/names.ts';
import { decodeText, readSmallFile } from './small-file.ts';

/** The fields of an installed package's `package.json` that the registry uses. */
export interface PackageManifest {
  /** The folder of the package as found; may be a link. */
  readonly folder: string;
  /** `undefined` if missing. */
  readonly version: string | undefined;
  readonly description: string | undefined;
  /** The raw value of its `holdfast` field. */
  readonly holdfast: unknown;
  /** The supported Holdfast versions. */
  readonly coreRange: string | undefined;
  /** The raw entry fields. */
  readonly exports: unknown;
}

/** The folder of a package as resolved from a file in `directory`; `undefined` if not installed there. */
export function findPackage(name: string, directory: string): string | undefined {
  try {
    // The base is a file in the folder; it need not exist.
    const path = findPackageJSON(name, pathToFileURL(join(directory, 'program.js')));
    return path === undefined ? undefined : dirname(path);
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw thrown;
  }
}

/** The entry file of the package in `folder`; `undefined` if the package, a readable `package.json` or a valid entry is missing. */
export async function findPackageEntry(folder: string | undefined): Promise<string | undefined> {
  const reading = folder === undefined ? undefined : await readManifest(folder);
  return reading?.type === 'read' ? findEntryFile(reading.manifest) : undefined;
}

/** The version in the `package.json` of `folder`. */
export async function readPackageVersion(folder: string | undefined): Promise<string | undefined> {
  const reading = folder === undefined ? undefined : await readManifest(folder);
  return reading?.type === 'read' ? reading.manifest.version : undefined;
}

export type ReadManifest =
  | { readonly type: 'read'; readonly manifest: PackageManifest }
  | { readonly type: 'missing' }
  | { readonly type: 'refused'; readonly why: string };

/** Reads the `package.json` of `folder` without running code. */
export async function readManifest(folder: string): Promise<ReadManifest> {
  const reading = await readSmallFile(join(folder, 'package.json'));
  if (reading.type !== 'read') return reading;
  const text = decodeText(reading.bytes);
  const fields = text === undefined ? undefined : parseObject(text.replace(/^\u{feff}/u, ''));
  if (fields === undefined) return { type: 'refused', why: 'it is not a JSON object' };
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
    // Not JSON: the caller reports it.
    return undefined;
  }
}

/** Text for display: one line of at most 200 characters. */
function toText(value: unknown): string | undefined {
  return typeof value === 'string' && /^[^\p{Cc}\p{Cf}\u2028\u2029]{1,200}$/u.test(value) ? value : undefined;
}

/** The file that an import of the package loads; `undefined` if missing or outside the package. */
export function findEntryFile({ folder, exports }: PackageManifest): string | undefined {
  if (exports === undefined || exports === null) return findMain(folder);
  const target = pickTarget(toRootTarget(exports));
  if (target === undefined || !target.startsWith('./')) return undefined;
  const path = join(folder, target);
  return relative(folder, path).startsWith('..') ? undefined : path;
}

function findMain(folder: string): string | undefined {
  try {
    // For `main`, with or without extension, Node.js resolves `require` and `import` alike.
    return createRequire(join(folder, 'package.json')).resolve(folder);
  } catch {
    // No file to import.
    return undefined;
  }
}

// `require.resolve` would use the CommonJS conditions, and `import.meta.resolve` is relative to this file.
const conditions: ReadonlySet<string> = new Set([
  'node',
  'import',
  'module-sync',
  'default',
  // Holdfast running from its sources resolves its other packages to sources too.
  ...(import.meta.url.endsWith('.ts') ? ['holdfast-source'] : []),
]);

function toRootTarget(exports: unknown): unknown {
  if (!isPlainObject(exports)) return exports;
  return Object.keys(exports).some((key) => key.startsWith('.')) ? exports['.'] : exports;
}

/** The first target whose conditions match an import, to a bounded depth. */
function pickTarget(target: unknown, depthLeft = 32): string | undefined {
  if (typeof target === 'string') return target;
  if (depthLeft === 0) return undefined;
  const pick = (inner: unknown): string | undefined => pickTarget(inner, depthLeft - 1);
  if (Array.isArray(target)) return target.map(pick).find((found) => found !== undefined);
  if (!isPlainObject(target)) return undefined;
  const met = Object.entries(target).filter(([condition]) => conditions.has(condition));
  return met.map(([, inner]) => pick(inner)).find((found) => found !== undefined);
}

/** An installed package that declares `"holdfast": "plugin"` or `"holdfast": "pack"` in its `package.json`. */
export interface InstalledPlugin {
  /** Package name, as used in a configuration. */
  readonly name: string;
  /** Empty if missing or not displayable. */
  readonly version: string;
  readonly kind: 'plugin' | 'pack';
  /** One line; empty if missing or not displayable. */
  readonly description: string;
}

/**
 * Finds the packages that a file in `folder` can import and that declare a plugin or pack, sorted by name. Reads only
 * `package.json` files; skips unreadable and other packages.
 */
export async function findInstalledPlugins(folder: string): Promise<readonly InstalledPlugin[]> {
  const found = new Map<string, InstalledPlugin | undefined>();
  for (let above = folder; ; above = dirname(above)) {
    const modules = join(above, 'node_modules');
    for (const name of await listPackages(modules)) {
      // Nearer packages shadow those further up.
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
    // A missing or unreadable folder: nothing can be imported from it either.
    return [];
  }
}

async function readInstalled(name: string, folder: string): Promise<InstalledPlugin | undefined> {
  const reading = await readManifest(folder);
  if (reading.type !== 'read') return undefined;
  const { holdfast: kind, version = '', description = '' } = reading.manifest;
  return kind === 'plugin' || kind === 'pack' ? { name, version, kind, description } : undefined;
}
