import { randomBytes } from 'node:crypto';
import { describeThrown, HoldfastError, isPlainObject } from '@holdfast/core';
import { hasCode, type LogFiles, writeAll } from './files.ts';
import { describeProcess, hasEnded, isProcessIdentity, type ProcessIdentity } from './process-identity.ts';

/** What a lock file says of the one that holds it. */
interface Owner extends ProcessIdentity {
  /** Of this lock alone. */
  readonly token: string;
}

/**
 * Keeps every other writer, in this process or another, from the log until the answer is called. The lock is the file
 * `<logPath>.lock`; one whose process has ended is taken over.
 *
 * @throws HoldfastError `log.locked` with `process` and `lock` in `data`; `log.unwritable` where the lock file cannot be made.
 */
export function lockLog(logPath: string, files: LogFiles): () => void {
  const path = `${logPath}.lock`;
  const mine = { token: makeToken(), ...describeProcess() };
  let holder: Owner | 'unknown' | undefined;
  try {
    holder = take(path, mine, files);
  } catch (cause) {
    throw new HoldfastError(
      'log.unwritable',
      `The session log \`${logPath}\` cannot be locked for writing: ${describeThrown(cause)}`,
      { cause },
    );
  }
  if (holder !== undefined) throw locked(logPath, path, holder);
  return () => {
    // Somebody may have removed it by hand, and then it may be another's.
    if (isOf(readOwner(path, files), mine)) files.remove(path);
  };
}

function locked(logPath: string, path: string, holder: Owner | 'unknown'): HoldfastError {
  const who = holder === 'unknown' ? 'somebody' : `process ${holder.pid} on \`${holder.host}\``;
  return new HoldfastError(
    'log.locked',
    `The session log \`${logPath}\` has a writer already: ${who}. Close the session there, or end that process; only when you are sure that it has ended, remove \`${path}\`.`,
    { data: { lock: path, ...(holder === 'unknown' ? {} : { process: holder.pid, host: holder.host }) } },
  );
}

/** Who else holds the lock; `undefined` when it is `mine` now. */
function take(path: string, mine: Owner, files: LogFiles): Owner | 'unknown' | undefined {
  for (;;) {
    if (create(path, mine, files)) return undefined;
    const owner = readOwner(path, files);
    if (owner === 'none') continue;
    // The system said that it failed, and it had not.
    if (isOf(owner, mine)) return undefined;
    if (owner === 'unknown' || !hasEnded(owner, mine)) return owner;
    // Who takes over from this owner is decided by a lock of its own, so that nobody replaces the lock of whoever was faster.
    // Its name is the dead owner's: it is never asked for again once that one's lock is gone.
    const claim = `${path}.${owner.token}`;
    const other = take(claim, mine, files);
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

/** Makes the lock file together with its content, unless it is there. */
function create(path: string, mine: Owner, files: LogFiles): boolean {
  return writeAside(path, { mine, files }, (aside) => {
    try {
      files.link(aside, path);
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
    }
    try {
      // For disks without links. A process that is killed within this leaves a lock that says nothing, and counts as held.
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
  { mine, files }: { readonly mine: Owner; readonly files: LogFiles },
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

function readOwner(path: string, files: LogFiles): Owner | 'unknown' | 'none' {
  let text: string;
  try {
    text = readText(path, files);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'none';
    throw error;
  }
  try {
    const value: unknown = JSON.parse(text);
    return isOwner(value) ? value : 'unknown';
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

function isOwner(value: unknown): value is Owner {
  // The token becomes a part of a file name.
  return isPlainObject(value) && /^[0-9a-f]{16}$/.test(String(value['token'])) && isProcessIdentity(value);
}

function isOf(owner: Owner | 'unknown' | 'none', expected: Owner): boolean {
  return typeof owner === 'object' && owner.token === expected.token;
}

/** Short: file names are limited. */
function makeToken(): string {
  return randomBytes(8).toString('hex');
}
