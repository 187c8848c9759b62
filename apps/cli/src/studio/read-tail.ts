import { type FileHandle, open, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { LogRecord } from '@holdfast/session';

/** How far a log has been read. */
export interface LogPlace {
  readonly file: bigint;
  readonly offset: number;
}

// Between two chunks the page is served: 20 ms on a machine of two cores.
const chunkBytes = 512 * 1024;
const newline = 10;
/** Records of calls and approvals; a child session's are wrapped. Anything else is not parsed. */
const wanted = /"type":"(?:tool-call-|approval-|child-record)/;

/**
 * Passes the new records about calls to `take`, and returns the place after them. Nothing is verified here: that would read a whole
 * log for each new record. The page of a call and every answer verify their log.
 */
export async function readTail(
  path: string,
  from: LogPlace | undefined,
  take: (record: LogRecord) => void,
): Promise<LogPlace> {
  const file = await open(path, 'r');
  try {
    const { ino, size } = await file.stat({ bigint: true });
    const isSame = from?.file === ino && size >= from.offset;
    if (!isSame) for (const older of await listOlder(path)) await readOlder(older, take);
    return { file: ino, offset: await readLines(file, isSame ? from.offset : 0, take) };
  } finally {
    await file.close();
  }
}

/** The older files of a rotated log: `one.jsonl.before-500` has the records before 500. */
async function listOlder(path: string): Promise<readonly string[]> {
  const name = `${basename(path)}.before-`;
  const seqOf = (file: string): number => Number(file.slice(name.length));
  const files = (await readdir(dirname(path))).filter((file) => file.startsWith(name) && seqOf(file) >= 0);
  return files.toSorted((one, other) => seqOf(one) - seqOf(other)).map((file) => join(dirname(path), file));
}

async function readOlder(path: string, take: (record: LogRecord) => void): Promise<void> {
  const file = await open(path, 'r');
  try {
    await readLines(file, 0, take);
  } finally {
    await file.close();
  }
}

/** Returns the offset after the last whole line. */
async function readLines(file: FileHandle, from: number, take: (record: LogRecord) => void): Promise<number> {
  let offset = from;
  let rest: Buffer = Buffer.alloc(0);
  for (;;) {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    const { bytesRead } = await file.read(chunk, 0, chunkBytes, offset + rest.length);
    if (bytesRead === 0) return offset;
    const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    const end = bytes.lastIndexOf(newline) + 1;
    for (const line of bytes.subarray(0, end).toString('utf8').split('\n')) {
      if (wanted.test(line)) takeLine(line, take);
    }
    offset += end;
    rest = bytes.subarray(end);
  }
}

function takeLine(line: string, take: (record: LogRecord) => void): void {
  let record: LogRecord;
  try {
    record = JSON.parse(line) as LogRecord;
  } catch {
    // Not a record: the verification of the log reports it.
    return;
  }
  take(record);
}
