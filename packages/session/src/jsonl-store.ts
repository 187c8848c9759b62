import { hash } from 'node:crypto';
import { dirname } from 'node:path';
import { describeThrown, HoldfastError } from '@holdfast/core';
import { hasCode, type LogFiles, nodeFiles, writeAll } from './jsonl-files.ts';
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
  return createJsonlLog(path, nodeFiles);
}

/** As `jsonlStore`, on other files. */
export function createJsonlLog(path: string, files: LogFiles): JsonlStore {
  return { path, ...appendLines(createFile(path, files)) };
}

/** The file as `appendLines` uses it. */
export interface AppendFile {
  /** Appends all of `bytes`. */
  write(bytes: Uint8Array): void;
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
        file.write(bytes);
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
export function toAppendFile(files: LogFiles, descriptor: number, unlock: () => void): AppendFile {
  return {
    write: (bytes) => writeAll(files, descriptor, bytes),
    truncate: (size) => files.truncate(descriptor, size),
    close() {
      try {
        files.close(descriptor);
      } finally {
        unlock();
      }
    },
  };
}

function createFile(path: string, files: LogFiles): AppendFile {
  try {
    files.makeFolder(dirname(path));
  } catch (cause) {
    throw unwritable(path, cause);
  }
  // Before anybody is kept out: most files that exist are finished logs.
  if (files.find(path) !== undefined) throw exists(path);
  const unlock = lockLog(path, files);
  try {
    // Exclusive: a log that is there already belongs to another session.
    return toAppendFile(files, files.open(path, 'new'), unlock);
  } catch (cause) {
    unlock();
    throw hasCode(cause, 'EEXIST') ? exists(path, cause) : unwritable(path, cause);
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
