import { HoldfastError } from '@holdfast/core';

export interface SnapshotOptions {
  /**
   * Bytes of records after which the store asks its session for a snapshot, from which opening the log then reads. At least three times
   * the size of the last snapshot, so that snapshots stay cheap at any state size. Default: 8 MiB. `Infinity`: never.
   */
  readonly snapshotAfterBytes?: number;
}

const defaultBytes = 8 * 1024 * 1024;
const timesSnapshot = 3;

/** Decides when a log is long enough for a snapshot. */
export class SnapshotGauge {
  readonly #afterBytes: number;
  #bytes = 0;
  #snapshotBytes = 0;

  /** @throws HoldfastError `options.invalid`. */
  constructor({ snapshotAfterBytes = defaultBytes }: SnapshotOptions) {
    if (typeof snapshotAfterBytes !== 'number' || !(snapshotAfterBytes >= 0)) {
      throw new HoldfastError(
        'options.invalid',
        `\`snapshotAfterBytes\` must be a number of bytes, 0 or more, got ${String(snapshotAfterBytes)}.`,
      );
    }
    this.#afterBytes = snapshotAfterBytes;
  }

  get due(): boolean {
    return this.#bytes > 0 && this.#bytes >= Math.max(this.#afterBytes, timesSnapshot * this.#snapshotBytes);
  }

  /** Counts a record that was appended. */
  note(type: string, bytes: number): void {
    if (type === 'snapshot') {
      this.#bytes = 0;
      this.#snapshotBytes = bytes;
    } else {
      this.#bytes += bytes;
    }
  }

  /** Called when a snapshot failed: the next one is as far away as after a success. */
  postpone(): void {
    this.#bytes = 0;
  }
}

/** Base of stores with `snapshotDue`. A class, because V8 keeps the closure of an object literal's getter alive. */
export class Gauged {
  readonly isDue: () => boolean;

  constructor(isDue: () => boolean) {
    this.isDue = isDue;
  }

  get snapshotDue(): boolean {
    return this.isDue();
  }
}
