import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { HoldfastError, Tool } from '@holdfast/core';
import { fileTools } from '@holdfast/filesystem';
import {
  type Diagnostic,
  type GrantEnvironment,
  type Isolation,
  type LoadedTools,
  loadTools,
  type MetadataForm,
  type ScannedFile,
} from '@holdfast/loader';
import { foldName } from '@holdfast/registry';
import { usageError } from '../terminal/failure.ts';
import { hasCode } from '../terminal/system.ts';
import { quoteWord } from '../terminal/words.ts';
import { isFile, isFolder } from './folder.ts';
import { languages } from './languages.ts';

/** A folder of tool files, as it was named and where it is. */
export interface ToolsFolder {
  readonly name: string;
  /** `undefined`: none was named, and there is no default one. */
  readonly path: string | undefined;
}

/** What a model is offered, and what was left out. */
export interface FolderTools {
  readonly folderTools: readonly Tool[];
  readonly fileTools: readonly Tool[];
  readonly diagnostics: readonly Diagnostic[];
  readonly folder: ToolsFolder;
  /** Whether a lock says which tools may run. */
  readonly isLocked: boolean;
  /** What to say of a lock that was there when tools of the folder were last loaded; absent: nothing. */
  readonly lockGone?: string | undefined;
  /** Every tool file of the folder, also the refused ones. */
  readonly files: readonly ScannedFile[];
  /** Ends the processes in which tools of the folder run. */
  close(): Promise<void>;
}

/** A lock lies beside the tools folder. */
export const lockName = 'holdfast.lock';
/** Of files that the loader looks at. */
export const toolFileEndings = '.js, .mjs, .ts, .mts, .py or .tool.json';
export const defaultFolder: string = './plugins';

/**
 * The folder that was named, which must exist, or the default one, which need not; null: none.
 *
 * @throws HoldfastError `usage.folder_missing`.
 */
export async function findToolsFolder(name: string | null | undefined, directory: string): Promise<ToolsFolder> {
  if (name === null) return { name: defaultFolder, path: undefined };
  const path = resolve(directory, name ?? defaultFolder);
  // An empty name, as of a variable that is not set, would be the current folder.
  if (name !== '' && (await isFolder(path))) return { name: name ?? defaultFolder, path };
  if (name === undefined) return { name: defaultFolder, path: undefined };
  const what = (await isFile(path))
    ? `\`${name}\` is a file, and a folder of tool files is wanted: \`holdfast try\` takes one file.`
    : `The tools folder \`${name}\` is no folder that can be opened.`;
  throw usageError('usage.folder_missing', what);
}

/**
 * As `findToolsFolder`, where there is nothing to do without one.
 *
 * @throws HoldfastError `usage.folder_missing`.
 */
export async function requireToolsFolder(
  name: string | undefined,
  directory: string,
): Promise<ToolsFolder & { readonly path: string }> {
  const folder = await findToolsFolder(name, directory);
  const { path } = folder;
  if (path !== undefined) return { ...folder, path };
  throw usageError('usage.folder_missing', `There is no tools folder \`${folder.name}\`: name another one.`);
}

/** Whether a lock counts for nothing, is kept to where there is one, or has to be there. */
export type LockUse = 'ignore' | 'use' | 'require';

export interface FolderToolsOptions {
  /** Makes errors of warnings. Default false. */
  readonly strict?: boolean;
  /** Reads the folders in the folder, too. Default false. */
  readonly subfolders?: boolean;
  /** What a lock beside the folder is for. Default `use`. */
  readonly lock?: LockUse;
  /** The weakest isolation that tools of the folder run in. Default: what the loader takes. */
  readonly isolation?: Isolation;
  /** Where what a tool prints in a process of its own goes. Default: nowhere. */
  readonly print?: (text: string) => void;
  /** What tools see of the environment. Default: nothing. */
  readonly environment?: GrantEnvironment | undefined;
}

/**
 * The file tools, and beside them what a folder brings along, as far as its lock allows, where it has one. A tool with the name of
 * a file tool is left out.
 *
 * @throws HoldfastError `usage.lock_missing`, `tools.lock.*`.
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
 * The tools of a folder, but for those whose names a model could mix up with that of a file tool, or of another tool of the folder,
 * which the diagnostics tell of.
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

/** The lock of a tools folder, whatever it is that lies there. */
export async function findLock(folder: string): Promise<string | undefined> {
  const path = join(dirname(await realpath(folder)), lockName);
  try {
    await lstat(path);
    return path;
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return undefined;
    // It may be there: the loader says why it cannot be read.
    return path;
  }
}

/** What to say of a folder without a lock whose registry, which is only made with one, is still there; `undefined`: nothing. */
export async function describeGoneLock(folder: string): Promise<string | undefined> {
  const registry = join(dirname(await realpath(folder)), '.holdfast', 'registry.json');
  if (!(await isFile(registry))) return undefined;
  return `\`${lockName}\` is gone: there was one when tools of this folder were last loaded. Without it they run as they are now. Put it back, or make a new one with \`holdfast lock\`; to do without, remove .holdfast/registry.json beside the folder.`;
}

/** What `holdfast lock` has to be told to be about the folder. */
export function toLockOptions({ name }: ToolsFolder, subfolders: boolean): string {
  return `${name === defaultFolder ? '' : ` --tools ${quoteWord(name)}`}${subfolders ? ' --subfolders' : ''}`;
}

/** The commands in a hint about the lock, for this folder. */
function nameFolder(diagnostic: Diagnostic, folder: ToolsFolder, subfolders: boolean): Diagnostic {
  if (!diagnostic.code.startsWith('tool.lock.')) return diagnostic;
  const command = `holdfast lock${toLockOptions(folder, subfolders)}`;
  return { ...diagnostic, hint: diagnostic.hint.replaceAll('holdfast lock', () => command) };
}

function lockMissing(folder: ToolsFolder, subfolders: boolean): HoldfastError {
  const { name, path } = folder;
  const options = toLockOptions(folder, subfolders);
  return usageError(
    'usage.lock_missing',
    path === undefined
      ? `The run is to have locked tools only, and there is no tools folder \`${name}\`; \`--tools DIR\` names another.`
      : `The run is to have locked tools only, and there is no \`${lockName}\` beside the tools folder \`${name}\`: look at its tools, and lock them with \`holdfast lock${options}\`.`,
  );
}

/** Where each kind of file has the name of its tool. */
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
      ? `is the name of a built-in file tool${tool.name === other.name ? '' : `, \`${other.name}\``}`
      : `is easily taken for \`${other.name}\` in ${other.origin.source}`;
  return {
    severity: 'error',
    code: 'tool.name.taken',
    file: tool.origin?.source ?? tool.name,
    line: 1,
    column: 1,
    message: `\`${tool.name}\` ${taken}; this tool is left out.`,
    hint: `Give the tool another \`name\` ${place}.`,
  };
}
