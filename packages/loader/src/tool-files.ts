import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import type { Finding } from './diagnostic.ts';

/** Files above this size are refused, in bytes. */
const maxFileBytes = 1024 * 1024;

export type ToolFileReading =
  | {
      readonly type: 'read';
      /** Its name in the tools folder. */
      readonly file: string;
      /** Absolute, without symlinks. */
      readonly path: string;
      readonly source: string;
      /** SHA-256 of its bytes in hexadecimal. */
      readonly digest: string;
    }
  | { readonly type: 'refused'; readonly file: string; readonly finding: Finding };

/**
 * The names in a folder that count as tool files, in code unit order: `.js`, `.mjs`, `.ts`, `.mts`, but none that begins with
 * `.` or `_`, no `*.test.*`, `*.spec.*` or `*.d.ts`, and no sub-folder.
 *
 * @throws HoldfastError `tools.folder.missing`, `tools.folder.not_directory`, `tools.folder.unreadable`.
 */
export async function listToolFiles(
  directory: string,
): Promise<{ readonly root: string; readonly files: readonly string[] }> {
  try {
    const root = await realpath(directory);
    const entries = await readdir(root, { withFileTypes: true });
    const files = entries.filter((entry) => !entry.isDirectory() && isToolFileName(entry.name)).map(({ name }) => name);
    return { root, files: files.sort((left, right) => (left < right ? -1 : 1)) };
  } catch (cause) {
    const data = { directory };
    switch (codeOf(cause)) {
      case 'ENOENT':
        throw new HoldfastError(
          'tools.folder.missing',
          `There is no tools folder \`${directory}\`: create it, or name another one.`,
          { data, cause },
        );
      case 'ENOTDIR':
        throw new HoldfastError(
          'tools.folder.not_directory',
          `\`${directory}\` is no folder: name the folder that holds the tool files.`,
          { data, cause },
        );
      default:
        throw new HoldfastError(
          'tools.folder.unreadable',
          `Cannot read the tools folder \`${directory}\`: check its permissions.`,
          { data, cause },
        );
    }
  }
}

function isToolFileName(name: string): boolean {
  return /\.m?[jt]s$/.test(name) && !/^[._]|\.(?:test|spec)\.[^.]+$|\.d\.m?ts$/.test(name);
}

/** Reads one file of a tools folder, wherever a symlink inside the folder leads. Never throws for what a file is. */
export async function readToolFile(root: string, file: string): Promise<ToolFileReading> {
  try {
    const path = await realpath(join(root, file));
    if (!path.startsWith(root.endsWith(sep) ? root : root + sep)) {
      return refuse(
        file,
        'tool.file.symlink',
        'The file is a symlink that leaves the tools folder.',
        'Put the file itself into the folder.',
      );
    }
    if (!(await lstat(path)).isFile()) return notRegular(file);
    // Never waits for a FIFO, never follows a symlink that has just taken the file's place.
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const stat = await handle.stat();
      if (!stat.isFile()) return notRegular(file);
      // Asked twice: a file may grow while it is read.
      const bytes = stat.size > maxFileBytes ? undefined : await handle.readFile();
      if (bytes === undefined || bytes.length > maxFileBytes) {
        return refuse(
          file,
          'tool.file.too_large',
          `The file is larger than ${maxFileBytes} bytes.`,
          'Keep data out of the tool file, or import it from a file that begins with `_`.',
        );
      }
      return decode(file, path, bytes);
    } finally {
      await handle.close();
    }
  } catch (cause) {
    return refuse(
      file,
      'tool.file.unreadable',
      `The file cannot be read (${codeOf(cause)}).`,
      'Check that it exists and may be read.',
    );
  }
}

/** SHA-256 of a file's bytes in hexadecimal. */
export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function decode(file: string, path: string, bytes: Uint8Array): ToolFileReading {
  const hint = 'Save the file as UTF-8 text.';
  if (bytes.includes(0)) return refuse(file, 'tool.file.encoding', 'The file holds a NUL byte.', hint);
  try {
    const source = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
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
