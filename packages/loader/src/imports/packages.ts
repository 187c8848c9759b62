import { statSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isPlainObject } from '@holdfast/core/internal';
import { readBounded } from '../files/read-bounded.ts';
import { findRealPath } from '../files/real-path.ts';

export type FoundPackage =
  /** `version` is empty if the manifest has none. */
  | { readonly type: 'found'; readonly version: string }
  | { readonly type: 'missing' }
  /** Installed below the root, where code that runs from a copy cannot find it. */
  | { readonly type: 'below-root' };

/** Finds packages like Node, from a folder upwards. */
export interface PackageFinder {
  /** `importer` is the folder of the importing file, in the root or the root itself. */
  find(name: string, importer: string): FoundPackage;
}

const maxManifestBytes = 1024 * 1024;
/** The versions that a lock accepts. */
export const versionPattern: RegExp = /^[^\p{Cc}]{0,256}$/u;

/** Looks up each package once. */
export function createPackageFinder(root: string): PackageFinder {
  const versions = new Map<string, string | undefined>();

  /** The version of the package in `folder`'s own `node_modules`. */
  function look(folder: string, name: string): string | undefined {
    const path = join(folder, 'node_modules', name);
    if (!versions.has(path)) versions.set(path, readVersion(path));
    return versions.get(path);
  }

  function findFrom(start: string, name: string, end: string | undefined): string | undefined {
    for (let folder = start; folder !== end; folder = dirname(folder)) {
      const version = look(folder, name);
      if (version !== undefined) return version;
      if (dirname(folder) === folder) return undefined;
    }
    return undefined;
  }

  return {
    find(name, importer) {
      if (findFrom(importer, name, root) !== undefined) return { type: 'below-root' };
      const version = findFrom(root, name, undefined);
      return version === undefined ? { type: 'missing' } : { type: 'found', version };
    },
  };
}

function readVersion(folder: string): string | undefined {
  // If it is missing, Node continues in the parent folder.
  const place = findRealPath(folder);
  if (place === undefined || statSync(place, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
  const version = readManifest(join(folder, 'package.json'))?.['version'];
  // An invalid version counts as none.
  return typeof version === 'string' && versionPattern.test(version) ? version : '';
}

/** `undefined` for an invalid manifest: Node.js does not import such a package either. */
function readManifest(path: string): Readonly<Record<string, unknown>> | undefined {
  const reading = readBounded(path, maxManifestBytes);
  if (reading.type !== 'read') return undefined;
  try {
    const fields: unknown = JSON.parse(new TextDecoder().decode(reading.bytes));
    return isPlainObject(fields) ? fields : undefined;
  } catch {
    // Not JSON.
    return undefined;
  }
}

/** `@scope/name` or `name` of a specifier such as `@scope/name/part`; `undefined` if it does not name a package. */
export function packageOf(specifier: string): string | undefined {
  return /^(?:@[\w.~-]+\/)?(?![._])[\w.~-]+(?=\/|$)/.exec(specifier)?.[0];
}

/**
 * The possible entry files of the package that contains `importer`, and its `package.json`, if `name` is its own name:
 * Node.js prefers it to installed packages. Empty for any other name.
 */
export function listOwnEntries(name: string, importer: string): readonly string[] {
  const manifest = findManifest(name, importer);
  if (manifest === undefined || !importer.startsWith(join(dirname(manifest), sep))) return [];
  const fields = readManifest(manifest);
  if (fields === undefined) return [manifest];
  // Under all conditions.
  const targets = listTexts([fields['exports'], fields['main'] ?? './index.js']).filter(
    (target) => !target.includes('*'),
  );
  return [manifest, ...targets.map((target) => join(dirname(manifest), target))];
}

function findManifest(name: string, importer: string): string | undefined {
  try {
    return findPackageJSON(name, pathToFileURL(importer));
  } catch {
    // The package does not exist.
    return undefined;
  }
}

function listTexts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listTexts) : [];
}
