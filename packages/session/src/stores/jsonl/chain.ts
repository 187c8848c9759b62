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

/** Reads the records of one file in order, up to the first broken link. */
export class ChainReader {
  readonly #lines: LineReader;
  #first: ChainPlace | undefined;
  #place: ChainPlace | undefined;
  #offset = 0;
  #lineBytes = 0;
  #problem: ChainProblem | undefined;

  /** `place`: the position at the start of the file; `undefined`: that of a leading snapshot, or else the beginning. */
  constructor(files: LogFiles, descriptor: number, place: ChainPlace | undefined) {
    this.#lines = new LineReader(files, descriptor);
    this.#first = place;
    this.#place = place;
  }

  /** The position before the first record, once that was read. */
  get first(): ChainPlace {
    return this.#first ?? beginning;
  }

  /** The position after the last record. */
  get place(): ChainPlace {
    return this.#place ?? beginning;
  }

  /** Byte offset after the last record: where a problem is, if there is one. */
  get offset(): number {
    return this.#offset;
  }

  /** Size of the last record with its newline. */
  get lineBytes(): number {
    return this.#lineBytes;
  }

  /** Why `next` returned no more records, unless the file ended. */
  get problem(): ChainProblem | undefined {
    return this.#problem;
  }

  /** Bytes of an incomplete last line, after `next` has returned no more records. */
  get rest(): Uint8Array {
    return this.#lines.rest;
  }

  next(): LogRecord | undefined {
    if (this.#problem !== undefined) return undefined;
    const line = this.#lines.next();
    if (line === 'end') return undefined;
    const place = this.#place;
    if (line === 'too-long') {
      const message = `Record ${this.place.seq} is longer than ${maxLineBytes} bytes.`;
      this.#problem = { code: 'log.damaged', reason: 'record', message };
      return undefined;
    }
    const parsed = parseLine(line, place);
    if ('code' in parsed) {
      this.#problem = parsed;
      return undefined;
    }
    const head = linkOf(line);
    this.#first ??= parsed.place;
    this.#place = { seq: parsed.record.seq + 1, head };
    this.#lineBytes = this.#lines.offset - this.#offset;
    this.#offset = this.#lines.offset;
    return parsed.record;
  }
}

function parseLine(line: Uint8Array, place: ChainPlace | undefined): ParsedRecord {
  let text: string;
  try {
    text = decoder.decode(line);
  } catch {
    return { code: 'log.damaged', reason: 'record', message: `Record ${(place ?? beginning).seq} is not UTF-8.` };
  }
  return parseRecord(text, place);
}

// A byte order mark is not part of a record and makes its line invalid.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
