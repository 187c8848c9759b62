import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { HoldfastError, Tool } from '@holdfast/core';
import { fileTools } from '@holdfast/filesystem';
import { type Diagnostic, type GrantEnvironment, type Isolation, type LoadedTools, loadTools } from '@holdfast/loader';
import type { ScannedFile } from '@holdfast/loader/internal';
import type { MetadataForm } from '@holdfast/loader/language';
import { foldName } from '@holdfast/registry/internal';
import { usageError } from '../terminal/failure.ts';
import { hasCode } from '../terminal/system.ts';
import { quoteWord } from '../terminal/words.ts';
import { isFile, isFolder, lockName } from './folder.ts';
import { languages } from './languages.ts';

/** A folder of tool files: its name as given, and its path. */
export interface ToolsFolder {
  readonly name: string;
  /** `undefined`: none was named and the default one does not exist. */
  readonly path: string | undefined;
}

/** The available tools, and diagnostics of the others. */
export interface FolderTools {
  readonly folderTools: readonly Tool[];
  readonly fileTools: readonly Tool[];
  readonly diagnostics: readonly Diagnostic[];
  readonly folder: ToolsFolder;
  /** True if a lock says which tools may run. */
  readonly isLocked: boolean;
  /** A warning if a lock existed when tools of the folder were last loaded. */
  readonly lockGone?: string | undefined;
  /** Every tool file of the folder, including invalid ones. */
  readonly files: readonly ScannedFile[];
  /** Ends the tool processes. */
  close(): Promise<void>;
}

/** The extensions of tool files. */
export const toolFileEndings = '.js, .mjs, .ts, .mts, .py or .tool.json';
export const defaultFolder: string = './plugins';

/**
 * Finds the named folder, which must exist, or the default one, which may be missing; null: none.
 *
 * @throws HoldfastError `usage.invalid` (`folder_missing`).
 */
export async function findToolsFolder(name: string | null | undefined, directory: string): Promise<ToolsFolder> {
  if (name === null) return { name: defaultFolder, path: undefined };
  const path = resolve(directory, name ?? defaultFolder);
  // An empty name, for example from an unset variable, would be the current folder.
  if (name !== '' && (await isFolder(path))) return { name: name ?? defaultFolder, path };
  if (name === undefined) return { name: defaultFolder, path: undefined };
  const what = (await isFile(path))
    ? `\`${name}\` is a file, expected a folder of tool files. Use \`holdfast try\` for a single file.`
    : `The tools folder \`${name}\` does not exist or cannot be opened.`;
  throw usageError('folder_missing', what);
}

/**
 * Like `findToolsFolder`, but a missing folder is an error.
 *
 * @throws HoldfastError `usage.invalid` (`folder_missing`).
 */
export async function requireToolsFolder(
  name: string | undefined,
  directory: string,
): Promise<ToolsFolder & { readonly path: string }> {
  const folder = await findToolsFolder(name, directory);
  const { path } = folder;
  if (path !== undefined) return { ...folder, path };
  throw usageError('folder_missing', `Tools folder \`${folder.name}\` does not exist: give another one.`);
}

/** Ignores a lock, follows it if it exists, or requires it. */
export type LockUse = 'ignore' | 'use' | 'require';

export interface FolderToolsOptions {
  /** Treats warnings as errors. Default false. */
  readonly strict?: boolean;
  /** Reads subfolders, too. Default false. */
  readonly subfolders?: boolean;
  /** How to use the lock beside the folder. Default `use`. */
  readonly lock?: LockUse;
  /** The minimum isolation of tool files. Default: the loader's. */
  readonly isolation?: Isolation;
  /** Receives the output of tool processes. Default: discarded. */
  readonly print?: (text: string) => void;
  /** Access of tools to the environment. Default: none. */
  readonly environment?: GrantEnvironment | undefined;
}

/**
 * Opens the file tools and the tools of a folder, within its lock if there is one. A tool with the name of a file tool is left
 * out.
 *
 * @throws HoldfastError `usage.invalid` (`lock_missing`), `lock.*`.
 */
export async function openFolderTools(
  folder: ToolsFolder,
  { strict = false, subfolders = false, lock: use = 'use', isolation, print, environment }: FolderToolsOptions = {},
): Promise<FolderTools> {
  const builtIn = fileTools();
  if (folder.path === undefined) {
    if (use === 'require') throw lockMissing(folder, subfolders);
    return {
      folderTools: [],
      fileTools: builtIn,
      diagnostics: [],
      folder,
      isLocked: false,
      files: [],
      close: async () => undefined,
    };
  }
  const lock = use === 'ignore' ? undefined : await findLock(folder.path);
  if (lock === undefined && use === 'require') throw lockMissing(folder, subfolders);
  const { tools, diagnostics, files, close } = await loadTools(folder.path, {
    languages,
    strict,
    subfolders,
    ...(lock === undefined ? {} : { lock }),
    ...(isolation === undefined ? {} : { isolation }),
    ...(print === undefined ? {} : { processes: { print } }),
    ...(environment === undefined ? {} : { environment }),
  });
  const left = leaveOutClashes({ tools, files, diagnostics });
  return {
    folderTools: left.tools,
    fileTools: builtIn,
    diagnostics: left.diagnostics.map((diagnostic) => nameFolder(diagnostic, folder, subfolders)),
    folder,
    isLocked: lock !== undefined,
    lockGone: use === 'use' && lock === undefined ? await describeGoneLock(folder.path) : undefined,
    files,
    close,
  };
}

/**
 * The tools of a folder without those whose names could be confused with a file tool or another tool of the folder; diagnostics
 * report them.
 */
export function leaveOutClashes({ tools, files, diagnostics }: Omit<LoadedTools, 'close'>): {
  readonly tools: readonly Tool[];
  readonly diagnostics: readonly Diagnostic[];
} {
  const taken = new Map(fileTools().map((tool) => [foldName(tool.name), tool]));
  const kept: Tool[] = [];
  const told: Diagnostic[] = [];
  for (const tool of tools) {
    const key = foldName(tool.name);
    const other = taken.get(key);
    if (other === undefined) {
      taken.set(key, tool);
      kept.push(tool);
    } else {
      const file = files.find((one) => one.file === tool.origin?.source);
      told.push(describeClash(tool, { other, file }));
    }
  }
  return { tools: kept, diagnostics: [...diagnostics, ...told] };
}

/** The path of the lock of a tools folder, if anything exists there. */
export async function findLock(folder: string): Promise<string | undefined> {
  const path = join(dirname(await realpath(folder)), lockName);
  try {
    await lstat(path);
    return path;
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return undefined;
    // It may exist: the loader reports why it cannot be read.
    return path;
  }
}

/** A warning if the lock of a folder is missing although its registry, which requires a lock, still exists. */
export async function describeGoneLock(folder: string): Promise<string | undefined> {
  const registry = join(dirname(await realpath(folder)), '.holdfast', 'registry.json');
  if (!(await isFile(registry))) return undefined;
  return `\`${lockName}\` is missing: it existed when tools of this folder were last loaded, and without it they run unchecked. Restore it, or create a new one with \`holdfast lock\`; to go without a lock, delete .holdfast/registry.json beside the folder.`;
}

/** The options of `holdfast lock` for this folder. */
export function toLockOptions({ name }: ToolsFolder, subfolders: boolean): string {
  return `${name === defaultFolder ? '' : ` --tools ${quoteWord(name)}`}${subfolders ? ' --subfolders' : ''}`;
}

/** Adds the options for this folder to commands in a hint about the lock. */
function nameFolder(diagnostic: Diagnostic, folder: ToolsFolder, subfolders: boolean): Diagnostic {
  if (diagnostic.code !== 'lock.changed') return diagnostic;
  const command = `holdfast lock${toLockOptions(folder, subfolders)}`;
  return { ...diagnostic, hint: diagnostic.hint.replaceAll('holdfast lock', () => command) };
}

function lockMissing(folder: ToolsFolder, subfolders: boolean): HoldfastError {
  const { name, path } = folder;
  const options = toLockOptions(folder, subfolders);
  return usageError(
    'lock_missing',
    path === undefined
      ? `A lock is required, but the tools folder \`${name}\` does not exist. Use \`--tools DIR\` for another one.`
      : `A lock is required, but there is no \`${lockName}\` beside the tools folder \`${name}\`. Review its tools, then lock them with \`holdfast lock${options}\`.`,
  );
}

/** Where each kind of file declares the name of its tool. */
const namePlaces: Readonly<Record<MetadataForm, string>> = {
  metadata: 'in its METADATA',
  definition: 'in what it passes to `defineTool`',
  command: 'in the file',
  python: 'in its METADATA',
};

function describeClash(
  tool: Tool,
  { other, file }: { readonly other: Tool; readonly file: ScannedFile | undefined },
): Diagnostic {
  const place = namePlaces[file?.type === 'tool' ? file.metadata.form : 'metadata'];
  const taken =
    other.origin === undefined
      ? tool.name === other.name
        ? 'is the name of a built-in file tool'
        : `is too similar to the built-in file tool \`${other.name}\``
      : `is too similar to \`${other.name}\` in ${other.origin.source}`;
  return {
    severity: 'error',
    code: 'tool.invalid',
    reason: 'name.taken',
    file: tool.origin?.source ?? tool.name,
    line: 1,
    column: 1,
    message: `\`${tool.name}\` ${taken}; this tool is left out.`,
    hint: `Give the tool another \`name\` ${place}.`,
  };
}
