import { readFile, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describeThrown, HoldfastError, isPack, isPlainObject, type JsonObject, type Pack } from '@holdfast/core';
import { findPackage, findPackageEntry } from '@holdfast/registry/node';
import type { PackCases } from '@holdfast/testing';
import { usageError } from '../terminal/failure.ts';
import { hasCode } from '../terminal/system.ts';
import { isFile, isFolder } from '../workspace/folder.ts';
import { importModule, pickExport } from '../workspace/module.ts';

export interface PackPlace {
  /** A folder with a package.json, a file, or the name of an installed package. */
  readonly place: string;
  /** Absent: `default`, else the only pack that is exported. */
  readonly exportName: string | undefined;
  readonly directory: string;
}

export interface OpenedPack {
  readonly pack: Pack;
  /** That was run. */
  readonly file: string;
  /** Where its package is; of a file alone, where that is. */
  readonly folder: string;
  /** `undefined` where there is no package.json. */
  readonly manifest: JsonObject | undefined;
}

const endings = ['.ts', '.mts', '.js', '.mjs'];

/**
 * Runs a module and takes the pack that it exports.
 *
 * @throws HoldfastError `usage.pack_missing`, `usage.pack_unclear`; `module.failed` when it throws.
 */
export async function openPack({ place, exportName, directory }: PackPlace): Promise<OpenedPack> {
  const found = await findPack(place, directory);
  const manifest = await readManifest(join(found.folder, 'package.json'));
  const exports = await importModule(found.file, place);
  const choice = { module: place, exportName, kind: 'pack', maker: 'definePack', is: isPack } as const;
  return { pack: pickExport(exports, choice), ...found, manifest };
}

export type FoundPack = Pick<OpenedPack, 'file' | 'folder'>;

/** Where a pack is. Nothing runs. @throws HoldfastError `usage.pack_missing`. */
export async function findPack(place: string, directory: string): Promise<FoundPack> {
  const path = resolve(directory, place);
  return (await isFile(path)) ? toModule(path, place) : await findEntry(place, directory);
}

function toModule(path: string, place: string): FoundPack {
  if (/\.[cm]?[jt]s$/.test(path)) return { file: path, folder: dirname(path) };
  throw usageError(
    'usage.pack_missing',
    `\`${place}\` is no module: name the folder of a pack, or a file such as src/index.ts.`,
  );
}

/** A folder is tried from its sources, so that nothing has to be built; an installed package as it was published. */
async function findEntry(place: string, directory: string): Promise<FoundPack> {
  const path = resolve(directory, place);
  const found = (await isFolder(path)) ? path : findInstalled(place, directory);
  if (found === undefined) {
    throw usageError(
      'usage.pack_missing',
      `\`${place}\` is neither a folder nor a file here, nor an installed package: name the folder of a pack.`,
    );
  }
  const folder = await realpath(found);
  // Node.js runs no TypeScript there.
  const isInstalled = folder.split(sep).includes('node_modules');
  const sources = isInstalled
    ? []
    : ['src', '.'].flatMap((part) => endings.map((ending) => join(folder, part, `index${ending}`)));
  for (const file of sources) if (await isFile(file)) return { file, folder };
  const entry = await findPackageEntry(folder);
  if (entry !== undefined && (await isFile(entry))) return { file: entry, folder };
  const named = entry === undefined ? '' : `, \`${relative(folder, entry)}\``;
  throw usageError(
    'usage.pack_missing',
    `There is no pack in \`${place}\`: neither \`src/index.ts\` nor what a package.json says is the entry${named}.`,
  );
}

function findInstalled(name: string, directory: string): string | undefined {
  // What cannot be the name of a package is none that was installed.
  return /^(?:@[\w.-]+\/)?[\w.-]+$/.test(name) ? findPackage(name, directory) : undefined;
}

async function readManifest(path: string): Promise<JsonObject | undefined> {
  try {
    const json: unknown = JSON.parse(await readFile(path, 'utf8'));
    // Parsed from JSON.
    return isPlainObject(json) ? (json as JsonObject) : {};
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return undefined;
    throw new HoldfastError('module.failed', `\`${path}\` cannot be read: ${describeThrown(thrown)}`, {
      cause: thrown,
    });
  }
}

export interface OpenedCases {
  readonly cases: PackCases;
  readonly file: string;
}

/**
 * The cases of a pack: `cases.ts`, `.mts`, `.js` or `.mjs` in its folder, in `src` or in `test` there, or the file that is named.
 *
 * @throws HoldfastError `usage.cases_missing`; `module.failed` when it throws.
 */
export async function openCases(folder: string, named: string | undefined, directory: string): Promise<OpenedCases> {
  const file = named === undefined ? await findCases(folder) : resolve(directory, named);
  if (file === undefined || !(await isFile(file))) {
    throw usageError(
      'usage.cases_missing',
      named === undefined
        ? `There are no cases in \`${relative(directory, folder) || '.'}\`: export \`cases\` from cases.ts, src/cases.ts or test/cases.ts, or name a file with --cases.`
        : `\`${named}\` is no file.`,
    );
  }
  const shown = relative(directory, file);
  const { cases } = await importModule(file, shown);
  if (isPlainObject(cases)) return { cases: cases as unknown as PackCases, file };
  throw usageError('usage.cases_missing', `\`${shown}\` exports no \`cases\`.`);
}

/** Where `openCases` looks when no file is named. */
export async function findCases(folder: string): Promise<string | undefined> {
  for (const part of ['.', 'src', 'test']) {
    for (const ending of endings) {
      const file = join(folder, part, `cases${ending}`);
      if (await isFile(file)) return file;
    }
  }
  return undefined;
}
