import { resolve } from 'node:path';
import { type ReadSession, readSession, warnOfDamage } from '../logs/damage.ts';
import type { Host } from '../terminal/host.ts';
import { findSession } from '../workspace/known.ts';
import { listSessionIds } from '../workspace/session-logs.ts';

export interface SessionChoice {
  /** None: all of the workspace. */
  readonly ids: readonly string[];
  readonly workspace: string;
}

/**
 * Sessions, oldest first. What is wrong with a log is told on stderr.
 *
 * @throws HoldfastError `usage.session_unknown`, `log.*`.
 */
export async function readSessions({ ids, workspace }: SessionChoice, host: Host): Promise<readonly ReadSession[]> {
  const folder = resolve(host.directory, workspace);
  const named = ids.length > 0 ? [...new Set(ids)] : await listSessionIds(folder);
  // Says where none are.
  if (named.length === 0) await findSession({ workspace }, host);
  const sessions: ReadSession[] = [];
  for (const id of named) {
    const session = await readSession({ id, workspace }, host);
    warnOfDamage(session.reading, host.stderr);
    sessions.push(session);
  }
  return sessions;
}
