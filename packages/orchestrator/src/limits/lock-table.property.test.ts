import fc from 'fast-check';
import { expect, test } from 'vitest';
import { testClock } from '../preview/test-clock.ts';
import { createLockTable, type LockAnswer } from './lock-table.ts';

/** A simple reference model: lists, scanned from the start each time. */
interface Hold {
  readonly owner: string;
  readonly name: string;
}

interface Wait {
  readonly id: number;
  readonly owner: string;
  readonly names: readonly string[];
}

const isIn = (owner: string, holder: string): boolean => owner === holder || owner.startsWith(`${holder}/`);

class Model {
  holds: Hold[] = [];
  waits: Wait[] = [];
  readonly answers = new Map<number, LockAnswer>();

  ask(wait: Wait): void {
    this.waits.push(wait);
    this.#grant();
  }

  release(owner: string, names: readonly string[]): void {
    for (const name of names) {
      const index = this.holds.findIndex((hold) => hold.owner === owner && hold.name === name);
      if (index !== -1) this.holds.splice(index, 1);
    }
    this.#grant();
  }

  giveUp(id: number, answer: LockAnswer): void {
    if (!this.waits.some((wait) => wait.id === id)) return;
    this.waits = this.waits.filter((wait) => wait.id !== id);
    this.answers.set(id, answer);
    this.#grant();
  }

  #grant(): void {
    for (let next = this.#nextFree(); next !== undefined; next = this.#nextFree()) {
      const { id, owner, names } = next;
      this.waits = this.waits.filter((wait) => wait.id !== id);
      this.holds.push(...names.map((name) => ({ owner, name })));
      this.answers.set(id, 'granted');
    }
  }

  #nextFree(): Wait | undefined {
    return this.waits.find((wait) => {
      if (this.#keptBy(wait).length > 0) return false;
      return this.#before(wait).every((earlier) => this.#waitsFor(earlier, wait.owner));
    });
  }

  /** The holders of its names other than its owner and the calls around it. */
  #keptBy({ owner, names }: Wait): readonly string[] {
    return names.flatMap((name) => {
      const holders = this.holds.filter((hold) => hold.name === name).map((hold) => hold.owner);
      return holders.includes(owner) ? [] : holders.filter((holder) => !isIn(owner, holder));
    });
  }

  #before(wait: Wait): readonly Wait[] {
    const earlier = this.waits.slice(0, this.waits.indexOf(wait));
    return earlier.filter(({ names }) => names.some((name) => wait.names.includes(name)));
  }

  #waitsFor(wait: Wait, owner: string): boolean {
    return this.#ahead(wait).some((holder) => isIn(owner, holder));
  }

  /** The holders that it waits for, directly or through the requests ahead of it. */
  #ahead(wait: Wait): readonly string[] {
    const blocking = this.#before(wait).filter((earlier) => !this.#waitsFor(earlier, wait.owner));
    return [...this.#keptBy(wait), ...blocking.flatMap((earlier) => this.#ahead(earlier))];
  }
}

const owners = ['p', 'q', 'p/1', 'p/2', 'p/1/1', 'p/1/2', 'q/1', 'pp', 'r'];
const names = fc.uniqueArray(fc.constantFrom<string>('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 3 });
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('ask' as const),
      owner: fc.constantFrom(...owners),
      names,
      timeoutMs: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('release' as const), owner: fc.constantFrom(...owners), names }),
  },
  // Frequent releases keep the table moving.
  { weight: 4, arbitrary: fc.record({ type: fc.constant('release-held' as const), pick: fc.nat({ max: 50 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('advance' as const), byMs: fc.integer({ min: 1, max: 10 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('end' as const), pick: fc.nat({ max: 50 }) }) },
);

test('the table matches the model at each step and ends empty', async () => {
  let waited = 0;
  let overtook = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }), async (steps) => {
      const table = createLockTable();
      const model = new Model();
      const clock = testClock();
      const answers = new Map<number, LockAnswer>();
      const ends = new Map<number, () => void>();
      const timeouts: { readonly id: number; readonly atMs: number }[] = [];
      let nextId = 0;

      const take = (move: (typeof steps)[number]): void => {
        switch (move.type) {
          case 'ask': {
            const id = nextId++;
            const { owner, timeoutMs } = move;
            const onEnd = (listener: () => void): (() => void) => {
              ends.set(id, listener);
              return () => void ends.delete(id);
            };
            const waiting = table.acquire(move.names, owner, { clock, timeoutMs, onEnd });
            if (waiting === undefined) answers.set(id, 'granted');
            else void waiting.then((answer) => answers.set(id, answer));
            if (timeoutMs !== undefined && waiting !== undefined) timeouts.push({ id, atMs: clock.now() + timeoutMs });
            model.ask({ id, owner, names: move.names });
            waited += Number(waiting !== undefined);
            const passed = model.waits.some(
              (wait) => wait.id < id && wait.names.some((name) => move.names.includes(name)),
            );
            overtook += Number(waiting === undefined && passed);
            return;
          }
          case 'release':
            table.release(move.owner, move.names);
            model.release(move.owner, move.names);
            return;
          case 'release-held': {
            const hold = model.holds[move.pick % Math.max(1, model.holds.length)];
            if (hold === undefined) return;
            table.release(hold.owner, [hold.name]);
            model.release(hold.owner, [hold.name]);
            return;
          }
          case 'advance': {
            clock.advance(move.byMs);
            const due = timeouts.filter(({ atMs }) => atMs <= clock.now());
            for (const { id } of due.toSorted((left, right) => left.atMs - right.atMs || left.id - right.id)) {
              model.giveUp(id, 'timed-out');
            }
            return;
          }
          case 'end': {
            const [id, listener] = [...ends][move.pick % Math.max(1, ends.size)] ?? [];
            listener?.();
            if (id !== undefined) model.giveUp(id, 'ended');
            return;
          }
        }
      };

      for (const each of steps) {
        take(each);
        for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
        // Exclusive: of two holders of a name, one is nested in the other.
        for (const one of model.holds) {
          for (const other of model.holds) {
            if (one.name !== other.name) continue;
            expect(isIn(one.owner, other.owner) || isIn(other.owner, one.owner)).toBe(true);
          }
        }
        // No request waits only for holders that may be waiting for it.
        for (const wait of model.waits) {
          expect(model.holds.every((hold) => isIn(wait.owner, hold.owner))).toBe(false);
        }
        expect(new Map([...answers].toSorted())).toEqual(new Map([...model.answers].toSorted()));
        expect(ends.size).toBe(model.waits.length);
      }
      while (model.holds.length > 0) {
        for (const { owner, name } of [...model.holds]) take({ type: 'release', owner, names: [name] });
        for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
      }
      expect(answers.size).toBe(nextId);
      expect(table.idle).toBe(true);
      expect([clock.timers, ends.size]).toEqual([0, 0]);
    }),
    { numRuns: 170 },
  );
  // The property was actually exercised.
  expect(waited).toBeGreaterThan(60);
  expect(overtook).toBeGreaterThan(0);
});

test('unrelated owners get each name in the order of their requests', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(names, { minLength: 1, maxLength: 12 }), async (wanted) => {
      const table = createLockTable();
      const clock = testClock();
      const order: number[] = [];
      const runs = wanted.map(async (list, index) => {
        await table.acquire(list, `s/${index}`, { clock });
        order.push(index);
        await Promise.resolve();
        table.release(`s/${index}`, list);
      });
      await Promise.all(runs);
      for (const name of ['a', 'b', 'c', 'd']) {
        const asked = [...wanted.keys()].filter((index) => wanted[index]?.includes(name) === true);
        expect(order.filter((index) => asked.includes(index))).toEqual(asked);
      }
      expect(table.idle).toBe(true);
    }),
  );
});
