import { resolve } from 'node:path';
import { type ReadSession, readSession, warnOfDamage } from '../logs/damage.ts';
import type { Host } from '../terminal/host.ts';
import { findSession } from '../workspace/known.ts';
import { listSessionIds } from '../workspace/session-logs.ts';

export interface SessionChoice {
  /** Empty: all of the workspace. */
  readonly ids: readonly string[];
  readonly workspace: string;
}

/**
 * Reads sessions, oldest first. Reports damaged logs on stderr.
 *
 * @throws HoldfastError `usage.invalid` (`session_unknown`), `log.*`.
 */
export async function readSessions({ ids, workspace }: SessionChoice, host: Host): Promise<readonly ReadSession[]> {
  const folder = resolve(host.directory, workspace);
  const named = ids.length > 0 ? [...new Set(ids)] : await listSessionIds(folder);
  // Fails with the folder that was searched.
  if (named.length === 0) await findSession({ workspace }, host);
  const sessions: ReadSession[] = [];
  for (const id of named) {
    const session = await readSession({ id, workspace }, host);
    warnOfDamage(session.reading, host.stderr);
    sessions.push(session);
  }
  return sessions;
}
