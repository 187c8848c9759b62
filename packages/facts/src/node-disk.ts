import { closeSync, fstatSync, lstatSync, openSync, readdirSync, readlinkSync, readSync, statSync } from 'node:fs';
import type { Disk, DiskEntry } from '@holdfast/core/types';

/**
 * The disk of this machine. An entry that cannot be inspected is `missing` if absent, otherwise `other`. Case folding is detected by the
 * name of `workspace`.
 */
export function nodeDisk(workspace: string = process.cwd()): Disk {
  return { folds: foldsNames(workspace), look, list, readText };
}

function foldsNames(folder: string): boolean {
  const swapped = folder.replace(/[a-z]/giu, (letter) =>
    letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase(),
  );
  const isUsual = process.platform === 'darwin' || process.platform === 'win32';
  if (swapped === folder) return isUsual;
  try {
    const own = statSync(folder, { throwIfNoEntry: false });
    const other = statSync(swapped, { throwIfNoEntry: false });
    return own === undefined ? isUsual : own.dev === other?.dev && own.ino === other.ino;
  } catch {
    return isUsual;
  }
}

function look(path: string): DiskEntry {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return { type: 'missing' };
    if (stats.isSymbolicLink()) return { type: 'link', target: readlinkSync(path) };
    if (stats.isDirectory()) return { type: 'folder' };
    return { type: stats.isFile() ? 'file' : 'other' };
  } catch {
    // An invalid name, or an unreadable folder: the caller treats it as existing.
    return { type: 'other' };
  }
}

function list(path: string): readonly string[] | undefined {
  try {
    return readdirSync(path);
  } catch {
    return undefined;
  }
}

function readText(path: string, maxBytes: number): string | undefined {
  let descriptor: number | undefined;
  try {
    // Never a pipe: it would wait for a writer.
    if (!lstatSync(path).isFile()) return undefined;
    descriptor = openSync(path, 'r');
    const { size } = fstatSync(descriptor);
    if (size > maxBytes) return undefined;
    const bytes = Buffer.alloc(size);
    return bytes.subarray(0, readSync(descriptor, bytes)).toString('utf8');
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
