import { randomBytes } from 'node:crypto';
import { isPlainObject } from '@holdfast/core/internal';
import { hasCode, type LogFiles, nodeFiles, writeAll } from './files.ts';
import { hostProcesses, type ProcessIdentity, toProcessIdentity } from './processes.ts';

/** The owner that a lock file names. */
export interface LockOwner extends ProcessIdentity {
  /** Unique per lock. */
  readonly token: string;
}

export interface TakeLockOptions {
  /** True if a lock is abandoned. Default: its process has certainly ended. `unknown`: the lock does not name its owner. */
  readonly wasLeft?: (owner: LockOwner | 'unknown', path: string) => boolean;
  /** Tests pass files whose operations fail. */
  readonly files?: LogFiles;
}

/** This process, as the owner of a new lock. */
export function newLockOwner(): LockOwner {
  return { token: makeToken(), ...hostProcesses.identify() };
}

/**
 * Writes `mine` into the lock file at `path`. Returns `undefined` on success, else the current owner. An abandoned lock is taken over.
 *
 * @throws the error of the file system.
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
    // The system reported a failure although the write succeeded.
    if (isOf(owner, mine)) return undefined;
    if (!wasLeft(owner, path)) return owner;
    // A second lock serializes takeovers, so that a slower process does not replace the lock of a faster one.
    // It is named after the dead owner, and so is not needed again once that owner's lock is gone.
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

/** Removes the lock of `mine`. If it was removed by hand meanwhile, it may now be another's. */
export function releaseLock(path: string, mine: LockOwner, files: LogFiles = nodeFiles): void {
  if (isOf(readOwner(path, files), mine)) files.remove(path);
}

function hasEnded(owner: LockOwner | 'unknown'): boolean {
  return owner !== 'unknown' && hostProcesses.stateOf(owner) === 'ended';
}

/** Creates the lock file with its content in one step, unless it exists. */
function create(path: string, mine: LockOwner, files: LogFiles): boolean {
  return writeAside(path, { mine, files }, (aside) => {
    try {
      files.link(aside, path);
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
    }
    try {
      // For disks without links. A process killed in here leaves an empty lock.
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

/** Ignores failures: a leftover file is harmless, and the lock itself matters more. */
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
    // In doubt the lock is held.
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

// More than any lock needs; a longer file is not a lock.
const maxLockBytes = 4096;

function toOwner(value: unknown): LockOwner | undefined {
  const identity = toProcessIdentity(value);
  const token: unknown = isPlainObject(value) ? value['token'] : undefined;
  // The token becomes part of a file name.
  return identity !== undefined && typeof token === 'string' && /^[0-9a-f]{16}$/.test(token)
    ? { token, ...identity }
    : undefined;
}

function isOf(owner: LockOwner | 'unknown' | 'none', expected: LockOwner | 'unknown'): boolean {
  return typeof owner === 'object' && typeof expected === 'object'
    ? owner.token === expected.token
    : owner === expected;
}

/** Short, because file names are limited. */
function makeToken(): string {
  return randomBytes(8).toString('hex');
}
