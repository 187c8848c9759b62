import { type CallOptions, executeToolCall, recoverSession, resolveCall } from '@holdfast/executor';
import { replay, type Session } from '@holdfast/session';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Home,
  type Manner,
  makeHome,
  payTools,
  purse,
  purseOf,
  storeKinds,
  untilStarted,
} from './reserve-fixtures.ts';

type Said = 'done' | 'not-done' | 'nothing';
type Step =
  | { readonly type: 'pay'; readonly amount: number; readonly manner: Manner }
  | {
      readonly type: 'buy';
      readonly amount: number;
      readonly manner: Manner;
      readonly inner: { readonly amount: number; readonly manner: Manner };
    }
  | { readonly type: 'abort'; readonly pick: number }
  | { readonly type: 'kill'; readonly said: readonly Said[] }
  | { readonly type: 'reset' };

const manner = fc.constantFrom<Manner>('ok', 'ok', 'fail', 'doubt', 'hang');
const amount = fc.integer({ min: 1, max: 9 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('pay' as const), amount, manner }) },
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('buy' as const), amount, manner, inner: fc.record({ amount, manner }) }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('abort' as const), pick: fc.nat(9) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('kill' as const),
      said: fc.array(fc.constantFrom<Said>('done', 'not-done', 'nothing'), { maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ type: 'reset' }) },
);

/** The expected count, worked out without a runtime. */
class Book {
  spent = 0;
  doubts: Record<string, number> = {};
  /** Calls under way: what counts of them if they are in doubt. */
  readonly open = new Map<string, { readonly amount: number; readonly nested: Readonly<Record<string, number>> }>();

  pay(id: string, { amount: spent, manner: ending }: { readonly amount: number; readonly manner: Manner }): void {
    this.#end(id, spent, ending, {});
  }

  buy(id: string, { amount: spent, manner: ending, inner }: Extract<Step, { readonly type: 'buy' }>): void {
    const nested = inner.manner === 'fail' ? {} : { [`s/${id}/1`]: inner.amount };
    if (inner.manner === 'hang' || ending !== 'ok') {
      this.#end(id, spent, inner.manner === 'hang' ? 'hang' : ending, nested);
      return;
    }
    this.spent += spent + (inner.manner === 'ok' ? inner.amount : 0);
    if (inner.manner === 'doubt') Object.assign(this.doubts, nested);
  }

  #end(id: string, spent: number, ending: Manner, nested: Readonly<Record<string, number>>): void {
    if (ending === 'hang') this.open.set(id, { amount: spent, nested });
    else if (ending === 'ok') this.spent += spent;
    else Object.assign(this.doubts, nested);
    if (ending === 'doubt') this.doubts[`s/${id}`] = spent;
  }

  settle(id: string, said: Said): void {
    const call = this.open.get(id);
    this.open.delete(id);
    if (call === undefined || said === 'not-done') return;
    Object.assign(this.doubts, call.nested);
    if (said === 'done') this.spent += call.amount;
    else this.doubts[`s/${id}`] = call.amount;
  }

  get state(): Record<string, number> {
    return { ...(this.spent === 0 ? {} : { spent: this.spent }), ...this.doubts };
  }
}

/** A session, and the calls in it that hang. */
class World {
  readonly #home: Home;
  readonly #hanging = new Map<string, { readonly abort: AbortController; readonly ended: Promise<unknown> }>();
  readonly #tools = payTools();
  #session: Session | undefined;
  #calls = 0;

  constructor(home: Home) {
    this.#home = home;
  }

  async open(): Promise<Session> {
    this.#session ??= await this.#home.open();
    return this.#session;
  }

  async apply(next: Step, book: Book): Promise<void> {
    const session = await this.open();
    switch (next.type) {
      case 'pay':
      case 'buy':
        await this.#call(next, book);
        return;
      case 'abort': {
        const ids = [...this.#hanging.keys()];
        const id = ids[next.pick % Math.max(1, ids.length)];
        const call = id === undefined ? undefined : this.#hanging.get(id);
        if (id === undefined || call === undefined) return;
        this.#hanging.delete(id);
        call.abort.abort();
        await call.ended;
        await untilStarted(session, 0);
        book.settle(id, 'nothing');
        return;
      }
      case 'kill': {
        this.#session = await this.#home.open();
        const options = this.#options(this.#session);
        for (const [index, id] of [...this.#hanging.keys()].entries()) {
          const said = next.said[index] ?? 'nothing';
          if (said !== 'nothing') await resolveCall(this.#session, id, { type: said });
          book.settle(id, said);
        }
        this.#hanging.clear();
        await recoverSession(options);
        return;
      }
      case 'reset':
        session.reset();
        book.spent = 0;
        book.doubts = {};
    }
  }

  async #call(next: Extract<Step, { readonly type: 'pay' | 'buy' }>, book: Book): Promise<void> {
    const session = await this.open();
    const id = `c${this.#calls}`;
    this.#calls += 1;
    const { type: name, ...input } = next;
    const abort = new AbortController();
    const started = [...session.records()].filter(({ type }) => type === 'tool-call-start').length;
    const ended = executeToolCall({ id, name, arguments: input }, { ...this.#options(session), signal: abort.signal });
    if (next.type === 'pay') book.pay(id, next);
    else book.buy(id, next);
    if (book.open.has(id)) {
      this.#hanging.set(id, { abort, ended });
      await untilStarted(session, started + (next.type === 'buy' ? 2 : 1));
    } else await ended;
  }

  #options(session: Session): CallOptions {
    return { tools: this.#tools, session, policies: [purse] };
  }
}

test.each(storeKinds)(
  'what counts is what a simple book says, and what the log says: %s',
  async (kind) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
        using home = makeHome(kind);
        const world = new World(home);
        const book = new Book();
        for (const next of steps) {
          await world.apply(next, book);
          expect(purseOf(await world.open())).toEqual(book.state);
        }
        // Calls that still hang have lost their process.
        await world.apply({ type: 'kill', said: [] }, book);
        const session = await world.open();
        expect(purseOf(session)).toEqual(book.state);
        expect(purseOf(replay([...session.records()]))).toEqual(book.state);
        expect(session.openWork().calls).toEqual([]);
        await session.close();
      }),
      { numRuns: kind === 'memory' ? 50 : 25 },
    );
  },
  120_000,
);
