import type { Clock } from '@holdfast/core';

/** Limits on the wait for locks. */
export interface LockWait {
  readonly clock: Clock;
  /** Milliseconds. Default: no limit. */
  readonly timeoutMs?: number | undefined;
  /** Registers `listener` for the end of the request, and calls it at once if that has passed; returns a function that unregisters it. */
  readonly onEnd?: ((listener: () => void) => () => void) | undefined;
}

/** How a wait for locks ended. Only `granted` holds anything. */
export type LockAnswer = 'granted' | 'timed-out' | 'ended';

/**
 * The current holders of locks. An owner is the key of a call; keys of nested calls extend it with `/`. A lock has one owner; the owner's
 * nested calls may take it as well, but exclude each other.
 */
export interface LockTable {
  /**
   * Takes all of `names` or none. Returns `undefined` if they are held now. A request waits behind an earlier request for the same name,
   * unless that one waits, directly or indirectly, for a lock of this owner or a call around it, which would be a deadlock. An owner that
   * takes a name twice must release it twice.
   */
  acquire(names: readonly string[], owner: string, wait: LockWait): Promise<LockAnswer> | undefined;
  /** Ignores names that the owner does not hold. */
  release(owner: string, names: readonly string[]): void;
  /** True if no lock is held or waited for. */
  readonly idle: boolean;
}

interface Wanted {
  readonly names: ReadonlySet<string>;
  readonly owner: string;
  /** The owner's own key first, then the keys of all possible enclosing calls. */
  readonly keys: readonly string[];
  /** The order of arrival. */
  readonly number: number;
}

interface Request extends Wanted {
  readonly answer: (answer: LockAnswer) => void;
}

/** Cache for one pass: the holders that each request waits for. */
type Ahead = Map<Request, ReadonlySet<string>>;

/** Creates a lock table for one process. Runs that share a table exclude each other. */
export function createLockTable(): LockTable {
  return new Table();
}

class Table implements LockTable {
  /** By name: its holders, each with a count. */
  readonly #holders = new Map<string, Map<string, number>>();
  /** By owner: the number of names it holds. */
  readonly #held = new Map<string, number>();
  /** By name: the waiting requests, oldest first. */
  readonly #queues = new Map<string, Set<Request>>();
  /** By owner and each enclosing key: the waiting requests, grouped by the names they wait for. */
  readonly #waitingIn = new Map<string, Map<string, Set<Request>>>();
  #nextNumber = 0;

  get idle(): boolean {
    return this.#holders.size === 0 && this.#queues.size === 0;
  }

  acquire(list: readonly string[], owner: string, wait: LockWait): Promise<LockAnswer> | undefined {
    const wanted: Wanted = {
      names: new Set(list),
      owner,
      keys: keysAround(owner),
      number: this.#nextNumber++,
    };
    if (!this.#isFree(wanted)) return this.#wait(wanted, wait);
    this.#hold(wanted);
    return undefined;
  }

  #wait(wanted: Wanted, { clock, timeoutMs, onEnd }: LockWait): Promise<LockAnswer> {
    const { promise, resolve } = Promise.withResolvers<LockAnswer>();
    const waiting = new Set<() => void>();
    let isOver = false;
    const request: Request = {
      ...wanted,
      answer(how) {
        isOver = true;
        for (const stop of waiting) stop();
        resolve(how);
      },
    };
    const giveUp = (how: LockAnswer) => () => {
      if (isOver) return;
      this.#dequeue(request);
      request.answer(how);
      this.#grant(request.names);
    };
    this.#enqueue(request);
    if (timeoutMs !== undefined) waiting.add(clock.after(timeoutMs, giveUp('timed-out')));
    // If the end has passed, `onEnd` answers the request immediately and there is nothing to unregister.
    const stop = onEnd?.(giveUp('ended'));
    if (stop !== undefined) waiting.add(stop);
    return promise;
  }

  release(owner: string, names: readonly string[]): void {
    const released: string[] = [];
    for (const name of new Set(names)) {
      const holders = this.#holders.get(name);
      const times = holders?.get(owner);
      if (holders === undefined || times === undefined) continue;
      if (times > 1) {
        holders.set(owner, times - 1);
        continue;
      }
      holders.delete(owner);
      if (holders.size === 0) this.#holders.delete(name);
      const left = (this.#held.get(owner) ?? 0) - 1;
      if (left > 0) this.#held.set(owner, left);
      else this.#held.delete(owner);
      released.push(name);
    }
    if (released.length > 0) this.#grant(released);
  }

  /** Grants all requests that can be granted now. `changed`: names that were released or have one waiter less. */
  #grant(changed: Iterable<string>): void {
    for (let next = this.#findFree(changed); next !== undefined; next = this.#findFree(changed)) {
      this.#dequeue(next);
      this.#hold(next);
      next.answer('granted');
    }
  }

  /**
   * The earliest request that can be granted. A request outside of any holder must be first in the queue for one of `names`. A request
   * inside a holder may overtake others, whatever has changed: it is the first of its holder with the same names, or is inside another
   * holder as well.
   */
  #findFree(names: Iterable<string>): Request | undefined {
    if (this.#queues.size === 0) return undefined;
    let found: Request | undefined;
    const ahead: Ahead = new Map();
    const consider = (request: Request): void => {
      if ((found === undefined || request.number < found.number) && this.#isFree(request, ahead)) found = request;
    };
    for (const name of names) {
      const [head] = this.#queues.get(name) ?? [];
      if (head !== undefined) consider(head);
    }
    for (const holder of this.#held.keys()) {
      for (const alike of this.#waitingIn.get(holder)?.values() ?? []) {
        const [first] = alike;
        if (first !== undefined) consider(first);
      }
    }
    return found;
  }

  #isFree(wanted: Wanted, ahead: Ahead = new Map()): boolean {
    for (const name of wanted.names) {
      if (!this.#isOpenFor(wanted, name) || this.#isBehind(wanted, name, ahead)) return false;
    }
    return true;
  }

  #isOpenFor(wanted: Wanted, name: string): boolean {
    return this.#keptBy(wanted, name).next().done === true;
  }

  /** The holders of the name other than the owner and the calls around it. */
  *#keptBy({ owner }: Wanted, name: string): Generator<string> {
    const holders = this.#holders.get(name);
    if (holders === undefined || holders.has(owner)) return;
    for (const holder of holders.keys()) if (!isIn(owner, holder)) yield holder;
  }

  /** True if an earlier request waits for the name and is not itself blocked by this owner. */
  #isBehind({ owner, keys, number }: Wanted, name: string, ahead: Ahead): boolean {
    const queue = this.#queues.get(name);
    if (queue === undefined) return false;
    const isHolder = keys.some((key) => this.#held.has(key));
    for (const earlier of queue) {
      if (earlier.number >= number) return false;
      if (!isHolder || !isInAny(owner, this.#aheadOf(earlier, ahead))) return true;
    }
    return false;
  }

  /** The holders that `request` waits for, directly or through the requests ahead of it. */
  #aheadOf(request: Request, ahead: Ahead): ReadonlySet<string> {
    // Iterative: queues may be longer than the stack is deep.
    const open = [request];
    for (let next = open.at(-1); next !== undefined; next = open.at(-1)) {
      const holders = new Set<string>();
      const unknown = open.length;
      for (const name of ahead.has(next) ? [] : next.names) {
        for (const holder of this.#keptBy(next, name)) holders.add(holder);
        for (const earlier of this.#queues.get(name) ?? []) {
          if (earlier.number >= next.number) break;
          const known = ahead.get(earlier);
          if (known === undefined) open.push(earlier);
          else if (!isInAny(next.owner, known)) for (const holder of known) holders.add(holder);
        }
      }
      if (open.length > unknown) continue;
      if (!ahead.has(next)) ahead.set(next, holders);
      open.pop();
    }
    return ahead.get(request) ?? new Set();
  }

  #hold({ names, owner }: Wanted): void {
    for (const name of names) {
      const holders = this.#holders.get(name) ?? new Map<string, number>();
      this.#holders.set(name, holders);
      const times = holders.get(owner) ?? 0;
      holders.set(owner, times + 1);
      if (times === 0) this.#held.set(owner, (this.#held.get(owner) ?? 0) + 1);
    }
  }

  #enqueue(request: Request): void {
    for (const name of request.names) addTo(this.#queues, name, request);
    const wants = wantsOf(request);
    for (const key of request.keys) {
      const waiting = this.#waitingIn.get(key) ?? new Map<string, Set<Request>>();
      this.#waitingIn.set(key, waiting);
      addTo(waiting, wants, request);
    }
  }

  #dequeue(request: Request): void {
    for (const name of request.names) removeFrom(this.#queues, name, request);
    const wants = wantsOf(request);
    for (const key of request.keys) {
      const waiting = this.#waitingIn.get(key);
      if (waiting === undefined) continue;
      removeFrom(waiting, wants, request);
      if (waiting.size === 0) this.#waitingIn.delete(key);
    }
  }
}

/** The same key for the same names. */
function wantsOf({ names }: Request): string {
  return JSON.stringify([...names].toSorted());
}

function isInAny(owner: string, holders: ReadonlySet<string>): boolean {
  for (const holder of holders) if (isIn(owner, holder)) return true;
  return false;
}

/** True if `owner` is `holder` or nested in it. */
function isIn(owner: string, holder: string): boolean {
  return owner === holder || (owner.startsWith(holder) && owner[holder.length] === '/');
}

function keysAround(owner: string): readonly string[] {
  const keys = [owner];
  for (let slash = owner.lastIndexOf('/'); slash > 0; slash = owner.lastIndexOf('/', slash - 1)) {
    keys.push(owner.slice(0, slash));
  }
  return keys;
}

function addTo(sets: Map<string, Set<Request>>, key: string, request: Request): void {
  const set = sets.get(key) ?? new Set();
  set.add(request);
  sets.set(key, set);
}

function removeFrom(sets: Map<string, Set<Request>>, key: string, request: Request): void {
  const set = sets.get(key);
  set?.delete(request);
  if (set?.size === 0) sets.delete(key);
}
