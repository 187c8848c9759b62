import { hash } from 'node:crypto';
import { closeSync, constants, type Dirent, fstatSync, lstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { isToolFileName } from '../language/find.ts';
import type { Language, ToolSource } from '../language/types.ts';
import type { Finding } from '../text/diagnostic.ts';
import type { ReadMetadataOptions } from './metadata.ts';

export interface ScanFolderOptions extends ReadMetadataOptions {
  /** Reads the folders in the folder, too, however deep; not those whose names begin with `.` or `_`. Default false. */
  readonly subfolders?: boolean;
  /** Languages beside JavaScript and TypeScript, such as `python()` of `@holdfast/loader-python`. Default none. */
  readonly languages?: readonly Language[] | undefined;
}

/** Files above this size are refused, in bytes. */
const maxFileBytes = 1024 * 1024;

export type ToolFileReading =
  | ({ readonly type: 'read' } & ToolSource)
  | { readonly type: 'refused'; readonly file: string; readonly finding: Finding };

/** What a folder holds that counts as tool files. */
export interface ToolFileList {
  /** Absolute, without symlinks. */
  readonly root: string;
  /** Relative to `root`, parted by `/`, in code unit order. */
  readonly files: readonly string[];
  /** The folders that were looked into, relative to `root`, which is empty itself. */
  readonly folders: readonly string[];
  /** Sub-folders that could not be read. */
  readonly unreadable: readonly { readonly folder: string; readonly finding: Finding }[];
}

/**
 * The files of a folder that count as tool files: `.js`, `.mjs`, `.ts`, `.mts`, those of the languages, and those of known languages that
 * were not given, but none that begins with `.` or `_`, no test (`*.test.*`, `*.spec.*`) and no `*.d.ts`. With `subfolders` those of its
 * folders, too, but of none that begins with `.` or `_`, is called `node_modules`, or is a symlink.
 *
 * @throws HoldfastError `tools.folder.missing`, `tools.folder.not_directory`, `tools.folder.unreadable`.
 */
export async function listToolFiles(
  directory: string,
  { subfolders = false, languages }: Pick<ScanFolderOptions, 'subfolders' | 'languages'> = {},
): Promise<ToolFileList> {
  try {
    const root = await realpath(directory);
    const files: string[] = [];
    const folders: string[] = [];
    const unreadable: { readonly folder: string; readonly finding: Finding }[] = [];
    const waiting: string[] = [];
    for (let folder: string | undefined = ''; folder !== undefined; folder = waiting.pop()) {
      folders.push(folder);
      const entries = await readFolder(root, folder);
      if (!Array.isArray(entries)) {
        unreadable.push({ folder, finding: entries });
        continue;
      }
      for (const entry of entries) {
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
        if (!entry.isDirectory()) {
          if (isToolFileName(entry.name, languages)) files.push(path);
        } else if (subfolders && isToolFolderName(entry.name)) waiting.push(path);
      }
    }
    return { root, files: files.sort((left, right) => (left < right ? -1 : 1)), folders, unreadable };
  } catch (cause) {
    throw toFolderError(directory, cause);
  }
}

// Only the tools folder itself has to be readable: one that lies in it costs no other.
async function readFolder(root: string, folder: string): Promise<Dirent[] | Finding> {
  try {
    return await readdir(join(root, folder), { withFileTypes: true });
  } catch (cause) {
    if (folder === '') throw cause;
    return {
      code: 'tool.folder.unreadable',
      message: `The folder cannot be read (${codeOf(cause)}).`,
      hint: 'Check its permissions, or give it a name that begins with `_`.',
    };
  }
}

function toFolderError(directory: string, cause: unknown): HoldfastError {
  const options = { data: { directory }, cause };
  switch (codeOf(cause)) {
    case 'ENOENT':
      return new HoldfastError(
        'tools.folder.missing',
        `There is no tools folder \`${directory}\`: create it, or name another one.`,
        options,
      );
    case 'ENOTDIR':
      return new HoldfastError(
        'tools.folder.not_directory',
        `\`${directory}\` is no folder: name the folder that holds the tool files.`,
        options,
      );
    default:
      return new HoldfastError(
        'tools.folder.unreadable',
        `Cannot read the tools folder \`${directory}\`: check its permissions.`,
        options,
      );
  }
}

/** Whether a folder in a tools folder may hold tools, too. */
export function isToolFolderName(name: string): boolean {
  return !/^[._]/.test(name) && name !== 'node_modules';
}

/**
 * Reads one file of a tools folder, wherever a symlink inside the folder leads. Never throws for what a file is. Not by promises: of a
 * thousand small files they would take most of the time.
 *
 * @param root - absolute, without symlinks.
 */
export function readToolFile(root: string, file: string): ToolFileReading {
  try {
    const place = join(root, file);
    const state = lstatSync(place);
    // What lies in the folder itself, and is no link, is where its name says.
    const path = state.isSymbolicLink() || file.includes('/') ? realpathSync.native(place) : place;
    if (!path.startsWith(root.endsWith(sep) ? root : root + sep)) {
      return refuse(
        file,
        'tool.file.symlink',
        'The file is a symlink that leaves the tools folder.',
        'Put the file itself into the folder.',
      );
    }
    if (!(path === place ? state : lstatSync(path)).isFile()) return notRegular(file);
    const bytes = readRegularFile(path);
    if (bytes === 'not-regular') return notRegular(file);
    if (bytes === 'too-large') {
      return refuse(
        file,
        'tool.file.too_large',
        `The file is larger than ${maxFileBytes} bytes.`,
        'Keep data out of the tool file, or import it from a file that begins with `_`.',
      );
    }
    return decode(file, path, bytes);
  } catch (cause) {
    return refuse(
      file,
      'tool.file.unreadable',
      `The file cannot be read (${codeOf(cause)}).`,
      'Check that it exists and may be read.',
    );
  }
}

function readRegularFile(path: string): Uint8Array | 'not-regular' | 'too-large' {
  // Never waits for a FIFO, never follows a symlink that has just taken the file's place.
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  try {
    const state = fstatSync(descriptor);
    if (!state.isFile()) return 'not-regular';
    if (state.size > maxFileBytes) return 'too-large';
    // One byte more than there should be: a file may grow while it is read, so its size is no bound.
    let buffer = Buffer.allocUnsafe(state.size + 1);
    let total = 0;
    for (;;) {
      const count = readSync(descriptor, buffer, total, buffer.length - total, null);
      total += count;
      if (count === 0) return buffer.subarray(0, total);
      if (total > maxFileBytes) return 'too-large';
      if (total === buffer.length) buffer = Buffer.concat([buffer], Math.min(total * 2, maxFileBytes + 1));
    }
  } finally {
    closeSync(descriptor);
  }
}

/** SHA-256 of a file's bytes in hexadecimal. */
export function digestOf(bytes: Uint8Array): string {
  return hash('sha256', bytes);
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function decode(file: string, path: string, bytes: Uint8Array): ToolFileReading {
  const hint = 'Save the file as UTF-8 text.';
  if (bytes.includes(0)) return refuse(file, 'tool.file.encoding', 'The file holds a NUL byte.', hint);
  try {
    const source = decoder.decode(bytes);
    return { type: 'read', file, path, source, digest: digestOf(bytes) };
  } catch {
    // The decoder says no more than this.
    return refuse(file, 'tool.file.encoding', 'The file is not UTF-8.', hint);
  }
}

function notRegular(file: string): ToolFileReading {
  return refuse(
    file,
    'tool.file.not_regular',
    'This is no regular file.',
    'A tool is a text file; remove whatever this is.',
  );
}

function refuse(file: string, code: string, message: string, hint: string): ToolFileReading {
  return { type: 'refused', file, finding: { code, message, hint } };
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
}
