import { describeThrown, HoldfastError } from '@holdfast/core';
import { hasCode, type LogFiles, nodeFiles, writeAll } from './jsonl-files.ts';
import { lockLog } from './jsonl-lock.ts';
import { appendLines, type JsonlStore, toAppendFile } from './jsonl-store.ts';
import type { OpenedLog } from './log.ts';
import { type LogReading, readWhole, toMissingLog, verifyLog } from './read-log.ts';

/** A log file that is gone on with. */
export interface OpenedJsonlLog extends OpenedLog {
  readonly store: JsonlStore;
  /** A last record that was not written to its end, and so never acknowledged: it began at `offset`, and `keptAt` has its bytes. */
  readonly torn?: { readonly offset: number; readonly bytes: number; readonly keptAt: string };
}

/**
 * Opens a log file that is there, verifies it, and appends after its last whole record; `replay` makes its session again. No other
 * writer can open it until the store is closed or the process ends. A torn last record is moved to a file of its own beside the
 * log, `<path>.torn-<offset>`.
 *
 * @throws HoldfastError `log.missing`, `log.unreadable`, `log.unwritable`; `log.locked`; `log.record.invalid`, `log.sequence`,
 * `log.chain` with `seq` and `offset` in `data` for a log that was changed or damaged, which is left as it is. `append` as in
 * `jsonlStore`.
 */
export function openJsonlLog(path: string): OpenedJsonlLog {
  return goOnWithLog(path, nodeFiles);
}

/** As `openJsonlLog`, on other files. */
export function goOnWithLog(path: string, files: LogFiles): OpenedJsonlLog {
  // Under another name it would have another lock.
  const realPath = findFile(path, files);
  const unlock = lockLog(realPath, files);
  try {
    const descriptor = openFile(realPath, files);
    try {
      const bytes = readAll(descriptor, { path, files });
      const reading = verifyLog(bytes);
      refuseDamaged(reading, path);
      const { records, head, torn } = reading;
      const size = torn?.offset ?? bytes.length;
      const keptAt = torn && moveTail(realPath, { files, descriptor, tail: bytes.subarray(size), size });
      const after = { seq: records.length, size, head };
      const store = { path, ...appendLines(toAppendFile(files, descriptor, unlock), after) };
      return { records, store, ...(torn && keptAt !== undefined && { torn: { ...torn, keptAt } }) };
    } catch (error) {
      files.close(descriptor);
      throw error;
    }
  } catch (error) {
    unlock();
    throw error;
  }
}

function findFile(path: string, files: LogFiles): string {
  try {
    return files.realPath(path);
  } catch (cause) {
    throw toMissingLog(path, cause);
  }
}

function openFile(path: string, files: LogFiles): number {
  try {
    return files.open(path, 'read-append');
  } catch (cause) {
    throw new HoldfastError(
      'log.unwritable',
      `The session log \`${path}\` cannot be opened for writing: ${describeThrown(cause)}`,
      { cause },
    );
  }
}

function readAll(descriptor: number, { path, files }: { readonly path: string; readonly files: LogFiles }): Buffer {
  try {
    return readWhole(files, descriptor);
  } catch (cause) {
    throw toMissingLog(path, cause);
  }
}

function refuseDamaged({ problem }: LogReading, path: string): void {
  if (problem === undefined) return;
  const { code, seq, offset, message } = problem;
  throw new HoldfastError(
    code,
    `The session log \`${path}\` is damaged at byte ${offset}, and is not gone on with: ${message} \`readLog\` gives the ${seq} records before that; put a whole copy of the file back, or start a new session.`,
    { data: { path, seq, offset } },
  );
}

interface Tail {
  readonly files: LogFiles;
  readonly descriptor: number;
  readonly tail: Uint8Array;
  /** Of what stays. */
  readonly size: number;
}

/** Keeps `tail` in a new file, then cuts the log to `size`; answers where it is kept. */
function moveTail(path: string, { files, descriptor, tail, size }: Tail): string {
  for (let count = 1; ; count += 1) {
    const keptAt = `${path}.torn-${size}${count === 1 ? '' : `-${count}`}`;
    try {
      if (!keep(keptAt, tail, files)) continue;
      files.truncate(descriptor, size);
      return keptAt;
    } catch (cause) {
      throw new HoldfastError(
        'log.unwritable',
        `The session log \`${path}\` ends in a record that was not written to its end, which could not be moved to \`${keptAt}\`: ${describeThrown(cause)}`,
        { cause },
      );
    }
  }
}

/** False when there is a file of that name. */
function keep(path: string, bytes: Uint8Array, files: LogFiles): boolean {
  let descriptor: number;
  try {
    descriptor = files.open(path, 'new');
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
  try {
    try {
      writeAll(files, descriptor, bytes);
    } finally {
      files.close(descriptor);
    }
    return true;
  } catch (error) {
    files.remove(path);
    throw error;
  }
}
