import { hash } from 'node:crypto';
import { mkdirSync, statSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { HoldfastError, isHoldfastError } from '@holdfast/core';
import { hostProcesses, type LockOwner, newLockOwner, releaseLock, takeLock } from '@holdfast/session/lock';
import { systemCode } from './errors.ts';

export interface LockOptions {
  /** How long another process may hold it. Milliseconds, default 10,000. */
  readonly waitMs?: number;
}

interface Held {
  readonly mine: LockOwner;
  readonly ready: Promise<void>;
  users: number;
}

// What the operating system knows of a process, a second copy of an object in it must know too.
const heldHere = new Map<string, Held>();

/**
 * Keeps other processes of this user on this machine from committing to the folder `root` (its real path) until the answer is
 * called: between the check that a file is as it was read and its replacement nobody else may replace it. Within one process it
 * excludes nobody. A lock whose process has ended is taken over.
 *
 * @throws HoldfastError `file.busy`, and `file.lock_failed` where no temporary file can be made.
 */
export async function lockFolder(root: string, { waitMs = 10_000 }: LockOptions = {}): Promise<() => void> {
  const path = findLockPath(root);
  const lock = heldHere.get(path) ?? startTaking(path, root, waitMs);
  heldHere.set(path, lock);
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
    // Somebody may have emptied the folder of temporary files meanwhile, and somebody else may have it since.
    if (leave()) releaseLock(path, lock.mine);
  };
}

/** Not in the folder itself: there it would be seen, could be left behind, and needs a permission that a change may not. */
export function findLockPath(root: string): string {
  // By number: not every user has a name. Windows has a folder for each anyway.
  const folder = join(tmpdir(), `holdfast-locks-${process.getuid?.() ?? ''}`);
  // With the host's name: containers may share the folder, and their processes do not know each other.
  return join(folder, `${hash('sha256', `${hostname()}\n${root}`, 'hex').slice(0, 32)}.lock`);
}

function lockFailed(cause: unknown): HoldfastError {
  return new HoldfastError(
    'file.lock_failed',
    `Nothing was changed, because the folder for temporary files refuses the lock for changes (${systemCode(cause)}): it must be one that can be written, see \`TMPDIR\`.`,
    { cause },
  );
}

function startTaking(path: string, root: string, waitMs: number): Held {
  const mine = newLockOwner();
  return { mine, ready: take(path, mine, { root, waitMs }), users: 0 };
}

async function take(path: string, mine: LockOwner, { root, waitMs }: { root: string; waitMs: number }): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const untilMs = performance.now() + waitMs;
  for (;;) {
    const owner = takeLock(path, mine, { wasLeft });
    if (owner === undefined) return;
    if (performance.now() >= untilMs) {
      const holder = owner === 'unknown' ? 'Somebody' : `Process ${owner.pid}`;
      throw new HoldfastError(
        'file.busy',
        // Paths of this machine stay in `data`: the message goes to a model.
        `${holder} has been changing files of the same workspace for too long, so this change was not begun; try again later.`,
        { data: { ...(owner === 'unknown' ? {} : { process: owner.pid }), root, lock: path } },
      );
    }
    // Not in step with others that wait.
    await wait(1 + Math.random() * 10);
  }
}

function wasLeft(owner: LockOwner | 'unknown', path: string): boolean {
  // Somebody is between creating and writing, which takes far less than this.
  if (owner === 'unknown') return ageMs(path) > 2000;
  const state = hostProcesses.stateOf(owner);
  // Nobody in this container can say whether that process runs. What a lock is held for takes far less than this.
  return state === 'ended' || (state === 'unknown' && ageMs(path) > 9000);
}

/** Negative, and so not old, once the file is gone. */
function ageMs(path: string): number {
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY);
}
