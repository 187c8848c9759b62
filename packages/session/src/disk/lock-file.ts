import { randomBytes } from 'node:crypto';
import { isPlainObject } from '@holdfast/core/internal';
import { hasCode, type LogFiles, nodeFiles, writeAll } from './files.ts';
import { hostProcesses, type ProcessIdentity, toProcessIdentity } from './processes.ts';

/** What a lock file says of the one that holds it. */
export interface LockOwner extends ProcessIdentity {
  /** Of this lock alone. */
  readonly token: string;
}

export interface TakeLockOptions {
  /** Whether somebody has left a lock for good. Default: its process has certainly ended. `unknown`: the lock does not say whose it is. */
  readonly wasLeft?: (owner: LockOwner | 'unknown', path: string) => boolean;
  /** Tests put others in their place, whose operations fail. */
  readonly files?: LogFiles;
}

/** This process, as the owner of one more lock. */
export function newLockOwner(): LockOwner {
  return { token: makeToken(), ...hostProcesses.identify() };
}

/**
 * Makes the lock file at `path` say that `mine` holds it: `undefined` when it does, else who holds it. A lock that was left is taken over.
 *
 * @throws what the system answers.
 */
export function takeLock(
  path: string,
  mine: LockOwner,
  { wasLeft = hasEnded, files = nodeFiles }: TakeLockOptions = {},
): LockOwner | 'unknown' | undefined {
  for (;;) {
    if (create(path, mine, files)) return undefined;
    const owner = readOwner(path, files);
    if (owner === 'none') continue;
    // The system said that it failed, and it had not.
    if (isOf(owner, mine)) return undefined;
    if (!wasLeft(owner, path)) return owner;
    // Who takes over from this owner is decided by a lock of its own, so that nobody replaces the lock of whoever was faster.
    // Its name is the dead owner's: it is never asked for again once that one's lock is gone.
    const claim = `${path}.${owner === 'unknown' ? 'unknown' : owner.token}`;
    const other = takeLock(claim, mine, { wasLeft, files });
    if (other !== undefined) return other;
    try {
      if (isOf(readOwner(path, files), owner)) {
        writeAside(path, { mine, files }, (aside) => files.rename(aside, path));
        return undefined;
      }
    } finally {
      drop(claim, files);
    }
  }
}

/** Removes the lock of `mine`. Somebody may have removed it by hand, and then it may be another's. */
export function releaseLock(path: string, mine: LockOwner, files: LogFiles = nodeFiles): void {
  if (isOf(readOwner(path, files), mine)) files.remove(path);
}

function hasEnded(owner: LockOwner | 'unknown'): boolean {
  return owner !== 'unknown' && hostProcesses.stateOf(owner) === 'ended';
}

/** Makes the lock file together with its content, unless it is there. */
function create(path: string, mine: LockOwner, files: LogFiles): boolean {
  return writeAside(path, { mine, files }, (aside) => {
    try {
      files.link(aside, path);
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
    }
    try {
      // For disks without links. A process that is killed within this leaves a lock that says nothing.
      files.copy(aside, path);
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
      throw error;
    }
  });
}

function writeAside<T>(
  path: string,
  { mine, files }: { readonly mine: LockOwner; readonly files: LogFiles },
  use: (aside: string) => T,
): T {
  const aside = `${path}.${makeToken()}.new`;
  const descriptor = files.open(aside, 'new');
  try {
    try {
      writeAll(files, descriptor, Buffer.from(JSON.stringify(mine)));
    } finally {
      files.close(descriptor);
    }
    return use(aside);
  } finally {
    drop(aside, files);
  }
}

/** A file that is left because it cannot be removed means nothing to anybody; a lock that was taken is more important. */
function drop(path: string, files: LogFiles): void {
  try {
    files.remove(path);
  } catch {
    // See above.
  }
}

function readOwner(path: string, files: LogFiles): LockOwner | 'unknown' | 'none' {
  let text: string;
  try {
    text = readText(path, files);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'none';
    throw error;
  }
  try {
    return toOwner(JSON.parse(text)) ?? 'unknown';
  } catch {
    // Whoever it is, in doubt it holds the lock.
    return 'unknown';
  }
}

function readText(path: string, files: LogFiles): string {
  const descriptor = files.open(path, 'read');
  try {
    const bytes = Buffer.alloc(maxLockBytes);
    return bytes.toString('utf8', 0, files.read(descriptor, bytes, 0));
  } finally {
    files.close(descriptor);
  }
}

// More than any lock has; what is longer is none.
const maxLockBytes = 4096;

function toOwner(value: unknown): LockOwner | undefined {
  const identity = toProcessIdentity(value);
  const token: unknown = isPlainObject(value) ? value['token'] : undefined;
  // It becomes a part of a file name.
  return identity !== undefined && typeof token === 'string' && /^[0-9a-f]{16}$/.test(token)
    ? { token, ...identity }
    : undefined;
}

function isOf(owner: LockOwner | 'unknown' | 'none', expected: LockOwner | 'unknown'): boolean {
  return typeof owner === 'object' && typeof expected === 'object'
    ? owner.token === expected.token
    : owner === expected;
}

/** Short: file names are limited. */
function makeToken(): string {
  return randomBytes(8).toString('hex');
}
