import type { ModuleEvent } from './module-event.ts';
import { emptyShelf, type ModuleChange, type ModuleShelf, readChange, type ShelfSource } from './module-shelf.ts';

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
