import { randomUUID } from 'node:crypto';
import { chmod, link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import type { Host } from '../terminal/host.ts';
import { hasCode } from '../terminal/system.ts';

/**
 * The folder for the user's own data: `HOLDFAST_HOME`, or the system's settings folder. A workspace cannot change
 * it.
 */
export function userFolder({ environment, directory }: Pick<Host, 'environment' | 'directory'>): string {
  const { HOLDFAST_HOME: own, XDG_CONFIG_HOME: xdg, APPDATA: roaming } = environment;
  if (own !== undefined && own !== '') return resolve(directory, own);
  const settings = process.platform === 'win32' ? roaming : xdg;
  if (settings !== undefined && isAbsolute(settings)) return join(settings, 'holdfast');
  return process.platform === 'win32'
    ? join(homedir(), 'AppData', 'Roaming', 'holdfast')
    : join(homedir(), '.config', 'holdfast');
}

/**
 * The text of a file in the user folder; `undefined` if there is none.
 *
 * @throws HoldfastError `user_folder.unusable`.
 */
export async function readUserFile(
  name: string,
  host: Pick<Host, 'environment' | 'directory'>,
): Promise<string | undefined> {
  const path = join(userFolder(host), name);
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return undefined;
    throw new HoldfastError('user_folder.unusable', `Cannot read \`${path}\`.`, {
      data: { reason: 'unreadable', path },
      cause,
    });
  }
}

/**
 * Replaces a file in the user folder atomically, readable only by the user (folder 0700, file 0600).
 *
 * @throws HoldfastError `user_folder.unusable`.
 */
export async function writeUserFile(
  name: string,
  text: string,
  host: Pick<Host, 'environment' | 'directory'>,
): Promise<void> {
  await writeWhole(name, text, rename, host);
}

/**
 * Reads a file in the user folder, creating it if it is missing. Processes that create it concurrently get the same text.
 *
 * @throws HoldfastError `user_folder.unusable`.
 */
export async function createUserFile(
  name: string,
  createText: () => string,
  host: Pick<Host, 'environment' | 'directory'>,
): Promise<string> {
  const found = await readUserFile(name, host);
  if (found !== undefined) return found;
  // Linking never replaces a file, so the first one stays.
  await writeWhole(name, createText(), linkOnce, host);
  return (await readUserFile(name, host)) ?? '';
}

async function linkOnce(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}

/** Writes a temporary file and gives it its name with `place`. */
async function writeWhole(
  name: string,
  text: string,
  place: (from: string, to: string) => Promise<void>,
  host: Pick<Host, 'environment' | 'directory'>,
): Promise<void> {
  const folder = userFolder(host);
  const path = join(folder, name);
  const temporary = `${path}.${randomUUID()}`;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    try {
      await writeFile(temporary, text, { mode: 0o600, flag: 'wx' });
      await place(temporary, path);
    } finally {
      await rm(temporary, { force: true });
    }
  } catch (cause) {
    throw new HoldfastError(
      'user_folder.unusable',
      `Cannot write \`${path}\`. Set \`HOLDFAST_HOME\` to a writable folder.`,
      { data: { reason: 'unwritable', path }, cause },
    );
  }
}
