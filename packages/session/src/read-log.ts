import { HoldfastError, isPlainObject } from '@holdfast/core';
import { hasCode, type LogFiles, nodeFiles } from './jsonl-files.ts';
import { firstLink, linkOf } from './jsonl-store.ts';
import type { LogRecord } from './log.ts';

/** What a log file holds, as far as it can be trusted. */
export interface LogReading {
  /** Whole records in order, up to the first problem. */
  readonly records: readonly LogRecord[];
  /** The link that the next record would carry; note it elsewhere to find a tail that was cut off later. */
  readonly head: string;
  /** Bytes of a last record that was not written to its end: where they begin, and how many. */
  readonly torn?: { readonly offset: number; readonly bytes: number };
  readonly problem?: LogProblem;
}

export interface LogProblem {
  /** `log.record.invalid` (not a record), `log.sequence` (a gap), `log.chain` (the line before was changed). */
  readonly code: 'log.record.invalid' | 'log.sequence' | 'log.chain';
  /** The record that was expected. */
  readonly seq: number;
  /** Byte offset of its line. */
  readonly offset: number;
  readonly message: string;
}

const newline = 10;

/** Reads and verifies a log file; a damaged one still gives its good beginning. @throws HoldfastError `log.missing`, `log.unreadable`. */
export function readLog(path: string): LogReading {
  return readJsonlLog(path, nodeFiles);
}

/** As `readLog`, on other files. */
export function readJsonlLog(path: string, files: LogFiles): LogReading {
  let bytes: Buffer;
  try {
    const descriptor = files.open(path, 'read');
    try {
      bytes = readWhole(files, descriptor);
    } finally {
      files.close(descriptor);
    }
  } catch (cause) {
    throw toMissingLog(path, cause);
  }
  return verifyLog(bytes);
}

export function readWhole(files: LogFiles, descriptor: number): Buffer {
  const bytes = Buffer.allocUnsafe(files.status(descriptor).size);
  let size = 0;
  while (size < bytes.length) {
    const more = files.read(descriptor, bytes.subarray(size), size);
    if (more === 0) break;
    size += more;
  }
  return bytes.subarray(0, size);
}

export function verifyLog(bytes: Buffer): LogReading {
  const records: LogRecord[] = [];
  let head = firstLink;
  let offset = 0;
  while (offset < bytes.length) {
    const end = bytes.indexOf(newline, offset);
    if (end === -1) return { records, head, torn: { offset, bytes: bytes.length - offset } };
    const line = bytes.subarray(offset, end);
    const parsed = parseRecord(line, records.length, head);
    if ('code' in parsed) return { records, head, problem: { ...parsed, seq: records.length, offset } };
    records.push(parsed.record);
    head = linkOf(line);
    offset = end + 1;
  }
  return { records, head };
}

/** What it means that reading the file threw `cause`. */
export function toMissingLog(path: string, cause: unknown): HoldfastError {
  return hasCode(cause, 'ENOENT')
    ? new HoldfastError('log.missing', `There is no session log at \`${path}\`.`, { cause })
    : new HoldfastError('log.unreadable', `The session log \`${path}\` cannot be read.`, { cause });
}

function parseRecord(
  line: Buffer,
  seq: number,
  head: string,
): { record: LogRecord } | Pick<LogProblem, 'code' | 'message'> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(line));
  } catch {
    return { code: 'log.record.invalid', message: `Record ${seq} is not JSON.` };
  }
  if (!isPlainObject(value) || typeof value['type'] !== 'string' || typeof value['atMs'] !== 'number') {
    return { code: 'log.record.invalid', message: `Record ${seq} has no type or time.` };
  }
  if (value['seq'] !== seq) {
    return {
      code: 'log.sequence',
      message: `Record ${seq} is missing: the next one is numbered ${String(value['seq'])}.`,
    };
  }
  const { prev, ...record } = value;
  if (prev !== head)
    return { code: 'log.chain', message: `Something before record ${seq} was changed after it was written.` };
  // Checked above; the other fields came from JSON.
  return { record: record as LogRecord };
}
