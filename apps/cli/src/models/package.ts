import { pathToFileURL } from 'node:url';
import { findPackage, findPackageEntry, readPackageVersion } from '@holdfast/registry/node';

/** Where the package `name` begins for an import from `directory`; `undefined` when nobody installed it there. */
export async function findEntry(name: string, directory: string): Promise<string | undefined> {
  const path = await findPackageEntry(findPackage(name, directory));
  return path === undefined ? undefined : pathToFileURL(path).href;
}

/** `null` where the package is not installed, or says no version: what mends that is to install it again. */
export async function findVersion(name: string, directory: string): Promise<string | null> {
  return (await readPackageVersion(findPackage(name, directory))) ?? null;
}
