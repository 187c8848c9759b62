import { randomBytes } from 'node:crypto';
import {
  constants,
  copyFileSync,
  linkSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { describeThrown, HoldfastError, isPlainObject } from '@holdfast/core';

/** What a lock file says of the one that holds it. */
interface Owner {
  /** Of this lock alone. */
  readonly token: string;
  readonly pid: number;
  readonly host: string;
  /** Whose numbers of processes `pid` is one of: containers count on their own. Empty where the system does not tell. */
  readonly pidSpace: string;
  /** Tells a reused `pid` apart; empty where the system does not tell. */
  readonly startedAt: string;
}

/**
 * Keeps every other writer, in this process or another, from the log until the answer is called. The lock is the file
 * `<logPath>.lock`; one whose process has ended is taken over.
 *
 * @throws HoldfastError `log.locked` with `process` and `lock` in `data`; `log.unwritable` where the lock file cannot be made.
 */
export function lockLog(logPath: string): () => void {
  const path = `${logPath}.lock`;
  const mine = describeMyself();
  let holder: Owner | 'unknown' | undefined;
  try {
    holder = take(path, mine);
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
    if (isOf(readOwner(path), mine)) rmSync(path, { force: true });
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
function take(path: string, mine: Owner): Owner | 'unknown' | undefined {
  for (;;) {
    if (create(path, mine)) return undefined;
    const owner = readOwner(path);
    if (owner === 'none') continue;
    if (owner === 'unknown' || !hasEnded(owner, mine)) return owner;
    // Who takes over from this owner is decided by a lock of its own, so that nobody replaces the lock of whoever was faster.
    // Its name is the dead owner's: it is never asked for again once that one's lock is gone.
    const claim = `${path}.${owner.token}`;
    const other = take(claim, mine);
    if (other !== undefined) return other;
    try {
      if (isOf(readOwner(path), owner)) {
        writeAside(path, mine, (aside) => renameSync(aside, path));
        return undefined;
      }
    } finally {
      rmSync(claim, { force: true });
    }
  }
}

/** Makes the lock file together with its content, unless it is there. */
function create(path: string, mine: Owner): boolean {
  return writeAside(path, mine, (aside) => {
    try {
      linkSync(aside, path);
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
    }
    try {
      // For disks without links. A process that is killed within this leaves a lock that says nothing, and counts as held.
      copyFileSync(aside, path, constants.COPYFILE_EXCL);
      return true;
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return false;
      throw error;
    }
  });
}

function writeAside<T>(path: string, mine: Owner, use: (aside: string) => T): T {
  const aside = `${path}.${makeToken()}.new`;
  try {
    writeFileSync(aside, JSON.stringify(mine), { flag: 'wx', mode: 0o600 });
    return use(aside);
  } finally {
    rmSync(aside, { force: true });
  }
}

function readOwner(path: string): Owner | 'unknown' | 'none' {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
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

function isOwner(value: unknown): value is Owner {
  return (
    isPlainObject(value) &&
    // It becomes a part of a file name.
    /^[0-9a-f]{16}$/.test(String(value['token'])) &&
    Number.isSafeInteger(value['pid']) &&
    Number(value['pid']) > 0 &&
    ['host', 'pidSpace', 'startedAt'].every((key) => typeof value[key] === 'string')
  );
}

function isOf(owner: Owner | 'unknown' | 'none', expected: Owner): boolean {
  return typeof owner === 'object' && owner.token === expected.token;
}

/** Short: file names are limited. */
function makeToken(): string {
  return randomBytes(8).toString('hex');
}

function describeMyself(): Owner {
  return {
    token: makeToken(),
    pid: process.pid,
    host: hostname(),
    pidSpace: readPidSpace(),
    startedAt: readProcess(process.pid).startedAt,
  };
}

/** Only when that is certain. */
function hasEnded(owner: Owner, mine: Owner): boolean {
  if (owner.host !== mine.host || owner.pidSpace !== mine.pidSpace) return false;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    // A process of another user is there, and may not be asked.
    if (!hasCode(error, 'EPERM')) return true;
  }
  const { state, startedAt } = readProcess(owner.pid);
  // Nobody has asked yet how it ended, but it has.
  if (state === 'Z' || state === 'X') return true;
  return owner.startedAt !== '' && startedAt !== '' && owner.startedAt !== startedAt;
}

function readPidSpace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    // Not Linux, or hidden: the host's name has to do.
    return '';
  }
}

/** Linux only: its state and when it started, in ticks since the machine did; empty where they cannot be read. */
function readProcess(pid: number): { readonly state: string; readonly startedAt: string } {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Its second field is a name in parentheses, which may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? '', startedAt: fields[19] ?? '' };
  } catch {
    return { state: '', startedAt: '' };
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
