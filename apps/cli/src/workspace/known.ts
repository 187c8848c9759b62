import { realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { HoldfastError, isHoldfastError, isPlainObject } from '@holdfast/core';
import type { Host } from '../terminal/host.ts';
import { toPrintable } from '../terminal/text.ts';
import { quoteWord } from '../terminal/words.ts';
import { readUserFile, writeUserFile } from '../user/folder.ts';
import { isFile } from './folder.ts';
import { type FoundLog, findLog, findLogFolder, isSessionId } from './session-logs.ts';

// Absolute paths, newest first: `{ "version": 1, "workspaces": […] }`.
const name = 'workspaces.json';
const maxWorkspaces = 100;

type UserHost = Pick<Host, 'environment' | 'directory'>;

/** Keeps in the user's folder that a session was begun in `workspace`, so that it is found by its id alone. */
export async function rememberWorkspace(workspace: string, host: UserHost): Promise<void> {
  const known = await readWorkspaces(host);
  if (known[0] === workspace) return;
  const workspaces = [workspace, ...known.filter((path) => path !== workspace)].slice(0, maxWorkspaces);
  try {
    await writeUserFile(name, `${JSON.stringify({ version: 1, workspaces }, undefined, 2)}\n`, host);
  } catch (thrown) {
    // No reason not to run: the session is found with `--workspace`. So it is where two runs wrote at once and one path was lost.
    if (!isHoldfastError(thrown)) throw thrown;
  }
}

/** None where the file is not there, or not as it is written here: nothing depends on it but a search. */
async function readWorkspaces(host: UserHost): Promise<readonly string[]> {
  try {
    const json: unknown = JSON.parse((await readUserFile(name, host)) ?? '{}');
    const workspaces: unknown = isPlainObject(json) ? json['workspaces'] : undefined;
    return Array.isArray(workspaces) ? workspaces.filter((path) => typeof path === 'string' && isAbsolute(path)) : [];
  } catch {
    return [];
  }
}

/** A log, and the workspace that it is of. */
export interface FoundSession extends FoundLog {
  readonly workspace: string;
}

/**
 * The log of session `id` in `workspace`, or its newest one. Where that is the current folder, and does not have the session, the
 * workspaces in which this user has begun others are searched, and stderr says in which one it was found.
 *
 * @throws HoldfastError `usage.session_unknown`, also when several of them have the session; `log.unreadable`.
 */
export async function findSession(
  workspace: string,
  id: string | undefined,
  host: UserHost & Pick<Host, 'stderr'>,
): Promise<FoundSession> {
  try {
    return { ...(await findLog(workspace, id)), workspace };
  } catch (thrown) {
    const isUnknown = isHoldfastError(thrown) && thrown.code === 'usage.session_unknown';
    if (!isUnknown || id === undefined || !(await isCurrent(workspace, host))) throw thrown;
    const [only, ...others] = await findElsewhere(id, host);
    if (only === undefined) throw thrown;
    if (others.length > 0) throw ambiguous(id, [only, ...others]);
    host.stderr.write(`session ${id} is in ${toPrintable(only.workspace)}\n`);
    return only;
  }
}

async function isCurrent(workspace: string, { directory }: UserHost): Promise<boolean> {
  return workspace === directory || workspace === (await realpath(directory));
}

async function findElsewhere(id: string, host: UserHost): Promise<readonly FoundSession[]> {
  // It becomes part of a path.
  if (!isSessionId(id)) return [];
  const found: FoundSession[] = [];
  for (const workspace of await readWorkspaces(host)) {
    const path = join(findLogFolder(workspace), `${id}.jsonl`);
    if (await isFile(path)) found.push({ id, path, workspace });
  }
  return found;
}

function ambiguous(id: string, found: readonly FoundSession[]): HoldfastError {
  const workspaces = found.map(({ workspace }) => workspace);
  const options = workspaces.map((path) => `\`--workspace ${quoteWord(path)}\``).join(' or ');
  return new HoldfastError('usage.session_unknown', `Several workspaces have a session \`${id}\`: add ${options}.`, {
    data: { reason: 'ambiguous', workspaces },
  });
}
