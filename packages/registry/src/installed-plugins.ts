import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readEntryName } from './entry-name.ts';
import { readManifest } from './package-manifest.ts';

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
