import { readFile, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { HoldfastError, type JsonObject, type Pack } from '@holdfast/core';
import { describeThrown, isPack, isPlainObject } from '@holdfast/core/internal';
import { findPackage, findPackageEntry } from '@holdfast/registry/node';
import type { PackCases } from '@holdfast/testing';
import { usageError } from '../terminal/failure.ts';
import { hasCode } from '../terminal/system.ts';
import { isFile, isFolder } from '../workspace/folder.ts';
import { importModule, pickExport } from '../workspace/module.ts';

export interface PackPlace {
  /** A folder with a package.json, a file, or the name of an installed package. */
  readonly place: string;
  /** Default: `default`, or the only exported pack. */
  readonly exportName: string | undefined;
  readonly directory: string;
}

export interface OpenedPack {
  readonly pack: Pack;
  /** The file that was executed. */
  readonly file: string;
  /** The package folder, or the folder of a single file. */
  readonly folder: string;
  /** `undefined` without a package.json. */
  readonly manifest: JsonObject | undefined;
}

const endings = ['.ts', '.mts', '.js', '.mjs'];

/**
 * Executes a module and returns the pack that it exports.
 *
 * @throws HoldfastError `usage.invalid` (`pack_missing`, `pack_unclear`); `module.failed` when it throws.
 */
export async function openPack({ place, exportName, directory }: PackPlace): Promise<OpenedPack> {
  const found = await findPack(place, directory);
  const manifest = await readManifest(join(found.folder, 'package.json'));
  const exports = await importModule(found.file, place);
  const choice = { module: place, exportName, kind: 'pack', maker: 'definePack', is: isPack } as const;
  return { pack: pickExport(exports, choice), ...found, manifest };
}

export type FoundPack = Pick<OpenedPack, 'file' | 'folder'>;

/** Finds a pack without executing it. @throws HoldfastError `usage.invalid` (`pack_missing`). */
export async function findPack(place: string, directory: string): Promise<FoundPack> {
  const path = resolve(directory, place);
  return (await isFile(path)) ? toModule(path, place) : await findEntry(place, directory);
}

function toModule(path: string, place: string): FoundPack {
  if (/\.[cm]?[jt]s$/.test(path)) return { file: path, folder: dirname(path) };
  throw usageError(
    'pack_missing',
    `\`${place}\` is not a module: give the folder of a pack, or a file such as src/index.ts.`,
  );
}

/** Looks for sources in a folder, so that nothing has to be built, and for the published entry of an installed package. */
async function findEntry(place: string, directory: string): Promise<FoundPack> {
  const path = resolve(directory, place);
  const found = (await isFolder(path)) ? path : findInstalled(place, directory);
  if (found === undefined) {
    throw usageError(
      'pack_missing',
      `\`${place}\` is not a folder, a file or an installed package: give the folder of a pack.`,
    );
  }
  const folder = await realpath(found);
  // Node.js does not run TypeScript in node_modules.
  const isInstalled = folder.split(sep).includes('node_modules');
  const sources = isInstalled
    ? []
    : ['src', '.'].flatMap((part) => endings.map((ending) => join(folder, part, `index${ending}`)));
  for (const file of sources) if (await isFile(file)) return { file, folder };
  const entry = await findPackageEntry(folder);
  if (entry !== undefined && (await isFile(entry))) return { file: entry, folder };
  const named = entry === undefined ? '' : `, \`${relative(folder, entry)}\``;
  throw usageError(
    'pack_missing',
    `No pack in \`${place}\`: neither \`src/index.ts\` nor the entry in package.json${named} exists.`,
  );
}

function findInstalled(name: string, directory: string): string | undefined {
  // Other text cannot be a package name.
  return /^(?:@[\w.-]+\/)?[\w.-]+$/.test(name) ? findPackage(name, directory) : undefined;
}

async function readManifest(path: string): Promise<JsonObject | undefined> {
  try {
    const json: unknown = JSON.parse(await readFile(path, 'utf8'));
    // Parsed from JSON.
    return isPlainObject(json) ? (json as JsonObject) : {};
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return undefined;
    throw new HoldfastError('module.failed', `Cannot read \`${path}\`: ${describeThrown(thrown)}`, {
      cause: thrown,
    });
  }
}

export interface OpenedCases {
  readonly cases: PackCases;
  readonly file: string;
}

/**
 * Loads the cases of a pack: the named file, or `cases.ts`, `.mts`, `.js` or `.mjs` in its folder or in `src` or `test` there.
 *
 * @throws HoldfastError `usage.invalid` (`cases_missing`); `module.failed` when it throws.
 */
export async function openCases(folder: string, named: string | undefined, directory: string): Promise<OpenedCases> {
  const file = named === undefined ? await findCases(folder) : resolve(directory, named);
  if (file === undefined || !(await isFile(file))) {
    throw usageError(
      'cases_missing',
      named === undefined
        ? `No cases in \`${relative(directory, folder) || '.'}\`: export \`cases\` from cases.ts, src/cases.ts or test/cases.ts, or pass a file with \`--cases\`.`
        : `File \`${named}\` does not exist.`,
    );
  }
  const shown = relative(directory, file);
  const { cases } = await importModule(file, shown);
  if (isPlainObject(cases)) return { cases: cases as unknown as PackCases, file };
  throw usageError('cases_missing', `\`${shown}\` does not export \`cases\`.`);
}

/** Finds the default cases file for `openCases`. */
export async function findCases(folder: string): Promise<string | undefined> {
  for (const part of ['.', 'src', 'test']) {
    for (const ending of endings) {
      const file = join(folder, part, `cases${ending}`);
      if (await isFile(file)) return file;
    }
  }
  return undefined;
}
