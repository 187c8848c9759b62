import type { LogFiles } from '../../disk/files.ts';

/**
 * The longest line of a log in bytes: 256 MiB. Longer records are not written, and longer lines are not records, which bounds the memory
 * of reading any file.
 */
export const maxLineBytes: number = 256 * 1024 * 1024;

const newline = 10;
const chunkBytes = 1024 * 1024;

/** Reads a file line by line, no further than needed. */
export class LineReader {
  readonly #files: LogFiles;
  readonly #descriptor: number;
  readonly #maxBytes: number;
  #buffer: Buffer;
  /** Ends of the filled and of the returned part of the buffer. */
  #filled = 0;
  #given = 0;
  /** Offset of the first unread byte. */
  #position: number;

  /** `from`: byte offset of the first line. */
  constructor(files: LogFiles, descriptor: number, from = 0, maxBytes: number = maxLineBytes) {
    this.#files = files;
    this.#descriptor = descriptor;
    this.#maxBytes = maxBytes;
    this.#position = from;
    // One byte more than the file, so that its end is found without a second buffer.
    const rest = Math.max(0, files.status(descriptor).size - from) + 1;
    this.#buffer = Buffer.allocUnsafe(Math.min(chunkBytes, rest, maxBytes + 1));
  }

  /** Byte offset of the next line. */
  get offset(): number {
    return this.#position - this.#filled + this.#given;
  }

  /**
   * The next line without its newline, valid until the next call; `end` after the last newline: `rest` then has the remaining bytes.
   * `too-long`: the line exceeds the limit.
   */
  next(): Buffer | 'end' | 'too-long' {
    let from = this.#given;
    for (;;) {
      const end = this.#buffer.indexOf(newline, from);
      // The buffer beyond the filled part is stale.
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

  /** The bytes after the last newline, once `next` has returned `end`. */
  get rest(): Buffer {
    return this.#buffer.subarray(this.#given, this.#filled);
  }

  /** Moves unreturned bytes to the start, and doubles a full buffer. */
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
