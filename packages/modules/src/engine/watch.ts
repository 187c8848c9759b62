import { type Clock, HoldfastError } from '@holdfast/core';
import { EventStream } from '@holdfast/executor';
import { counterOf, type ModuleCounters, type ModuleEvent } from '../files/event.ts';
import { emptyShelf, type ModuleChange, type ModuleShelf, readChange, type ShelfSource } from '../files/shelf.ts';
import type { ModuleSource, ModuleSourceWatch } from '../files/source.ts';

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
  readonly #events: EventStream<ModuleEvent>;
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
    const onDrop = (): void => {
      this.#counters.missed += 1;
    };
    this.#events = new EventStream({ maxWaiting, onDrop });
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

/** A change that is to be read, and how. */
export interface WantedReload {
  readonly change: ModuleChange;
  /** Whether a missing file is taken to be gone. Default: it is. */
  readonly isGone?: (path: string) => boolean;
  /** Asked when it has been read; with false, nothing becomes of it. */
  readonly isWanted?: () => boolean;
}

export interface Reload {
  readonly before: ModuleShelf;
  readonly after: ModuleShelf;
  readonly events: readonly ModuleEvent[];
  readonly doubted: readonly string[];
}

/** The modules in force, and what makes others of them: one reload at a time, in the order in which they were asked for. */
export class ModuleReloads {
  readonly #source: ShelfSource;
  #shelf: ModuleShelf = emptyShelf;
  #last: Promise<unknown> = Promise.resolve();
  #listener: ((events: readonly ModuleEvent[]) => void) | undefined;

  constructor(source: ShelfSource) {
    this.#source = source;
  }

  get shelf(): ModuleShelf {
    return this.#shelf;
  }

  /** Tells one listener what reloads from now on bring about; `undefined` takes it back. It must not throw. */
  listen(listener: ((events: readonly ModuleEvent[]) => void) | undefined): void {
    this.#listener = listener;
  }

  /** `want` is asked when it is its turn. */
  run(want: () => WantedReload): Promise<Reload> {
    const next = this.#last.then(() => this.#run(want()));
    // Whoever asked is told of a failure; those after it are not.
    this.#last = next.catch(() => undefined);
    return next;
  }

  async #run({ change, isGone, isWanted = () => true }: WantedReload): Promise<Reload> {
    const before = this.#shelf;
    const options = { ...this.#source, ...(isGone === undefined ? {} : { isGone }) };
    const { shelf: after, events, doubted } = await readChange(before, change, options);
    if (!isWanted()) return { before, after: before, events: [], doubted: [] };
    this.#shelf = after;
    this.#listener?.(events);
    return { before, after, events, doubted };
  }
}
