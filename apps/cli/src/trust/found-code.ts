import { lstat, readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type CodeFiles, readCodeFiles } from '@holdfast/loader/internal';
import { findConfig } from '@holdfast/registry/node';
import { packagesOfModel } from '../models/local.ts';
import { isFile, isFolder } from '../workspace/folder.ts';
import { languages } from '../workspace/languages.ts';
import { defaultFolder, findLock } from '../workspace/toolset.ts';
import type { TrustedFolder } from './store.ts';

/** Code of a folder that was not named on the command line. */
export interface FoundCode {
  /** Names for people: `holdfast.config.ts`, `./plugins`. */
  readonly names: readonly string[];
  /** The import specifiers, as seen from the folder. */
  readonly specifiers: readonly string[];
  /** Absolute path of the folder of its tool files. */
  readonly tools: string | undefined;
}

/** A file or package that has changed since the folder was trusted. */
export interface CodeChange {
  readonly state: 'new' | 'changed' | 'gone';
  /** A path relative to the folder, or a package with its version. */
  readonly name: string;
}

export interface CodeState {
  readonly changes: readonly CodeChange[];
  /** The code that a yes covers. */
  readonly code: CodeFiles;
}

/** The configuration of a folder with the files, packages, models and tools folder in its text: all are asked about at once. */
export async function findConfigCode(directory: string, named?: string): Promise<FoundCode | undefined> {
  const path = await findConfig(directory, named);
  if (path === undefined || !(await isFile(path))) return undefined;
  const source = await readFile(path, 'utf8');
  const folder = dirname(path);
  const specifiers = listLiterals(source).flatMap((literal) =>
    [toSpecifier(literal, folder) ?? [], packagesOfModel(literal)].flat(),
  );
  const [, , tools] = /\btools['"]?\s*:\s*(['"`])([^'"`\n]+)\1/.exec(source) ?? [];
  const toolsPath = tools === undefined ? undefined : resolve(folder, tools);
  return {
    names: [relative(directory, path)],
    // tsx, if installed, loads what Node.js cannot.
    specifiers: [pathToFileURL(path).href, ...specifiers, 'tsx'],
    tools: toolsPath !== undefined && (await isFolder(toolsPath)) ? toolsPath : undefined,
  };
}

/** The specifier for `readCodeFiles` of a name in a configuration in `folder`; `undefined` if it is neither a path nor a package. */
export function toSpecifier(name: string, folder: string): string | undefined {
  if (/^\.{1,2}\//.test(name)) return pathToFileURL(resolve(folder, name)).href;
  return /^(?:@[\w.~-]+\/)?\w[\w.~-]*$/.test(name) ? name : undefined;
}

/** The default tools folder. */
export async function findDefaultTools(directory: string): Promise<string | undefined> {
  const path = resolve(directory, defaultFolder);
  return (await isFolder(path)) ? path : undefined;
}

/** String literals without the export name after `#`. */
function listLiterals(source: string): readonly string[] {
  // Quotes may overlap: an apostrophe in a comment must not hide the text after it.
  const found = [...source.matchAll(/(['"`])(?=([^'"`\n]{1,500})\1)/g)].map(([, , text = '']) =>
    text.replace(/#.*$/, ''),
  );
  return [...new Set(found)];
}

/**
 * Compares code of a folder with what is trusted there. Tool files with a trusted lock are not read: the loader runs none that differ
 * from it.
 */
export async function compareCode(
  { specifiers, tools }: FoundCode,
  directory: string,
  trusted: TrustedFolder,
): Promise<CodeState> {
  const lock = tools === undefined ? undefined : await findLock(tools);
  const locked = await listCode(lock === undefined ? [] : [pathToFileURL(lock).href], directory);
  const isLocked = locked.files.size > 0 && findChanges(locked, trusted).length === 0;
  const read = await listCode([...specifiers, ...(tools === undefined || isLocked ? [] : [tools])], directory);
  const changes = findChanges(read, trusted);
  const gone = changes.length === 0 ? [] : await findGone(directory, trusted);
  return {
    changes: [...changes, ...gone].sort((left, right) => (left.name < right.name ? -1 : 1)),
    code: { files: new Map([...read.files, ...locked.files]), packages: read.packages },
  };
}

async function listCode(specifiers: readonly string[], directory: string): Promise<CodeFiles> {
  if (specifiers.length === 0) return { files: new Map(), packages: new Map() };
  const root = await realpath(directory);
  const { files, packages } = await readCodeFiles(specifiers, root, { languages });
  return {
    files: new Map([...files].map(([path, digest]) => [relative(root, path).split(sep).join('/'), digest])),
    packages,
  };
}

function findChanges({ files, packages }: CodeFiles, trusted: TrustedFolder): readonly CodeChange[] {
  const compare = (
    now: ReadonlyMap<string, string>,
    before: ReadonlyMap<string, string>,
    toName: (name: string, value: string) => string,
  ): readonly CodeChange[] =>
    [...now].flatMap(([name, value]): readonly CodeChange[] => {
      const known = before.get(name);
      // A file without a digest is unreadable and cannot be compared.
      if (known === value && value !== '') return [];
      return [{ state: known === undefined ? 'new' : 'changed', name: toName(name, value) }];
    });
  return [
    ...compare(files, trusted.files, (name) => name),
    ...compare(packages, trusted.packages, (name, version) => `package ${name} ${version}`.trimEnd()),
  ];
}

async function findGone(directory: string, { files }: TrustedFolder): Promise<readonly CodeChange[]> {
  const gone = await Promise.all(
    [...files.keys()].map(async (name): Promise<readonly CodeChange[]> => {
      try {
        await lstat(join(directory, name));
        return [];
      } catch {
        // Missing or unreachable: either way it is not what was trusted.
        return [{ state: 'gone', name }];
      }
    }),
  );
  return gone.flat();
}

/** `./plugins` for the default folder, otherwise its path from the directory. */
export function nameFolder(path: string, directory: string): string {
  const inside = relative(directory, path).split(sep).join('/');
  return inside.startsWith('../') || resolve(inside) === inside
    ? inside
    : `./${inside === '' ? basename(path) : inside}`;
}
