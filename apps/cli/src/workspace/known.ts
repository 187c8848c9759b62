import { isAbsolute, join } from 'node:path';
import { type HoldfastError, isHoldfastError } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { usageError } from '../terminal/failure.ts';
import type { Host } from '../terminal/host.ts';
import { toPrintable } from '../terminal/text.ts';
import { quoteWord } from '../terminal/words.ts';
import { readUserFile, writeUserFile } from '../user/folder.ts';
import { guardFolder, resolveLinks } from '../user/guard-folder.ts';
import { isFile, openWorkspace } from './folder.ts';
import { type FoundLog, findLog, findLogFolder, isSessionId } from './session-logs.ts';
import { findSharedStore, type SharedStore } from './shared-store.ts';

// Absolute paths, newest first: `{ "version": 1, "workspaces": […] }`.
const name = 'workspaces.json';
const maxWorkspaces = 100;

type UserHost = Pick<Host, 'environment' | 'directory'>;

/** Records that a session was started in `workspace`, so that its id can be found from any folder. */
export async function rememberWorkspace(workspace: string, host: UserHost): Promise<void> {
  const known = await readWorkspaces(host);
  if (known[0] === workspace) return;
  const workspaces = [workspace, ...known.filter((path) => path !== workspace)].slice(0, maxWorkspaces);
  try {
    await writeUserFile(name, `${JSON.stringify({ version: 1, workspaces }, undefined, 2)}\n`, host);
  } catch (thrown) {
    // Not essential: `--workspace` still finds the session. A path may also be lost when two runs write at once.
    if (!isHoldfastError(thrown)) throw thrown;
  }
}

/** Empty if the file is missing, unreadable or malformed: only a search depends on it. */
export async function readWorkspaces(host: UserHost): Promise<readonly string[]> {
  try {
    const json: unknown = JSON.parse((await readUserFile(name, host)) ?? '{}');
    const workspaces: unknown = isPlainObject(json) ? json['workspaces'] : undefined;
    return Array.isArray(workspaces) ? workspaces.filter((path) => typeof path === 'string' && isAbsolute(path)) : [];
  } catch {
    return [];
  }
}

/** The options of a command about a session. */
export interface SessionName {
  /** Default: the newest. */
  readonly id?: string | undefined;
  /** `.`, the default: the current folder, then the known workspaces. */
  readonly workspace: string;
}

export interface FoundSession extends FoundLog {
  /** The workspace of the session, links resolved. */
  readonly workspace: string;
}

/**
 * Finds the log of a session. If it is in another workspace than the current folder, prints which one to stderr.
 *
 * @throws HoldfastError `usage.invalid` (`workspace_missing`, `session_unknown`, `session_ambiguous` when several known workspaces have the
 * session), `log.unreadable`.
 */
export async function findSession(
  { id, workspace: given }: SessionName,
  host: UserHost & Pick<Host, 'stderr'>,
): Promise<FoundSession> {
  const workspace = await openWorkspace(given, host.directory);
  try {
    return { ...(await findLog(workspace, id)), workspace };
  } catch (thrown) {
    const isUnknown = isHoldfastError(thrown) && thrown.reason === 'session_unknown';
    if (!isUnknown || id === undefined) throw thrown;
    if (workspace === resolveLinks(guardFolder(host))) {
      const shared = await findShared(id, host);
      if (shared !== undefined) return shared;
    }
    if (given !== '.') throw thrown;
    const [only, ...others] = await findKnown(id, host);
    if (only === undefined) throw thrown;
    if (others.length > 0) throw ambiguous(id, [only, ...others]);
    host.stderr.write(`session ${id} is in ${toPrintable(only.store?.name ?? only.workspace)}\n`);
    return only;
  }
}

/** The logs of session `id` in the known workspaces, and among those of guarded agents. */
export async function findKnown(id: string, host: UserHost): Promise<readonly FoundSession[]> {
  // The id becomes part of a path.
  if (!isSessionId(id)) return [];
  const found: FoundSession[] = [];
  // Links resolved: who may answer depends on the workspace.
  const workspaces = new Set([...(await readWorkspaces(host)), guardFolder(host)].map(resolveLinks));
  for (const workspace of workspaces) {
    const path = join(findLogFolder(workspace), `${id}.jsonl`);
    if (await isFile(path)) found.push({ id, path, workspace });
  }
  const shared = await findShared(id, host);
  return shared === undefined ? found : [...found, shared];
}

async function findShared(id: string, host: UserHost): Promise<FoundSession | undefined> {
  const store = isSessionId(id) ? await findSharedStore(host) : undefined;
  return (await store?.has(id)) === true && store !== undefined ? toShared(id, store, host) : undefined;
}

/** The sessions of the shared store, which belong to the folder of guarded agents. @throws HoldfastError `config.invalid`, `log.*`. */
export async function listShared(host: UserHost): Promise<readonly FoundSession[]> {
  const store = await findSharedStore(host);
  if (store === undefined) return [];
  return (await store.list()).filter(isSessionId).map((id) => toShared(id, store, host));
}

function toShared(id: string, store: SharedStore, host: UserHost): FoundSession {
  const workspace = resolveLinks(guardFolder(host));
  return { id, path: join(findLogFolder(workspace), `${id}.jsonl`), workspace, store };
}

function ambiguous(id: string, found: readonly FoundSession[]): HoldfastError {
  const workspaces = found.map(({ workspace }) => workspace);
  const options = workspaces.map((path) => `\`--workspace ${quoteWord(path)}\``).join(' or ');
  return usageError('session_ambiguous', `Session \`${id}\` exists in several workspaces: add ${options}.`, {
    data: { workspaces },
  });
}
