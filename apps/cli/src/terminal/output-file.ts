import { link, lstat, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { usageError } from './failure.ts';
import type { Host } from './host.ts';

export interface OutputFile {
  /** As typed. */
  readonly file: string;
  /** Replaces an existing file. */
  readonly force: boolean;
}

/**
 * Checks, before any work, that a file can be written later.
 *
 * @throws HoldfastError `usage.invalid` (`file_exists`, `folder_missing`).
 */
export async function checkOutput({ file, force }: OutputFile, { directory }: Pick<Host, 'directory'>): Promise<void> {
  const path = resolve(directory, file);
  const there = await find(path);
  if (there?.isDirectory() === true) throw usageError('file_exists', `\`${file}\` is a folder: give a file name.`);
  if (there !== undefined && !force) throw taken(file);
  if ((await find(dirname(path))) === undefined) {
    throw usageError('folder_missing', `The folder of \`${file}\` does not exist: create it first.`);
  }
}

/**
 * Writes a file atomically.
 *
 * @throws HoldfastError `usage.invalid` (`file_exists`), `output.unwritable`.
 */
export async function writeOutput(
  { file, force }: OutputFile,
  text: string,
  { directory, createSuffix }: Pick<Host, 'directory' | 'createSuffix'>,
): Promise<void> {
  const path = resolve(directory, file);
  const half = join(dirname(path), `.${basename(path)}.${createSuffix()}.tmp`);
  try {
    await writeFile(half, text, { flag: 'wx' });
    // A link fails if the file exists by now.
    await (force ? rename(half, path) : link(half, path));
  } catch (cause) {
    const code = codeOf(cause);
    if (code === 'EEXIST' && (await find(path)) !== undefined) throw taken(file);
    throw new HoldfastError('output.unwritable', `Cannot write \`${file}\` (${code}).`, { data: { file }, cause });
  } finally {
    await rm(half, { force: true });
  }
}

function taken(file: string): HoldfastError {
  return usageError('file_exists', `\`${file}\` already exists: use \`--force\` to replace it.`);
}

async function find(path: string): Promise<Awaited<ReturnType<typeof lstat>> | undefined> {
  try {
    return await lstat(path);
  } catch {
    // Missing or unreachable: writing reports which.
    return undefined;
  }
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown';
}
