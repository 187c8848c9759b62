import { HoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import type { LogFiles } from '../../disk/files.ts';

/** Syncs appended records to the disk: requests during a sync share the next one. */
export class DiskSync {
  readonly #files: LogFiles;
  #descriptor: number;
  #waiting: PromiseWithResolvers<void> | undefined;
  /** True from the first request until no request waits. */
  #running = false;
  #syncing = false;
  #dirty = true;
  /** Files no longer written to, which may still have a running sync. */
  readonly #leaving: number[] = [];
  #failure: HoldfastError | undefined;

  constructor(files: LogFiles, descriptor: number) {
    this.#files = files;
    this.#descriptor = descriptor;
  }

  /** Set after a failed sync: it is unknown which records are safe, and a retry would not tell. */
  get failure(): HoldfastError | undefined {
    return this.#failure;
  }

  /** Called after an append. */
  touch(): void {
    this.#dirty = true;
  }

  /** @throws HoldfastError `log.broken`, synchronously or as a rejection. */
  request(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (!this.#dirty && !this.#syncing) return Promise.resolve();
    this.#waiting ??= Promise.withResolvers<void>();
    const { promise } = this.#waiting;
    if (!this.#running) void this.#run();
    return promise;
  }

  /** Synchronous `request`. @throws HoldfastError `log.broken`. */
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

  /** Continues with a synced file that was renamed in `folder`. @throws as `now`. */
  moveTo(descriptor: number, folder: string): void {
    this.#descriptor = descriptor;
    try {
      this.#files.syncFolder(folder);
    } catch (cause) {
      throw this.#fail(cause);
    }
  }

  /** Closes a file when no sync is running, because its descriptor may be reused. */
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
      // Released callers run first, and share the next sync with those already waiting.
      await new Promise<void>((resolve) => process.nextTick(resolve));
    }
    this.#running = false;
    for (const descriptor of this.#leaving.splice(0)) this.#drop(descriptor);
  }

  #drop(descriptor: number): void {
    try {
      this.#files.close(descriptor);
    } catch {
      // Its content is synced, or the failure is already reported.
    }
  }

  #fail(cause: unknown): HoldfastError {
    this.#failure ??= new HoldfastError(
      'log.broken',
      `fsync of the session log failed (${describeThrown(cause)}). The last records may not survive a power failure. Close the log, check the disk, and open it again.`,
      { data: { reason: 'sync' }, cause },
    );
    return this.#failure;
  }
}
