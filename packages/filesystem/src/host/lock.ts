import { hash } from 'node:crypto';
import { mkdirSync, statSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { HoldfastError, isHoldfastError } from '@holdfast/core';
import { hostProcesses, type LockOwner, newLockOwner, releaseLock, takeLock } from '@holdfast/session/lock';
import { systemCode } from './errors.ts';

export interface LockOptions {
  /** How long to wait for another process. Milliseconds, default 10,000. */
  readonly waitMs?: number;
}

interface Held {
  readonly mine: LockOwner;
  readonly ready: Promise<void>;
  users: number;
}

// Per process, as for the operating system: a second copy of this module must share it.
const heldHere = new Map<string, Held>();

/**
 * Prevents other processes of this user on this machine from committing to the folder `root` (its real path) until the returned function is
 * called, so that no file changes between its check and its replacement. Does not exclude callers in the same process. Takes over the lock
 * of a process that has ended.
 *
 * @throws HoldfastError `file.busy`, and `file.write_failed` if no temporary file can be created.
 */
export async function lockFolder(root: string, { waitMs = 10_000 }: LockOptions = {}): Promise<() => void> {
  const path = findLockPath(root);
  let lock = heldHere.get(path);
  if (lock === undefined) {
    const mine = newLockOwner();
    lock = { mine, ready: take(path, mine, { root, waitMs }), users: 0 };
    heldHere.set(path, lock);
  }
  lock.users += 1;
  const leave = (): boolean => {
    lock.users -= 1;
    return lock.users === 0 && heldHere.delete(path);
  };
  try {
    await lock.ready;
  } catch (cause) {
    leave();
    throw isHoldfastError(cause) ? cause : lockFailed(cause);
  }
  return () => {
    // The lock may have been deleted as a temporary file, and another process may hold a new one.
    if (leave()) releaseLock(path, lock.mine);
  };
}

/** Not in the folder itself, where it would be visible, might be left behind, and would need permission to create files. */
export function findLockPath(root: string): string {
  // By user id: not every user has a name. On Windows, each user has a separate folder anyway.
  const folder = join(tmpdir(), `holdfast-locks-${process.getuid?.() ?? ''}`);
  // Includes the host name: containers may share the folder but not their processes.
  return join(folder, `${hash('sha256', `${hostname()}\n${root}`, 'hex').slice(0, 32)}.lock`);
}

function lockFailed(cause: unknown): HoldfastError {
  return new HoldfastError(
    'file.write_failed',
    `Nothing was changed: cannot create the lock in the folder for temporary files (${systemCode(cause)}). The folder must be writable; see \`TMPDIR\`.`,
    { data: { reason: 'lock' }, cause },
  );
}

async function take(path: string, mine: LockOwner, { root, waitMs }: { root: string; waitMs: number }): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const untilMs = performance.now() + waitMs;
  for (;;) {
    const owner = takeLock(path, mine, { wasLeft });
    if (owner === undefined) return;
    if (performance.now() >= untilMs) {
      const holder = owner === 'unknown' ? 'Another process' : `Process ${owner.pid}`;
      throw new HoldfastError(
        'file.busy',
        // Host paths stay in `data`, because the message goes to a model.
        `${holder} has held the lock of this workspace for too long. Nothing was changed; try again later.`,
        { data: { ...(owner === 'unknown' ? {} : { process: owner.pid }), root, lock: path } },
      );
    }
    // Random, so that waiting processes do not stay in step.
    await wait(1 + Math.random() * 10);
  }
}

function wasLeft(owner: LockOwner | 'unknown', path: string): boolean {
  // The holder is between creating and writing the lock, which takes far less time.
  if (owner === 'unknown') return ageMs(path) > 2000;
  const state = hostProcesses.stateOf(owner);
  // This container cannot tell if that process runs. A lock is held for far less time than this.
  return state === 'ended' || (state === 'unknown' && ageMs(path) > 9000);
}

/** Negative, and so not old, if the file is gone. */
function ageMs(path: string): number {
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY);
}
