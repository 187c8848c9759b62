import { randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { HoldfastError, isPlainObject } from '@holdfast/core';
import { isRunning } from './log-writer.ts';
import { folderUnusable } from './pulled-models.ts';

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** Of this lock alone. */
  readonly token: string;
}

/**
 * Keeps every other process from the files of a model until the answer is called. A lock whose process has ended is taken over.
 *
 * @throws HoldfastError `download.busy`, `download.folder_unusable`.
 */
export async function lockModel(modelPath: string): Promise<() => Promise<void>> {
  const path = `${modelPath}.lock`;
  const mine: Holder = { pid: process.pid, host: hostname(), token: randomBytes(8).toString('hex') };
  if (!(await create(path, mine)) && !(await takeOver(path, mine))) throw busy(modelPath, path, await read(path));
  return async () => {
    // Somebody may have removed it by hand, and then it may be another's.
    if ((await read(path))?.token === mine.token) await rm(path, { force: true });
  };
}

/** Whether the lock, which somebody else had, is `mine` now. */
async function takeOver(path: string, mine: Holder): Promise<boolean> {
  const holder = await read(path);
  // In doubt it is held: one that says nothing may be just being made.
  if (holder === undefined || holder.host !== mine.host || isRunning(holder.pid)) return false;
  // Who may remove this very lock is decided by another one, so that nobody removes the lock of whoever was faster.
  const claim = `${path}.${holder.token}`;
  if (!(await create(claim, mine))) return false;
  try {
    if ((await read(path))?.token !== holder.token) return false;
    await rm(path);
    return await create(path, mine);
  } finally {
    await rm(claim, { force: true });
  }
}

async function create(path: string, holder: Holder): Promise<boolean> {
  try {
    await writeFile(path, JSON.stringify(holder), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw folderUnusable(dirname(path), error);
  }
}

/** `undefined` where there is none, or one that says nothing. */
async function read(path: string): Promise<Holder | undefined> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(path, 'utf8'));
  } catch {
    // Gone, unreadable or half written: nobody is known to hold it, and nobody takes it over either.
    return undefined;
  }
  if (!isPlainObject(value)) return undefined;
  const { pid, host, token } = value;
  // The token becomes a part of a file name; a number below 1 would be a group of processes.
  const isHolder =
    Number.isSafeInteger(pid) && Number(pid) > 0 && typeof host === 'string' && /^[0-9a-f]{16}$/.test(String(token));
  return isHolder ? { pid: Number(pid), host, token: String(token) } : undefined;
}

function busy(modelPath: string, lock: string, holder: Holder | undefined): HoldfastError {
  const who = holder === undefined ? 'another process' : `process ${holder.pid} on \`${holder.host}\``;
  return new HoldfastError(
    'download.busy',
    `\`${modelPath}\` is worked on by ${who}: wait for its end. Only when you are sure that it has ended, remove \`${lock}\`.`,
    { data: { lock } },
  );
}
