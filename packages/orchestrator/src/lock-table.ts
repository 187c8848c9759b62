import type { Clock } from '@holdfast/core';

/** How long a request for locks may wait. */
export interface LockWait {
  readonly clock: Clock;
  /** Milliseconds. Default: no limit. */
  readonly timeoutMs?: number | undefined;
  /** Calls `listener` when nobody needs the locks any more, at once if that has been; the answer takes it back. */
  readonly onEnd?: ((listener: () => void) => () => void) | undefined;
}

/** How waiting for locks came to its end. Only `granted` holds anything. */
export type LockAnswer = 'granted' | 'timed-out' | 'ended';

/**
 * Who holds which names. An owner is the key of a call; the keys of the calls in it go on from it with `/`. A name is held by one owner,
 * and by those in it: what a call holds the calls in it may take as well, one beside another of them excluded.
 */
export interface LockTable {
  /**
   * Takes all of `names` at once, or none. Answers `undefined` when they are held now. Whoever wants a name that an earlier request
   * waits for waits behind it, unless that one waits, itself or behind others, for what the owner or a call around it holds. A name
   * that is taken twice by one owner is released twice.
   */
  acquire(names: readonly string[], owner: string, wait: LockWait): Promise<LockAnswer> | undefined;
  /** Without effect for what the owner does not hold. */
  release(owner: string, names: readonly string[]): void;
  /** Nothing is held, and nobody waits. */
  readonly idle: boolean;
}

interface Wanted {
  readonly names: ReadonlySet<string>;
  readonly owner: string;
  /** In the order in which they came. */
  readonly number: number;
}

interface Request extends Wanted {
  readonly answer: (answer: LockAnswer) => void;
}

/** Makes a lock table, for one process. Runs that are given the same one exclude each other. */
export function createLockTable(): LockTable {
  return new Table();
}

class Table implements LockTable {
  /** By name: who holds it, and how often. */
  readonly #holders = new Map<string, Map<string, number>>();
  /** By owner: of how many names it is a holder. */
  readonly #held = new Map<string, number>();
  /** By name: who waits for it, first come first. */
  readonly #queues = new Map<string, Set<Request>>();
  /** By owner, and by each key around one: who waits. */
  readonly #waitingIn = new Map<string, Set<Request>>();
  #nextNumber = 0;

  get idle(): boolean {
    return this.#holders.size === 0 && this.#queues.size === 0;
  }

  acquire(list: readonly string[], owner: string, wait: LockWait): Promise<LockAnswer> | undefined {
    const wanted: Wanted = { names: new Set(list), owner, number: this.#nextNumber++ };
    if (!this.#isFree(wanted)) return this.#wait(wanted, wait);
    this.#hold(wanted);
    return undefined;
  }

  #wait(wanted: Wanted, { clock, timeoutMs, onEnd }: LockWait): Promise<LockAnswer> {
    const { promise, resolve } = Promise.withResolvers<LockAnswer>();
    const waiting = new Set<() => void>();
    const request: Request = {
      ...wanted,
      answer(how) {
        for (const stop of waiting) stop();
        resolve(how);
      },
    };
    const giveUp = (how: LockAnswer) => () => {
      if (!this.#isWaiting(request)) return;
      this.#dequeue(request);
      request.answer(how);
      this.#grant([...request.names]);
    };
    this.#enqueue(request);
    if (timeoutMs !== undefined) waiting.add(clock.after(timeoutMs, giveUp('timed-out')));
    // Where the end has been, this one is answered while it is asked for; then there is nothing to take back.
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

  /**
   * Lets those go on that can by now: `changed` names were given back, or are waited for by one less. In a line that nobody holds
   * anything for, only the first can have become free; those in a holder may have been let past others, so each of them is looked at.
   */
  #grant(changed: readonly string[]): void {
    if (this.#queues.size === 0) return;
    const heads: Request[] = [];
    for (const name of changed) {
      const [head] = this.#queues.get(name) ?? [];
      if (head !== undefined) heads.push(head);
    }
    for (let next = this.#findFree(heads); next !== undefined; next = this.#findFree(heads)) {
      this.#dequeue(next);
      this.#hold(next);
      next.answer('granted');
    }
  }

  #findFree(heads: readonly Request[]): Request | undefined {
    for (const request of heads) if (this.#isWaiting(request) && this.#isFree(request)) return request;
    let first: Request | undefined;
    for (const owner of this.#held.keys()) {
      for (const request of this.#waitingIn.get(owner) ?? []) {
        if ((first === undefined || request.number < first.number) && this.#isFree(request)) first = request;
      }
    }
    return first;
  }

  #isWaiting(request: Request): boolean {
    return this.#waitingIn.get(request.owner)?.has(request) === true;
  }

  #isFree(wanted: Wanted): boolean {
    for (const name of wanted.names) {
      if (!this.#isOpenFor(wanted, name) || this.#isBehind(wanted, name)) return false;
    }
    return true;
  }

  /** Nobody holds it, the owner does, or calls around the owner and nobody else. */
  #isOpenFor({ owner }: Wanted, name: string): boolean {
    const holders = this.#holders.get(name);
    return holders === undefined || holders.has(owner) || [...holders.keys()].every((holder) => isIn(owner, holder));
  }

  /** Somebody who came before, and who is not kept waiting by the owner itself, waits for the name. */
  #isBehind({ owner, number }: Wanted, name: string): boolean {
    const queue = this.#queues.get(name);
    if (queue === undefined) return false;
    const nested = keysAround(owner).some((key) => this.#held.has(key));
    for (const earlier of queue) {
      if (earlier.number >= number) return false;
      if (!nested || !this.#waitsFor(earlier, owner)) return true;
    }
    return false;
  }

  /** Whether `waiting`, or somebody before it, waits for what `owner` or a call around it holds. */
  #waitsFor(waiting: Request, owner: string): boolean {
    // Grows while it is gone through.
    const line = new Set([waiting]);
    for (const each of line) {
      for (const name of each.names) {
        for (const holder of this.#holders.get(name)?.keys() ?? []) {
          if (!isIn(each.owner, holder) && isIn(owner, holder)) return true;
        }
        for (const earlier of this.#queues.get(name) ?? []) {
          if (earlier.number >= each.number) break;
          line.add(earlier);
        }
      }
    }
    return false;
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
    for (const key of keysAround(request.owner)) addTo(this.#waitingIn, key, request);
  }

  #dequeue(request: Request): void {
    for (const name of request.names) removeFrom(this.#queues, name, request);
    for (const key of keysAround(request.owner)) removeFrom(this.#waitingIn, key, request);
  }
}

/** Whether `owner` is `holder`, or a call in it. */
function isIn(owner: string, holder: string): boolean {
  return owner === holder || (owner.startsWith(holder) && owner[holder.length] === '/');
}

/** The owner's own key, and each that another owner around it could have. */
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
