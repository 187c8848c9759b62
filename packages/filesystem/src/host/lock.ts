import { hash, randomBytes } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { HoldfastError, isHoldfastError, isPlainObject } from '@holdfast/core';
import { systemCode } from './errors.ts';
import { hostProcesses, type ProcessIdentity, toProcessIdentity } from './process.ts';

export interface LockOptions {
  /** How long another process may hold it. Milliseconds, default 10,000. */
  readonly waitMs?: number;
}

interface Held {
  readonly mine: Owner;
  readonly ready: Promise<void>;
  users: number;
}

/** What a lock says of the one that holds it. */
interface Owner extends ProcessIdentity {
  /** Of this lock alone; empty for one that does not say who holds it. */
  readonly token: string;
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
    if (leave() && isSame(readOwner(path), lock.mine)) rmSync(path, { force: true });
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
  const mine = { token: randomBytes(8).toString('hex'), ...hostProcesses.identify() };
  return { mine, ready: take(path, mine, { root, waitMs }), users: 0 };
}

async function take(path: string, mine: Owner, { root, waitMs }: { root: string; waitMs: number }): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const untilMs = performance.now() + waitMs;
  for (;;) {
    const owner = tryToTake(path, mine);
    if (owner === undefined) return;
    if (performance.now() >= untilMs) {
      throw new HoldfastError(
        'file.busy',
        // Paths of this machine stay in `data`: the message goes to a model.
        `Process ${owner.pid} has been changing files of the same workspace for too long, so this change was not begun; try again later.`,
        { data: { process: owner.pid, root, lock: path } },
      );
    }
    // Not in step with others that wait.
    await wait(1 + Math.random() * 10);
  }
}

/** Who else holds the lock; `undefined` when it is `mine` now. */
function tryToTake(path: string, mine: Owner): Owner | undefined {
  for (;;) {
    if (create(path, mine)) return undefined;
    const owner = readOwner(path);
    if (owner === undefined) continue;
    if (!wasLeft(path, owner)) return owner;
    // Who takes over from this owner is decided by a lock of its own, so that nobody replaces the lock of whoever was faster.
    const claim = `${path}.${owner.token}`;
    const other = tryToTake(claim, mine);
    if (other !== undefined) return other;
    try {
      if (!isSame(readOwner(path), owner)) continue;
      const aside = `${path}.${mine.token}.new`;
      writeFileSync(aside, JSON.stringify(mine), { flag: 'wx', mode: 0o600 });
      renameSync(aside, path);
      return undefined;
    } finally {
      rmSync(claim, { force: true });
    }
  }
}

function create(path: string, mine: Owner): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'wx', 0o600);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    writeSync(descriptor, JSON.stringify(mine));
  } catch (error) {
    unlinkSync(path);
    throw error;
  } finally {
    closeSync(descriptor);
  }
  return true;
}

const unnamed: Owner = { token: '', pid: 0, host: '', pidSpace: '', startedAt: '' };

/** Who holds the lock, as far as it says; `undefined` when it is free now. */
function readOwner(path: string): Owner | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const identity = toProcessIdentity(value);
    const token: unknown = isPlainObject(value) ? value['token'] : undefined;
    // It becomes a part of a file name.
    return identity !== undefined && typeof token === 'string' && /^[0-9a-f]{16}$/.test(token)
      ? { token, ...identity }
      : unnamed;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    if (error instanceof SyntaxError) return unnamed;
    throw error;
  }
}

function isSame(owner: Owner | undefined, other: Owner): boolean {
  return owner?.token === other.token;
}

function wasLeft(path: string, owner: Owner): boolean {
  // Somebody is between creating and writing, which takes far less than this.
  if (owner.token === '') return ageMs(path) > 2000;
  const state = hostProcesses.stateOf(owner);
  // Nobody in this container can say whether that process runs. What a lock is held for takes far less than this.
  return state === 'ended' || (state === 'unknown' && ageMs(path) > 9000);
}

/** Negative, and so not old, once the file is gone. */
function ageMs(path: string): number {
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY);
}
