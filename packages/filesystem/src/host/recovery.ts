import { join } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import type { Processes, ProcessState } from '@holdfast/session/lock';
import type { SettleRequest } from '../staging/backend.ts';
import { type Conflict, recoveryConflict } from '../staging/errors.ts';
import type { HostAccess } from './changes.ts';
import { toFileError } from './errors.ts';
import { settledName } from './journal.ts';
import { type LeftJournal, readJournals } from './journal-reading.ts';
import { lockFolder } from './lock.ts';
import { cleanChange, settleChange } from './settling.ts';

export interface RecoveryAccess extends HostAccess {
  readonly root: string;
  readonly maxFileBytes: number;
  readonly processes: Processes;
}

/**
 * Finishes the commits whose journals were left in the root. Journals are untrusted: keys must be valid for a tool, links are not followed,
 * temporary files must be named after the journal, and a file is replaced or removed only if it is provably the one in the journal.
 *
 * @throws HoldfastError `file.conflict`, `file.busy`, `path.invalid`, and file system errors.
 */
export async function settleJournals(access: RecoveryAccess, request: SettleRequest): Promise<readonly string[]> {
  try {
    if ((await readJournals(access.operations, access.root)).length === 0) return [];
    return await oneByOne(access.root, () => settleLocked(access, request));
  } catch (error) {
    throw toFileError(error, '', 'write');
  }
}

// The lock excludes only other processes, and one process may have several sessions on a folder.
const settling = new Map<string, Promise<unknown>>();

async function oneByOne<Result>(root: string, run: () => Promise<Result>): Promise<Result> {
  const result = (settling.get(root) ?? Promise.resolve()).then(run);
  const ended = Promise.allSettled([result]);
  settling.set(root, ended);
  await ended;
  if (settling.get(root) === ended) settling.delete(root);
  return result;
}

async function settleLocked(access: RecoveryAccess, request: SettleRequest): Promise<readonly string[]> {
  const release = await lockFolder(access.root);
  try {
    const undecided = new Set<string>();
    const asked: LeftJournal[] = [];
    // Read again under the lock, because another process may have settled some.
    for (const journal of await readJournals(access.operations, access.root)) {
      switch (classify(access, journal, request)) {
        case 'asked':
          asked.push(journal);
          break;
        case 'undecided':
          undecided.add(journal.mark ?? '');
          break;
        case 'nobodys':
          await settleNobodys(access, journal, request);
          break;
        case 'later':
          break;
      }
    }
    const conflicts: Conflict[] = [];
    for (const journal of asked) {
      await checkKeys(journal, request);
      conflicts.push(...(await settle(access, journal, request.decided?.committed === true)));
    }
    if (conflicts.length > 0) throw recoveryConflict(conflicts);
    return [...undecided];
  } finally {
    release();
  }
}

/** `nobodys`: to be undone, or only cleaned. `later`: its process may still be working on it. */
type Kind = 'asked' | 'undecided' | 'nobodys' | 'later';

function classify(access: RecoveryAccess, journal: LeftJournal, { decided }: SettleRequest): Kind {
  const state = stateOf(access, journal);
  if (journal.stage === 'prepared' && journal.mark !== null) {
    const asked = journal.mark === decided?.mark;
    if (state === 'running' && asked) throw isRunning(journal);
    if (state === 'running') return 'later';
    // Its process is in another container; only the owner of the mark knows if it has ended.
    return asked ? 'asked' : 'undecided';
  }
  const ended = state === 'ended' || (state === 'unknown' && Date.now() - journal.modifiedMs > oldMs);
  return ended ? 'nobodys' : 'later';
}

/** The minimum age before a commit of another container is settled, whose process cannot be checked from here. */
const oldMs = 60_000;

function stateOf({ processes }: RecoveryAccess, { token, owner, modifiedMs }: LeftJournal): ProcessState {
  if (owner !== undefined) return processes.stateOf(owner);
  // It was killed while writing its identity.
  if (Date.now() - modifiedMs > oldMs) return 'ended';
  return processes.stateOf({ ...processes.identify(), pid: Number.parseInt(token, 10), startedAt: '' });
}

async function checkKeys({ changes }: LeftJournal, { loadCheck }: SettleRequest): Promise<void> {
  if (changes.length === 0) return;
  const check = await loadCheck();
  for (const { key } of changes) check(key);
}

async function settleNobodys(access: RecoveryAccess, journal: LeftJournal, request: SettleRequest): Promise<void> {
  try {
    await checkKeys(journal, request);
    await settle(access, journal, false);
  } catch {
    // It may be forged and must not block the recovery of others. It stays and is tried again next time.
  }
}

async function settle(access: RecoveryAccess, journal: LeftJournal, committed: boolean): Promise<readonly Conflict[]> {
  const { operations, root } = access;
  const { token, stage } = journal;
  const places = journal.changes.map((change, index) => ({
    change,
    index,
    token,
    stamp: journal.stamps[index] ?? null,
  }));
  const conflicts: Conflict[] = [];
  let path = join(root, journal.name);
  if (stage === 'prepared') {
    // Undo in reverse order.
    for (const place of committed ? places : places.toReversed()) {
      const conflict = await settleChange(access, place, committed);
      if (conflict !== undefined) conflicts.push(conflict);
    }
    const settled = join(root, settledName(token));
    await operations.rename(path, settled);
    path = settled;
  }
  for (const place of places) await cleanChange(access, place, stage);
  await operations.unlink(path);
  return conflicts;
}

function isRunning({ mark, owner }: LeftJournal): HoldfastError {
  return new HoldfastError(
    'file.busy',
    `Process ${owner?.pid ?? 0}, which prepared these changes, is still running and must apply or drop them itself.`,
    { data: { mark, process: owner?.pid ?? 0 } },
  );
}
