import { type Clock, HoldfastError } from '@holdfast/core';
import { BoundedStream } from './bounded-stream.ts';
import { counterOf, type ModuleCounters, type ModuleEvent } from './module-event.ts';
import type { ModuleReloads } from './module-reloads.ts';
import type { ModuleChange } from './module-shelf.ts';
import type { ModuleSource, ModuleSourceWatch } from './module-source.ts';

/**
 * The watch of an engine. Each `for await` over it sees what happens after it began, and ends when the watch is closed. 1,000 events wait
 * for a slow reader; then it loses the oldest, and nobody else is held up.
 */
export interface ModuleWatch extends AsyncIterable<ModuleEvent> {
  /** Since the watch began. */
  readonly counters: ModuleCounters;
  /** Ends the watch. What it is just reading is dropped. Another one may be started. */
  close(): void;
}

/** Changes come in groups, and an editor may take a moment to write a file. */
const settleMs = 50;
/** How many events wait for a reader. */
const maxWaiting = 1000;
/** From so many on, everything is read again. */
const maxPaths = 10_000;

export interface WatchParts {
  readonly source: ModuleSource;
  readonly reloads: ModuleReloads;
  readonly clock: Clock;
  readonly onClose: () => void;
}

/** @throws HoldfastError `modules.watch_unavailable`, and what the source's `watch` rejects with. */
export async function startWatch(parts: WatchParts): Promise<ModuleWatch> {
  const watch = new SourceWatch(parts);
  try {
    await watch.start();
  } catch (thrown) {
    watch.close();
    throw thrown;
  }
  return watch;
}

class SourceWatch implements ModuleWatch {
  readonly #parts: WatchParts;
  readonly #events: BoundedStream<ModuleEvent>;
  readonly #counters = { reloaded: 0, failed: 0, skipped: 0, removed: 0, missed: 0 };
  #watcher: ModuleSourceWatch | undefined;
  /** What has been told and not yet read; `all`: it may be anything. */
  #changed: Set<string> | 'all' = new Set();
  /** Files that are missing, and since when. An editor may write by moving one away and then another one to its place. */
  #doubted: ReadonlyMap<string, number> = new Map();
  #cancelTimer: (() => void) | undefined;
  #isQueued = false;
  #isClosed = false;

  constructor(parts: WatchParts) {
    this.#parts = parts;
    this.#events = new BoundedStream(maxWaiting, () => {
      this.#counters.missed += 1;
    });
  }

  get counters(): ModuleCounters {
    return Object.freeze({ ...this.#counters });
  }

  async start(): Promise<void> {
    const { source, reloads } = this.#parts;
    if (source.watch === undefined) {
      throw new HoldfastError(
        'modules.watch_unavailable',
        `\`${source.name}\` does not tell of changes, so it cannot be watched; call \`reloadAll\` when it has changed.`,
      );
    }
    this.#watcher = await source.watch((path) => this.changed(path));
    // It may have changed since it was read for the engine, when nobody watched.
    await reloads.run(() => ({ change: { type: 'all' } }));
    reloads.listen((events) => this.#tell(events));
  }

  changed(path: string | undefined): void {
    if (this.#isClosed) return;
    if (path === undefined || this.#changed === 'all' || this.#changed.size >= maxPaths) this.#changed = 'all';
    else this.#changed.add(path);
    // Not put off by what comes later: changes that never end must not go unseen.
    this.#cancelTimer ??= this.#parts.clock.after(settleMs, () => {
      this.#cancelTimer = undefined;
      void this.#reload();
    });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancelTimer?.();
    this.#parts.reloads.listen(undefined);
    this.#events.end();
    this.#parts.onClose();
    this.#watcher?.close();
  }

  [Symbol.asyncIterator](): AsyncIterator<ModuleEvent> {
    return this.#events[Symbol.asyncIterator]();
  }

  async #reload(): Promise<void> {
    // One that has not begun reads this, too.
    if (this.#isQueued) return;
    this.#isQueued = true;
    const { reloads, clock } = this.#parts;
    const { doubted } = await reloads.run(() => {
      this.#isQueued = false;
      return {
        change: this.#take(),
        // Either way: a clock may be set back.
        isGone: (path) => Math.abs(clock.now() - (this.#doubted.get(path) ?? clock.now())) >= settleMs,
        isWanted: () => !this.#isClosed,
      };
    });
    const nowMs = clock.now();
    this.#doubted = new Map(doubted.map((path) => [path, this.#doubted.get(path) ?? nowMs]));
    for (const path of doubted) this.changed(path);
  }

  #take(): ModuleChange {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed === 'all' ? { type: 'all' } : { type: 'files', paths: changed };
  }

  #tell(events: readonly ModuleEvent[]): void {
    for (const event of events) {
      this.#counters[counterOf[event.type]] += 1;
      this.#events.push(event);
    }
  }
}
