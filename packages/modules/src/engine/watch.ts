import { type Clock, HoldfastError } from '@holdfast/core';
import { EventStream } from '@holdfast/executor/internal';
import { counterOf, type ModuleCounters, type ModuleEvent } from '../files/event.ts';
import { emptyShelf, type ModuleChange, type ModuleShelf, readChange, type ShelfSource } from '../files/shelf.ts';
import type { ModuleSource, ModuleSourceWatch } from '../files/source.ts';

/**
 * The watch of an engine. Each `for await` yields the events after its start and ends when the watch is closed. Up to 1,000 events wait for
 * a slow reader; then it loses the oldest. Readers do not block each other.
 */
export interface ModuleWatch extends AsyncIterable<ModuleEvent> {
  /** Counted since the watch started. */
  readonly counters: ModuleCounters;
  /** Ends the watch and discards any reload in progress. Another watch may be started. */
  close(): void;
}

/** Changes come in groups, and an editor may need a moment to write a file. */
const settleMs = 50;
/** Maximum number of events that wait for a reader. */
const maxWaiting = 1000;
/** From this number of changed paths on, everything is reloaded. */
const maxPaths = 10_000;

export interface WatchParts {
  readonly source: ModuleSource;
  readonly reloads: ModuleReloads;
  readonly clock: Clock;
  readonly onClose: () => void;
}

/** @throws HoldfastError `modules.file_failed`, and the errors of the source's `watch`. */
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
  /** The reported changes that have not been read; `all`: any file may have changed. */
  #changed: Set<string> | 'all' = new Set();
  /** Missing files, and since when. Some editors move a file away before writing the new one. */
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
        'modules.file_failed',
        `\`${source.name}\` does not report changes and cannot be watched. Call \`reloadAll\` after a change.`,
        { data: { reason: 'watch_unavailable' } },
      );
    }
    this.#watcher = await source.watch((path) => this.changed(path));
    // Files may have changed between loading and the start of the watch.
    await reloads.run(() => ({ change: { type: 'all' } }));
    reloads.listen((events) => this.#tell(events));
  }

  changed(path: string | undefined): void {
    if (this.#isClosed) return;
    if (path === undefined || this.#changed === 'all' || this.#changed.size >= maxPaths) this.#changed = 'all';
    else this.#changed.add(path);
    // Later changes do not postpone the timer, so endless changes are still seen.
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
    // A queued reload that has not started will also read this change.
    if (this.#isQueued) return;
    this.#isQueued = true;
    const { reloads, clock } = this.#parts;
    const { doubted } = await reloads.run(() => {
      this.#isQueued = false;
      return {
        change: this.#take(),
        // The absolute difference, because the clock may be set back.
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

/** A change to read, and how to read it. */
export interface WantedReload {
  readonly change: ModuleChange;
  /** True if a missing file counts as deleted. Default: always. */
  readonly isGone?: (path: string) => boolean;
  /** Asked after reading; if false, the result is discarded. */
  readonly isWanted?: () => boolean;
}

export interface Reload {
  readonly before: ModuleShelf;
  readonly after: ModuleShelf;
  readonly events: readonly ModuleEvent[];
  readonly doubted: readonly string[];
}

/** The modules in force and their reloads, which run one at a time in the order of the requests. */
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

  /** Registers the listener for events of later reloads; `undefined` removes it. It must not throw. */
  listen(listener: ((events: readonly ModuleEvent[]) => void) | undefined): void {
    this.#listener = listener;
  }

  /** `want` is called when the reload starts. */
  run(want: () => WantedReload): Promise<Reload> {
    const next = this.#last.then(() => this.#run(want()));
    // Only the caller gets a failure, not the reloads after it.
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
