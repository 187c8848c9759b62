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
 * Ends the commits whose journals processes left in the root. Everything in a journal counts as written by a stranger: keys are
 * those that a tool could have used, no link is followed, temporary files are named by the journal's own name, and a file is
 * replaced or removed only when it is provably the one that the journal speaks of.
 *
 * @throws HoldfastError `file.recovery_conflict`, `file.busy`, `path.protected`, and what the operating system answers.
 */
export async function settleJournals(access: RecoveryAccess, request: SettleRequest): Promise<readonly string[]> {
  try {
    if ((await readJournals(access.operations, access.root)).length === 0) return [];
    return await oneByOne(access.root, () => settleLocked(access, request));
  } catch (error) {
    throw toFileError(error, '', 'write');
  }
}

// The lock excludes other processes only, and one process may have several sessions over a folder.
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
    // Again, because until now another process may have been at it.
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

/** `nobodys`: it is put back, or only to be cleaned. `later`: its process may still be at it. */
type Kind = 'asked' | 'undecided' | 'nobodys' | 'later';

function classify(access: RecoveryAccess, journal: LeftJournal, { decided }: SettleRequest): Kind {
  const state = stateOf(access, journal);
  if (journal.stage === 'prepared' && journal.mark !== null) {
    const asked = journal.mark === decided?.mark;
    if (state === 'running' && asked) throw isRunning(journal);
    if (state === 'running') return 'later';
    // Of a process in another container, whoever knows the mark knows whether it has ended.
    return asked ? 'asked' : 'undecided';
  }
  const ended = state === 'ended' || (state === 'unknown' && Date.now() - journal.modifiedMs > oldMs);
  return ended ? 'nobodys' : 'later';
}

/** For how long a commit in another container is left alone, of which nobody here can say whether its process runs. */
const oldMs = 60_000;

function stateOf({ processes }: RecoveryAccess, { token, owner, modifiedMs }: LeftJournal): ProcessState {
  if (owner !== undefined) return processes.stateOf(owner);
  // It was killed while it wrote who it is.
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
    // Anybody may have written it: it must not keep others from what is theirs. It stays, and is tried again the next time.
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
    // What was done last is undone first.
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
    `Process ${owner?.pid ?? 0}, which prepared these changes, still runs; they are its own to apply or drop.`,
    { data: { mark, process: owner?.pid ?? 0 } },
  );
}
