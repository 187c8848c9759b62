import { hash } from 'node:crypto';
import { closeSync, ftruncateSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeThrown, HoldfastError } from '@holdfast/core';
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
 * Each line holds the SHA-256 of the line before it, so that an edit anywhere but at the end shows.
 *
 * @throws HoldfastError `log.exists`, `log.unwritable`; from `append` `log.write_failed`, after which nothing of the record is left
 * in the file, or, when even that could not be undone, `log.broken` at every further append.
 */
export function jsonlStore(path: string): JsonlStore {
  return { path, ...appendLines(openFile(path)) };
}

/** The file as `appendLines` uses it. */
export interface AppendFile {
  /** Writes some of `bytes` from `start` on and says how many. */
  write(bytes: Uint8Array, start: number): number;
  truncate(size: number): void;
  close(): void;
}

export function appendLines(file: AppendFile): SessionStore {
  let size = 0;
  let previous = firstLink;
  let broken = false;

  return {
    append(entry: LogEntry, seq: number, atMs: number) {
      if (broken) {
        throw new HoldfastError(
          'log.broken',
          'An earlier write to the session log failed halfway; start a new session.',
        );
      }
      const line = JSON.stringify({ seq, prev: previous, atMs, ...entry });
      const bytes = Buffer.from(`${line}\n`);
      try {
        for (let written = 0; written < bytes.length; ) written += file.write(bytes, written);
      } catch (cause) {
        broken = !cut(file, size);
        throw new HoldfastError(
          'log.write_failed',
          `The session log could not be written; is the disk full? (${describeThrown(cause)}) What cannot be recorded is not done.`,
          { cause },
        );
      }
      size += bytes.length;
      previous = linkOf(line);
    },
    close: () => file.close(),
  };
}

function openFile(path: string): AppendFile {
  let descriptor: number;
  try {
    mkdirSync(dirname(path), { recursive: true });
    // Appending and exclusive: a log that is there already belongs to another session.
    descriptor = openSync(path, 'ax', 0o600);
  } catch (cause) {
    if (
      cause instanceof Error &&
      'syscall' in cause &&
      cause.syscall === 'open' &&
      'code' in cause &&
      cause.code === 'EEXIST'
    ) {
      throw new HoldfastError('log.exists', `\`${path}\` exists already; a session starts a log of its own.`, {
        cause,
      });
    }
    throw new HoldfastError(
      'log.unwritable',
      `The session log \`${path}\` cannot be created: ${describeThrown(cause)}`,
      { cause },
    );
  }
  return {
    write: (bytes, start) => writeSync(descriptor, bytes, start),
    truncate: (size) => ftruncateSync(descriptor, size),
    close: () => closeSync(descriptor),
  };
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
