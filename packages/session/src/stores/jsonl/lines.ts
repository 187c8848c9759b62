import type { LogFiles } from '../../disk/files.ts';

/**
 * The longest line of a log, in bytes: 256 MiB. A longer record is not written, and what is longer in a file is no record, so that
 * reading needs no more memory than this, whatever a file holds.
 */
export const maxLineBytes: number = 256 * 1024 * 1024;

const newline = 10;
const chunkBytes = 1024 * 1024;

/** Reads a file line by line, and not further than asked. */
export class LineReader {
  readonly #files: LogFiles;
  readonly #descriptor: number;
  readonly #maxBytes: number;
  #buffer: Buffer;
  /** What of the buffer is filled, and what of that has been given. */
  #filled = 0;
  #given = 0;
  /** Of the first byte that has not been read. */
  #position: number;

  /** `from`: byte offset of the first line. */
  constructor(files: LogFiles, descriptor: number, from = 0, maxBytes: number = maxLineBytes) {
    this.#files = files;
    this.#descriptor = descriptor;
    this.#maxBytes = maxBytes;
    this.#position = from;
    // One more than there is, so that the end is met without a second buffer.
    const rest = Math.max(0, files.status(descriptor).size - from) + 1;
    this.#buffer = Buffer.allocUnsafe(Math.min(chunkBytes, rest, maxBytes + 1));
  }

  /** Byte offset of the line that comes next. */
  get offset(): number {
    return this.#position - this.#filled + this.#given;
  }

  /**
   * The next line without its newline, until the next call; `end` when there is none: `rest` then has the bytes after the last
   * newline. `too-long`: the line has more than the largest number of bytes.
   */
  next(): Buffer | 'end' | 'too-long' {
    let from = this.#given;
    for (;;) {
      const end = this.#buffer.indexOf(newline, from);
      // What follows the part that is filled is of earlier readings.
      if (end !== -1 && end < this.#filled) {
        const line = this.#buffer.subarray(this.#given, end);
        this.#given = end + 1;
        return line;
      }
      const seen = this.#filled - this.#given;
      if (seen > this.#maxBytes) return 'too-long';
      this.#makeRoom();
      from = seen;
      const more = this.#files.read(this.#descriptor, this.#buffer.subarray(seen), this.#position);
      if (more === 0) return 'end';
      this.#filled += more;
      this.#position += more;
    }
  }

  /** What follows the last newline, after `next` has answered `end`. */
  get rest(): Buffer {
    return this.#buffer.subarray(this.#given, this.#filled);
  }

  /** Moves what has not been given to the start, and doubles the buffer when it is full of that. */
  #makeRoom(): void {
    const { length } = this.#buffer;
    const seen = this.#filled - this.#given;
    const old = this.#buffer;
    if (seen === length) this.#buffer = Buffer.allocUnsafe(Math.min(2 * length, this.#maxBytes + 1));
    old.copy(this.#buffer, 0, this.#given, this.#filled);
    this.#given = 0;
    this.#filled = seen;
  }
}
