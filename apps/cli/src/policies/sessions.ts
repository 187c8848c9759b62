import { resolve } from 'node:path';
import type { LogRecord } from '@holdfast/session';
import { readLog } from '@holdfast/session/jsonl';
import { isDamaged, warnOfDamage } from '../logs/damage.ts';
import type { Host } from '../terminal/host.ts';
import { findSession } from '../workspace/known.ts';
import { type FoundLog, findLog, listLogs } from '../workspace/session-logs.ts';

export interface SessionChoice {
  /** None: all of the workspace. */
  readonly ids: readonly string[];
  readonly workspace: string;
}

export interface ReadSession {
  readonly id: string;
  readonly records: readonly LogRecord[];
  /** What is behind the damage is not there. */
  readonly damaged: boolean;
}

/**
 * The records of sessions, oldest first. What is wrong with a log is told on stderr.
 *
 * @throws HoldfastError `usage.session_unknown`, `log.*`.
 */
export async function readSessionLogs({ ids, workspace }: SessionChoice, host: Host): Promise<readonly ReadSession[]> {
  const folder = resolve(host.directory, workspace);
  const logs: FoundLog[] = [];
  for (const id of new Set(ids)) logs.push(await findSession(folder, id, host));
  if (ids.length === 0) logs.push(...(await listLogs(folder)));
  // Says where none are.
  if (logs.length === 0) await findLog(folder, undefined);
  return logs.map(({ id, path }) => {
    const reading = readLog(path);
    warnOfDamage(reading, host.stderr);
    return { id, records: reading.records, damaged: isDamaged(reading) };
  });
}
