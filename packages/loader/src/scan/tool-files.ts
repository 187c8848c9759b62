import { hash } from 'node:crypto';
import { type Dirent, lstatSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { type BoundedReading, codeOf, readBounded } from '../files/read-bounded.ts';
import { findRealPath } from '../files/real-path.ts';
import { isToolFileName } from '../language/find.ts';
import type { Language, ToolSource } from '../language/types.ts';
import { decodeText } from '../text/decode.ts';
import type { FileReason, Finding } from '../text/diagnostic.ts';
import type { ReadMetadataOptions } from './metadata.ts';

export interface ScanFolderOptions extends ReadMetadataOptions {
  /** Also reads subfolders of any depth, except those whose names start with `.` or `_`. Default false. */
  readonly subfolders?: boolean;
  /** Languages in addition to JavaScript and TypeScript, such as `python()` of `@holdfast/loader-python`. Default none. */
  readonly languages?: readonly Language[] | undefined;
}

/** Size limit of a tool file in bytes. */
const maxFileBytes = 1024 * 1024;

export type ToolFileReading =
  | ({ readonly type: 'read' } & ToolSource)
  | { readonly type: 'refused'; readonly finding: Finding };

/** The tool files of a folder. */
export interface ToolFileList {
  /** Absolute, without symlinks. */
  readonly root: string;
  /** Relative to `root`, with `/`, in code unit order. */
  readonly files: readonly string[];
  /** The scanned folders, relative to `root`, which itself is empty. */
  readonly folders: readonly string[];
  /** Subfolders that could not be read. */
  readonly unreadable: readonly { readonly folder: string; readonly finding: Finding }[];
}

/**
 * Lists the tool files of a folder: `.js`, `.mjs`, `.ts`, `.mts`, files of the given languages, and files of known
 * languages that were not given; except names that start with `.` or `_`, tests (`*.test.*`, `*.spec.*`) and `*.d.ts`.
 * With `subfolders` also those of its folders, except folders that start with `.` or `_`, `node_modules`, and symlinks.
 *
 * @throws HoldfastError `tools.folder.unreadable`.
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

// Only the tools folder itself must be readable: an unreadable subfolder does not affect others.
async function readFolder(root: string, folder: string): Promise<Dirent[] | Finding> {
  try {
    return await readdir(join(root, folder), { withFileTypes: true });
  } catch (cause) {
    if (folder === '') throw cause;
    return {
      code: 'tool.file.invalid',
      reason: 'folder.unreadable',
      message: `Cannot read the folder (${codeOf(cause)}).`,
      hint: 'Check its permissions, or start its name with `_`.',
    };
  }
}

/** Reasons of `tools.folder.unreadable`. */
type FolderReason = 'missing' | 'not_directory' | 'refused';

function toFolderError(directory: string, cause: unknown): HoldfastError {
  const toError = (reason: FolderReason, message: string): HoldfastError =>
    new HoldfastError('tools.folder.unreadable', message, { data: { reason, directory }, cause });
  switch (codeOf(cause)) {
    case 'ENOENT':
      return toError('missing', `The tools folder \`${directory}\` does not exist: create it, or pass another one.`);
    case 'ENOTDIR':
      return toError(
        'not_directory',
        `\`${directory}\` is not a folder: pass the folder that contains the tool files.`,
      );
    default:
      return toError('refused', `Cannot read the tools folder \`${directory}\`: check its permissions.`);
  }
}

/** True if a subfolder of a tools folder may contain tools. */
export function isToolFolderName(name: string): boolean {
  return !/^[._]/.test(name) && name !== 'node_modules';
}

/**
 * Reads one file of a tools folder, following symlinks inside the folder. Does not throw for the state of a file.
 * Synchronous: for a thousand small files, promises would take most of the time.
 *
 * @param root - absolute, without symlinks.
 */
export function readToolFile(root: string, file: string): ToolFileReading {
  const refuse = (reason: FileReason, message: string, hint: string): ToolFileReading => {
    return { type: 'refused', finding: { code: 'tool.file.invalid', reason, message, hint } };
  };
  const path = findPlace(join(root, file), file.includes('/'));
  if (path !== undefined && !path.startsWith(root.endsWith(sep) ? root : root + sep)) {
    const message = 'The file is a symlink to a target outside the tools folder.';
    return refuse('symlink', message, 'Put the file itself into the folder.');
  }
  const reading: BoundedReading = path === undefined ? { type: 'missing' } : readBounded(path, maxFileBytes);
  if (path !== undefined && reading.type === 'read') {
    const { bytes } = reading;
    const source = decodeText(bytes);
    if (source !== undefined) return { type: 'read', file, path, source, digest: digestOf(bytes) };
    const message = bytes.includes(0) ? 'The file contains a NUL byte.' : 'The file is not UTF-8.';
    return refuse('encoding', message, 'Save the file as UTF-8 text.');
  }
  switch (reading.type === 'refused' ? reading.reason : 'unreadable') {
    case 'not-regular':
      return refuse('not_regular', 'This is not a regular file.', 'A tool is a text file; remove this entry.');
    case 'too-large': {
      const hint = 'Keep data out of the tool file, or import it from a file whose name starts with `_`.';
      return refuse('too_large', `The file is larger than ${maxFileBytes} bytes.`, hint);
    }
    default: {
      const why = reading.type === 'refused' ? reading.why : 'it does not exist';
      return refuse('unreadable', `Cannot use the file: ${why}.`, 'Check that it exists and is readable.');
    }
  }
}

/** The real path of a file; `undefined` if inaccessible. A direct child of the folder that is not a link needs no lookup. */
function findPlace(path: string, isDeep: boolean): string | undefined {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isDeep || isLink ? findRealPath(path) : path;
}

/** SHA-256 of a file's bytes in hexadecimal. */
export function digestOf(bytes: Uint8Array): string {
  return hash('sha256', bytes);
}
