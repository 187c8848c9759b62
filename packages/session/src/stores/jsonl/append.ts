import { dirname } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { type LogFiles, writeAll } from '../../disk/files.ts';
import { lockLog } from './lock.ts';
import { isSame, rotate } from './rotate.ts';
import { DiskSync } from './sync.ts';

/** An open, complete and locked log file. */
export interface OpenFile {
  /** Absolute: the working directory may change. */
  readonly path: string;
  readonly files: LogFiles;
  readonly descriptor: number;
  /** Bytes. */
  readonly size: number;
  /** Called after the file is closed. */
  readonly unlock: () => void;
}

/** The file to which log lines are appended; after a snapshot, the next file. Lines end in a newline. */
export class AppendFile {
  readonly #path: string;
  readonly #files: LogFiles;
  /** Absent while other writers have their turn. */
  #unlock: (() => void) | undefined;
  readonly #disk: DiskSync | undefined;
  #descriptor: number;
  #size: number;
  /** The error that prevents further appends. */
  #broken: unknown;

  /** `disk`: appended lines can be synced to the disk. */
  constructor({ path, files, descriptor, size, unlock }: OpenFile, disk: boolean) {
    this.#path = path;
    this.#files = files;
    this.#descriptor = descriptor;
    this.#size = size;
    this.#unlock = unlock;
    this.#disk = disk ? new DiskSync(files, descriptor) : undefined;
  }

  /** Gives up the lock until `retake`. */
  release(): void {
    const unlock = this.#unlock;
    this.#unlock = undefined;
    unlock?.();
  }

  /** Takes the lock again, unless the file is not as it was left. @throws HoldfastError `log.locked`, `log.write_failed`. */
  retake(): boolean {
    this.#unlock ??= lockLog(this.#path, this.#files);
    if (this.#isAsLeft()) return true;
    this.release();
    return false;
  }

  /** @throws HoldfastError `log.broken`. */
  checkWhole(): void {
    if (this.#unlock === undefined)
      throw new HoldfastError('log.broken', 'The session log was released for other writers; call `retake` first.', {
        data: { reason: 'released' },
      });
    const cause = this.#broken ?? this.#disk?.failure;
    if (cause === undefined) return;
    throw new HoldfastError(
      'log.broken',
      `An earlier write to the session log was incomplete, or its sync failed (${describeThrown(cause)}); close it, and open it again with \`openJsonlLog\`, or start a new session.`,
      { cause },
    );
  }

  /** Appends all of `line` or nothing. @throws HoldfastError `log.write_failed`. */
  append(line: Uint8Array): void {
    this.#disk?.touch();
    try {
      writeAll(this.#files, this.#descriptor, line);
    } catch (cause) {
      this.#cut();
      throw writeFailed(cause);
    }
    this.#size += line.length;
  }

  /** Appends record `seq`, a snapshot, as the first line of a new file. @throws HoldfastError `log.write_failed`. */
  appendFirst(line: Uint8Array, seq: number): void {
    const old = { path: this.#path, descriptor: this.#descriptor, files: this.#files };
    let next: number | undefined;
    try {
      // Later syncs cover only the new file.
      this.#disk?.now();
      next = rotate({ ...old, seq, line });
    } catch (cause) {
      this.#broken = cause;
      throw writeFailed(cause);
    }
    if (next === undefined) this.append(line);
    else this.#goOn(next, line.length);
  }

  /** `undefined` if only survival of the process was promised. */
  get sync(): (() => Promise<void>) | undefined {
    const disk = this.#disk;
    return disk && (() => disk.request());
  }

  /** @throws HoldfastError `log.broken`, and errors of the file system. */
  close(): void {
    const disk = this.#disk;
    try {
      try {
        if (disk?.failure === undefined) disk?.now();
      } finally {
        this.#closeFile(this.#descriptor);
      }
    } finally {
      this.release();
    }
  }

  #isAsLeft(): boolean {
    if (this.#broken !== undefined || this.#disk?.failure !== undefined) return false;
    const { size } = this.#files.status(this.#descriptor);
    return size === this.#size && isSame(this.#path, this.#descriptor, this.#files);
  }

  #goOn(descriptor: number, size: number): void {
    const old = this.#descriptor;
    this.#descriptor = descriptor;
    this.#size = size;
    // The line is written: a failure from here on prevents only further lines.
    try {
      try {
        this.#disk?.moveTo(descriptor, dirname(this.#path));
      } finally {
        this.#closeFile(old);
      }
    } catch (cause) {
      this.#broken = cause;
    }
  }

  #closeFile(descriptor: number): void {
    if (this.#disk === undefined) this.#files.close(descriptor);
    else this.#disk.close(descriptor);
  }

  /** Removes a partially written line. */
  #cut(): void {
    try {
      this.#files.truncate(this.#descriptor, this.#size);
    } catch (cause) {
      this.#broken = cause;
    }
  }
}

function writeFailed(cause: unknown): HoldfastError {
  return new HoldfastError(
    'log.write_failed',
    `The session log could not be written; is the disk full? (${describeThrown(cause)}) Nothing was done, because it could not be recorded.`,
    { cause },
  );
}
