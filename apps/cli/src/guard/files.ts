import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { hasCode } from '../terminal/system.ts';

/** `undefined` if the file does not exist. */
export async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return undefined;
    throw new HoldfastError('settings.invalid', `Cannot read \`${path}\`.`, { data: { path }, cause });
  }
}

/** Whole or not at all, readable by the user alone. */
export async function writeText(path: string, text: string): Promise<void> {
  const part = `${path}.holdfast-${process.pid}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(part, text, { mode: 0o600 });
    await rename(part, path);
  } catch (cause) {
    await rm(part, { force: true });
    throw new HoldfastError('settings.invalid', `Cannot write \`${path}\`.`, { data: { path }, cause });
  }
}
