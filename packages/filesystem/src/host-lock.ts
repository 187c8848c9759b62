import { hash } from 'node:crypto';
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { HoldfastError, isHoldfastError } from '@holdfast/core';
import { systemCode } from './host-errors.ts';

export interface LockOptions {
  /** How long another process may hold it. Milliseconds, default 10,000. */
  readonly waitMs?: number;
}

interface Held {
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
  const lock = heldHere.get(path) ?? { ready: take(path, root, waitMs), users: 0 };
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
    // Somebody may have emptied the folder of temporary files meanwhile.
    if (leave()) rmSync(path, { force: true });
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

async function take(path: string, root: string, waitMs: number): Promise<void> {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const untilMs = performance.now() + waitMs;
  for (;;) {
    if (create(path)) return;
    const owner = readOwner(path);
    if (owner === undefined) continue;
    if (!isRunning(owner)) {
      remove(path, owner);
      await wait(0);
      continue;
    }
    if (performance.now() >= untilMs) {
      throw new HoldfastError(
        'file.busy',
        // Paths of this machine stay in `data`: the message goes to a model.
        `Process ${owner} has been changing files of the same workspace for too long, so this change was not begun; try again later.`,
        { data: { process: owner, root, lock: path } },
      );
    }
    // Not in step with others that wait.
    await wait(1 + Math.random() * 10);
  }
}

function create(path: string): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'wx', 0o600);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    writeSync(descriptor, String(process.pid));
  } catch (error) {
    unlinkSync(path);
    throw error;
  } finally {
    closeSync(descriptor);
  }
  return true;
}

/** The process that holds the lock; `undefined` when it is free now, 0 when it does not say. */
function readOwner(path: string): number | undefined {
  try {
    const text = readFileSync(path, 'utf8');
    if (text !== '') return /^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0;
    // Somebody is between creating and writing, which takes far less than this.
    return Date.now() - statSync(path).mtimeMs > 2000 ? 0 : process.pid;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function isRunning(pid: number): boolean {
  if (pid === 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user is there, and may not be asked.
    return systemCode(error) === 'EPERM';
  }
}

/** Removes a lock that was left behind, unless somebody was faster and it is a new one already. */
function remove(path: string, owner: number): void {
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return;
    throw error;
  }
  if (readOwner(aside) === owner) unlinkSync(aside);
  else renameSync(aside, path);
}
