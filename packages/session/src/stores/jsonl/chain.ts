import type { LogFiles } from '../../disk/files.ts';
import {
  beginning,
  type ChainPlace,
  type ChainProblem,
  linkOf,
  type ParsedRecord,
  parseRecord,
} from '../../log/chain.ts';
import type { LogRecord } from '../../log/log.ts';
import { LineReader, maxLineBytes } from './lines.ts';

/** Reads the records of one file in order, and stops at the first that does not follow the one before. */
export class ChainReader {
  readonly #lines: LineReader;
  #first: ChainPlace | undefined;
  #place: ChainPlace | undefined;
  #offset = 0;
  #lineBytes = 0;
  #problem: ChainProblem | undefined;

  /** `place`: where the file begins; `undefined`: at a snapshot, whatever there is before, or else at the beginning. */
  constructor(files: LogFiles, descriptor: number, place: ChainPlace | undefined) {
    this.#lines = new LineReader(files, descriptor);
    this.#first = place;
    this.#place = place;
  }

  /** Before the first record, once that has been read. */
  get first(): ChainPlace {
    return this.#first ?? beginning;
  }

  /** After the record that was given last. */
  get place(): ChainPlace {
    return this.#place ?? beginning;
  }

  /** Byte offset of the line after the record that was given last: of the problem when there is one. */
  get offset(): number {
    return this.#offset;
  }

  /** Of the record that was given last, with its newline. */
  get lineBytes(): number {
    return this.#lineBytes;
  }

  /** Why `next` gave no more records, unless the file has no more lines. */
  get problem(): ChainProblem | undefined {
    return this.#problem;
  }

  /** Bytes of a last line without its end, after `next` has given no more records. */
  get rest(): Uint8Array {
    return this.#lines.rest;
  }

  next(): LogRecord | undefined {
    if (this.#problem !== undefined) return undefined;
    const line = this.#lines.next();
    if (line === 'end') return undefined;
    const place = this.#place;
    const parsed = line === 'too-long' ? tooLong(place) : parseLine(line, place);
    if ('code' in parsed) {
      this.#problem = parsed;
      return undefined;
    }
    // A line that came is not 'too-long'.
    const head = linkOf(line as Buffer);
    this.#first ??= parsed.place;
    this.#place = { seq: parsed.record.seq + 1, head };
    this.#lineBytes = this.#lines.offset - this.#offset;
    this.#offset = this.#lines.offset;
    return parsed.record;
  }
}

function tooLong(place: ChainPlace = beginning): ChainProblem {
  return { code: 'log.record.invalid', message: `Record ${place.seq} is longer than ${maxLineBytes} bytes.` };
}

function parseLine(line: Uint8Array, place: ChainPlace | undefined): ParsedRecord {
  let text: string;
  try {
    text = decoder.decode(line);
  } catch {
    return { code: 'log.record.invalid', message: `Record ${(place ?? beginning).seq} is not UTF-8.` };
  }
  return parseRecord(text, place);
}

// A byte order mark is no part of a record: it makes a line that is none.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
