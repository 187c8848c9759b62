import { pathToFileURL } from 'node:url';
import { findPackage, findPackageEntry, readPackageVersion } from '@holdfast/registry/node';

/** The URL of the entry of package `name` as resolved from `directory`; `undefined` if it is not installed there. */
export async function findEntry(name: string, directory: string): Promise<string | undefined> {
  const path = await findPackageEntry(findPackage(name, directory));
  return path === undefined ? undefined : pathToFileURL(path).href;
}

/** `null` if the package is not installed or has no version; reinstalling fixes both. */
export async function findVersion(name: string, directory: string): Promise<string | null> {
  return (await readPackageVersion(findPackage(name, directory))) ?? null;
}
