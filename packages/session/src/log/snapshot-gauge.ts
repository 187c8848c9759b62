import { HoldfastError } from '@holdfast/core';

export interface SnapshotOptions {
  /**
   * Bytes of records after which the store asks its session for a snapshot, so that opening the log reads from there. At least three
   * times the size of the last snapshot, so that they cost little however large the state is. Default: 8 MiB. `Infinity`: never.
   */
  readonly snapshotAfterBytes?: number;
}

const defaultBytes = 8 * 1024 * 1024;
const timesSnapshot = 3;

/** Tells when a log is so long that a snapshot is worth its cost. */
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

  /** A record is in the log. */
  note(type: string, bytes: number): void {
    if (type === 'snapshot') {
      this.#bytes = 0;
      this.#snapshotBytes = bytes;
    } else {
      this.#bytes += bytes;
    }
  }

  /** A snapshot could not be written: the next one is as far away as if it had been. */
  postpone(): void {
    this.#bytes = 0;
  }
}

/** What a store says of snapshots. A class: V8 keeps what a getter of an object literal sees beyond the life of the object. */
export class Gauged {
  readonly isDue: () => boolean;

  constructor(isDue: () => boolean) {
    this.isDue = isDue;
  }

  get snapshotDue(): boolean {
    return this.isDue();
  }
}
