import { HoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import type { LogFiles } from '../../disk/files.ts';

/** Brings what was appended to the disk: one sync for everybody who asks while another one is under way. */
export class DiskSync {
  readonly #files: LogFiles;
  #descriptor: number;
  #waiting: PromiseWithResolvers<void> | undefined;
  /** From the first request on until nobody waits. */
  #running = false;
  #syncing = false;
  #dirty = true;
  /** Files that are no longer written, and that a sync may still be under way for. */
  readonly #leaving: number[] = [];
  #failure: HoldfastError | undefined;

  constructor(files: LogFiles, descriptor: number) {
    this.#files = files;
    this.#descriptor = descriptor;
  }

  /** Set once a sync has failed: what the system kept of the records is not known, and asking again would not tell. */
  get failure(): HoldfastError | undefined {
    return this.#failure;
  }

  /** Something was appended. */
  touch(): void {
    this.#dirty = true;
  }

  /** @throws HoldfastError `log.sync_failed`, at once or by rejecting. */
  request(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (!this.#dirty && !this.#syncing) return Promise.resolve();
    this.#waiting ??= Promise.withResolvers<void>();
    const { promise } = this.#waiting;
    if (!this.#running) void this.#run();
    return promise;
  }

  /** As `request`, and returns when it is done. @throws HoldfastError `log.sync_failed`. */
  now(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (!this.#dirty) return;
    try {
      this.#files.sync(this.#descriptor);
      this.#dirty = false;
    } catch (cause) {
      throw this.#fail(cause);
    }
  }

  /** Goes on with a file that has a new name in `folder`; what it and the one before hold is on the disk. @throws as `now`. */
  moveTo(descriptor: number, folder: string): void {
    this.#descriptor = descriptor;
    try {
      this.#files.syncFolder(folder);
    } catch (cause) {
      throw this.#fail(cause);
    }
  }

  /** Closes a file as soon as no sync is under way: its number may be another file's afterwards. */
  close(descriptor: number): void {
    if (this.#running) this.#leaving.push(descriptor);
    else this.#files.close(descriptor);
  }

  async #run(): Promise<void> {
    this.#running = true;
    for (let group = this.#waiting; group !== undefined; group = this.#waiting) {
      this.#waiting = undefined;
      try {
        if (this.#failure !== undefined) throw this.#failure;
        this.#dirty = false;
        this.#syncing = true;
        await this.#files.syncLater(this.#descriptor);
        group.resolve();
      } catch (cause) {
        group.reject(this.#fail(cause));
      } finally {
        this.#syncing = false;
      }
      // Whoever was released goes on before the next sync begins, and shares it with those who wait already.
      await new Promise<void>((resolve) => process.nextTick(resolve));
    }
    this.#running = false;
    for (const descriptor of this.#leaving.splice(0)) this.#drop(descriptor);
  }

  #drop(descriptor: number): void {
    try {
      this.#files.close(descriptor);
    } catch {
      // What it held is on the disk, or its sync has failed and everybody knows.
    }
  }

  #fail(cause: unknown): HoldfastError {
    this.#failure ??= new HoldfastError(
      'log.sync_failed',
      `The session log could not be brought to the disk (${describeThrown(cause)}): which of its last records would survive a loss of power is not known. Close it, check the disk, and open it again.`,
      { cause },
    );
    return this.#failure;
  }
}
