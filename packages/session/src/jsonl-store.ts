import { hash } from 'node:crypto';
import { closeSync, existsSync, ftruncateSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeThrown, HoldfastError } from '@holdfast/core';
import { lockLog } from './jsonl-lock.ts';
import type { LogEntry, SessionStore } from './log.ts';

/** A store that appends one line of JSON a record. */
export interface JsonlStore extends SessionStore {
  readonly path: string;
}

/** The link of the first record, which follows none. */
export const firstLink: string = '0'.repeat(64);

/** What the next record's `prev` must be: the SHA-256 of the bytes of this line without its newline. */
export function linkOf(line: string | Uint8Array): string {
  return hash('sha256', line, 'hex');
}

/**
 * Opens a new log file, making its folder. `append` returns when the operating system has the line: it survives the end of the process.
 * Each line holds the SHA-256 of the line before it, so that an edit anywhere but at the end shows. Until it is closed, or its
 * process ends, no other writer can open the file.
 *
 * @throws HoldfastError `log.exists`, `log.unwritable`, `log.locked`; from `append` `log.write_failed`, after which nothing of the
 * record is left in the file, or, when even that could not be undone, `log.broken` at every further append; `log.sequence` for a
 * record that does not follow the last one, `session.closed` after `close`.
 */
export function jsonlStore(path: string): JsonlStore {
  return { path, ...appendLines(createFile(path)) };
}

/** The file as `appendLines` uses it. */
export interface AppendFile {
  /** Writes some of `bytes` from `start` on and says how many. */
  write(bytes: Uint8Array, start: number): number;
  truncate(size: number): void;
  close(): void;
}

/** Where a log ends: how many records and bytes it has, and the link of the next one. */
export interface LogEnd {
  readonly seq: number;
  readonly size: number;
  readonly head: string;
}

export function appendLines(file: AppendFile, after: LogEnd = { seq: 0, size: 0, head: firstLink }): SessionStore {
  let { seq: next, size, head } = after;
  let state: 'open' | 'broken' | 'closed' = 'open';

  return {
    append(entry: LogEntry, seq: number, atMs: number) {
      if (state !== 'open') throw unusable(state);
      if (seq !== next) throw misplaced(seq, next);
      const line = JSON.stringify({ seq, prev: head, atMs, ...entry });
      const bytes = Buffer.from(`${line}\n`);
      try {
        for (let written = 0; written < bytes.length; ) written += file.write(bytes, written);
      } catch (cause) {
        if (!cut(file, size)) state = 'broken';
        throw new HoldfastError(
          'log.write_failed',
          `The session log could not be written; is the disk full? (${describeThrown(cause)}) What cannot be recorded is not done.`,
          { cause },
        );
      }
      size += bytes.length;
      head = linkOf(line);
      next += 1;
    },
    close() {
      // Once: its descriptor may be another file's by now.
      if (state === 'closed') return;
      state = 'closed';
      file.close();
    },
  };
}

function unusable(state: 'broken' | 'closed'): HoldfastError {
  return state === 'closed'
    ? new HoldfastError('session.closed', 'The session log is closed; open it again with `openJsonlLog`.')
    : new HoldfastError(
        'log.broken',
        'An earlier write to the session log failed halfway; close it, and open it again with `openJsonlLog`, or start a new session.',
      );
}

function misplaced(seq: number, next: number): HoldfastError {
  return new HoldfastError(
    'log.sequence',
    `The log goes on with record ${next}, not ${seq}; make the session of an opened log with \`replay\`, and use a store for one session only.`,
    { data: { seq, expected: next } },
  );
}

/** `unlock` is called after the file was closed. */
export function toAppendFile(descriptor: number, unlock: () => void): AppendFile {
  return {
    write: (bytes, start) => writeSync(descriptor, bytes, start),
    truncate: (size) => ftruncateSync(descriptor, size),
    close() {
      try {
        closeSync(descriptor);
      } finally {
        unlock();
      }
    },
  };
}

function createFile(path: string): AppendFile {
  makeFolder(path);
  // Before anybody is kept out: most files that exist are finished logs.
  if (existsSync(path)) throw exists(path);
  const unlock = lockLog(path);
  try {
    // Appending and exclusive: a log that is there already belongs to another session.
    return toAppendFile(openSync(path, 'ax', 0o600), unlock);
  } catch (cause) {
    unlock();
    throw cause instanceof Error && 'code' in cause && cause.code === 'EEXIST'
      ? exists(path, cause)
      : unwritable(path, cause);
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

function exists(path: string, cause?: unknown): HoldfastError {
  return new HoldfastError(
    'log.exists',
    `\`${path}\` exists already; a session starts a log of its own, and \`openJsonlLog\` goes on with one.`,
    { cause },
  );
}

function unwritable(path: string, cause: unknown): HoldfastError {
  return new HoldfastError(
    'log.unwritable',
    `The session log \`${path}\` cannot be created: ${describeThrown(cause)}`,
    { cause },
  );
}

function cut(file: AppendFile, size: number): boolean {
  try {
    file.truncate(size);
    return true;
  } catch {
    // The caller reports the write that failed; the store then refuses to go on.
    return false;
  }
}
