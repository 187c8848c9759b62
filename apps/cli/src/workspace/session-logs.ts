import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, HoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { type LogReading, type ReadLogOptions, readLog } from '@holdfast/session/jsonl';
import { usageError } from '../terminal/failure.ts';
import { hasCode } from '../terminal/system.ts';
import { isFolder } from './folder.ts';
import type { SharedStore } from './shared-store.ts';

const idPattern = /^[a-z0-9][a-z0-9-]{0,99}$/;
const extension = '.jsonl';

/** True if `text` has the form of a session id. */
export function isSessionId(text: string): boolean {
  return idPattern.test(text);
}

/** An id that sorts by time, in UTC with milliseconds: `20260517-093012345-k3x9`. */
export function createSessionId({ clock, suffix }: { readonly clock: Clock; readonly suffix: string }): string {
  const [date = '', time = ''] = new Date(clock.now()).toISOString().split('T');
  return `${date.replaceAll('-', '')}-${time.slice(0, 12).replaceAll(/[:.]/g, '')}-${suffix}`;
}

/** The log folder of a workspace: inaccessible to the file tools, and ignored by git. */
export function findLogFolder(workspace: string): string {
  return join(workspace, '.holdfast', 'sessions');
}

/**
 * Creates the log folder and returns the path of the log of session `id`.
 *
 * @throws HoldfastError `log.write_failed`.
 */
export async function prepareLogPath(workspace: string, id: string): Promise<string> {
  const folder = findLogFolder(workspace);
  try {
    await mkdir(folder, { recursive: true });
    // Prompt overrides are written by people and belong to the project.
    await writeFile(join(workspace, '.holdfast', '.gitignore'), '*\n!overrides/\n!overrides/**\n', { flag: 'wx' });
  } catch (cause) {
    if (!hasCode(cause, 'EEXIST') || !(await isFolder(folder))) {
      const message = `Cannot write the session log to \`${folder}\`: ${describeThrown(cause)}. Nothing runs without a log.`;
      throw new HoldfastError('log.write_failed', message, { data: { reason: 'open' }, cause });
    }
  }
  return join(folder, id + extension);
}

/** An existing log. */
export interface FoundLog {
  readonly id: string;
  /** Of its file; beside it, masked arguments are sealed, also for a session of `store`. */
  readonly path: string;
  /** Where it is instead of in a file. */
  readonly store?: SharedStore;
}

/** @throws HoldfastError `log.*`. */
export async function readFoundLog({ id, path, store }: FoundLog, options: ReadLogOptions = {}): Promise<LogReading> {
  return store === undefined ? readLog(path, options) : store.read(id);
}

/**
 * The log of session `id`, or the newest one.
 *
 * @throws HoldfastError `usage.invalid` (`session_unknown`), `log.unreadable`.
 */
export async function findLog(workspace: string, id: string | undefined): Promise<FoundLog> {
  const ids = await listSessionIds(workspace);
  const found = id === undefined ? ids.at(-1) : ids.find((candidate) => candidate === id);
  if (found !== undefined) return { id: found, path: join(findLogFolder(workspace), found + extension) };
  const folder = findLogFolder(workspace);
  const known =
    ids.length === 0
      ? 'Start a session with `holdfast run`, or pass `--workspace DIR`.'
      : `The newest sessions are ${ids
          .slice(-3)
          .reverse()
          .map((name) => `\`${name}\``)
          .join(', ')}.`;
  throw usageError(
    'session_unknown',
    `${id === undefined ? 'No sessions' : `Unknown session \`${id}\``} in \`${folder}\`. ${known}`,
  );
}

/** The logs of a workspace, oldest first. @throws HoldfastError `log.unreadable`. */
export async function listLogs(workspace: string): Promise<readonly FoundLog[]> {
  const folder = findLogFolder(workspace);
  return (await listSessionIds(workspace)).map((id) => ({ id, path: join(folder, id + extension) }));
}

/** The ids of the logs of a workspace, oldest first. @throws HoldfastError `log.unreadable`. */
export async function listSessionIds(workspace: string): Promise<readonly string[]> {
  let names: readonly string[];
  try {
    names = await readdir(findLogFolder(workspace));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    const message = `Cannot read the session logs in \`${findLogFolder(workspace)}\`: ${describeThrown(error)}.`;
    throw new HoldfastError('log.unreadable', message, { cause: error });
  }
  return names
    .filter((name) => name.endsWith(extension))
    .map((name) => name.slice(0, -extension.length))
    .filter(isSessionId)
    .sort();
}
