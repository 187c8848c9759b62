import { defineTool, type Outcome, type Policy, type Tool, toolError, toolOk } from '@holdfast/core';
import { executeToolCall, recoverSession, resolveCall } from '@holdfast/executor';
import { budgets } from '@holdfast/pack-budgets';
import { packPolicies, requireApproval, some } from '@holdfast/policy';
import { createSession, replay, type Session } from '@holdfast/session';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { type Home, type Manner, makeHome, untilStarted } from '../calls/reserve-fixtures.ts';

const limit = 1000;
const cents = (amount: number): string => (amount / 100).toFixed(2);
const policies: readonly Policy[] = packPolicies(budgets, {
  config: { maxMoney: cents(limit), money: { pay: { argument: 'euros', result: 'paid' } } },
}).filter(({ id }) => id === 'budgets-money');

const paying = v.object({
  euros: v.string(),
  paid: v.nullable(v.string()),
  manner: v.picklist(['ok', 'fail', 'doubt', 'hang']),
});

/** `pay` takes its time and does as it is told; `shop` pays, and tells how that ended before it does the same. */
function makeTools(told: (callId: string, inner: Outcome) => void): readonly Tool[] {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    inputSchema: paying,
    async execute({ paid, manner }) {
      await new Promise((resolve) => setImmediate(resolve));
      return (await behave(manner, paid === null ? {} : { paid })) as never;
    },
  });
  const shop = defineTool({
    name: 'shop',
    description: 'Pays for something.',
    inputSchema: v.object({ manner: paying.entries.manner, inner: paying }),
    async execute({ manner, inner }, { call, callId }) {
      told(callId, await call('pay', inner));
      return (await behave(manner, {})) as never;
    },
  });
  return [pay as Tool, shop as Tool];
}

function behave(manner: Manner, value: object): unknown {
  switch (manner) {
    case 'ok':
      return toolOk(value as never);
    case 'fail':
      return toolError('No.');
    case 'doubt':
      return 1n;
    case 'hang':
      return new Promise(() => undefined);
  }
}

interface Books {
  readonly spent: number;
  readonly over: number;
  readonly doubt: number;
}

/** The budget of money in the session's state, in cents. */
function booksOf(session: Session): Books {
  const state = session.export().slices.find(({ id }) => id === 'policy:host/budgets-money')?.state ?? [];
  const books = { spent: 0, over: 0, doubt: 0 };
  for (const [key, text] of state as [string, string][]) {
    books[key === 'spent' || key === 'over' ? key : 'doubt'] += Math.round(Number(text) * 100);
  }
  return books;
}

interface Payment {
  readonly euros: number;
  readonly paid: number | null;
  readonly manner: Manner;
}
interface Order {
  readonly manner: Manner;
  readonly inner: Payment;
}
type Step =
  | { readonly type: 'calls'; readonly calls: readonly (Payment | Order)[] }
  | { readonly type: 'abort' }
  | { readonly type: 'kill'; readonly done: boolean };

const manner = fc.constantFrom<Manner>('ok', 'ok', 'ok', 'fail', 'doubt', 'hang');
const payment: fc.Arbitrary<Payment> = fc.record({
  euros: fc.integer({ min: 0, max: 500 }),
  paid: fc.option(fc.integer({ min: 0, max: 600 })),
  manner,
});
const order: fc.Arbitrary<Order> = fc.record({ manner, inner: payment });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      type: fc.constant('calls' as const),
      calls: fc.array(fc.oneof(payment, order), { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ type: 'abort' }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('kill' as const), done: fc.boolean() }) },
);

/** Keeps the books by what outcomes say. */
class Till {
  readonly #home: Home;
  readonly #tools = makeTools((callId, outcome) => void this.#inner.set(callId, outcome.kind));
  readonly #inner = new Map<string, string>();
  readonly #calls = new Map<string, Payment | Order>();
  readonly #hanging = new Map<
    string,
    { readonly abort: AbortController; readonly ended: Promise<{ readonly kind: string }> }
  >();
  spent = 0;
  over = 0;
  doubt = 0;
  session: Session | undefined;

  constructor(home: Home) {
    this.#home = home;
  }

  /** The amount that calls in flight may take, or have taken. */
  get open(): number {
    let sum = 0;
    for (const id of this.#hanging.keys()) {
      const call = this.#calls.get(id) as Payment | Order;
      const inner = this.#inner.get(id) ?? 'in-doubt';
      if (!('inner' in call)) sum += call.euros;
      else if (inner === 'ok' || inner === 'in-doubt') sum += call.inner.euros;
    }
    return sum;
  }

  async apply(next: Step): Promise<void> {
    this.session ??= await this.#home.open();
    if (next.type === 'calls') await this.#make(next.calls, this.session);
    else if (next.type === 'abort') {
      for (const [id, { abort, ended }] of this.#hanging) {
        abort.abort();
        this.#end(id, (await ended).kind);
      }
      this.#hanging.clear();
      await untilStarted(this.session, 0);
    } else {
      this.session = await this.#home.open();
      const hanging = [...this.#hanging.keys()];
      for (const id of next.done ? hanging : []) await resolveCall(this.session, id, { type: 'done' });
      await recoverSession({ tools: this.#tools, session: this.session, policies });
      for (const id of hanging) this.#end(id, next.done ? 'ok' : 'in-doubt', true);
      this.#hanging.clear();
    }
  }

  async #make(calls: readonly (Payment | Order)[], session: Session): Promise<void> {
    const made = calls.map((call) => {
      const id = `c${this.#calls.size}`;
      this.#calls.set(id, call);
      const abort = new AbortController();
      const asked =
        'inner' in call
          ? { id, name: 'shop', arguments: { manner: call.manner, inner: toInput(call.inner) } }
          : { id, name: 'pay', arguments: toInput(call) };
      const ended = executeToolCall(asked, { tools: this.#tools, session, policies, signal: abort.signal });
      return { id, abort, ended };
    });
    for (let round = 0; round < 12; round += 1) await new Promise((resolve) => setImmediate(resolve));
    for (const { id, abort, ended } of made) {
      const kind = await Promise.race([ended.then((outcome) => outcome.kind), Promise.resolve().then(() => undefined)]);
      if (kind === undefined) this.#hanging.set(id, { abort, ended });
      else this.#end(id, kind);
    }
  }

  #end(id: string, kind: string, killed = false): void {
    const call = this.#calls.get(id) as Payment | Order;
    if (!('inner' in call)) {
      // A person has said that it was done, but not how much it was.
      this.#book(killed ? { ...call, paid: null } : call, kind);
      return;
    }
    const inner = this.#inner.get(id) ?? 'in-doubt';
    // Its payments stand, whether the whole of it succeeds or not.
    const counts = kind === 'ok' && !killed;
    if (inner === 'ok' || inner === 'in-doubt') this.#book(call.inner, counts ? inner : 'in-doubt');
  }

  #book({ euros, paid }: Payment, kind: string): void {
    if (kind === 'in-doubt') this.doubt += euros;
    if (kind !== 'ok') return;
    this.spent += paid ?? euros;
    this.over += Math.max(0, (paid ?? euros) - euros);
  }
}

function toInput({ euros, paid, manner }: Payment): v.InferOutput<typeof paying> {
  return { euros: cents(euros), paid: paid === null ? null : cents(paid), manner };
}

describe('whatever the order and the endings', () => {
  test.each(['memory', 'jsonl with snapshots', 'sqlite'] as const)(
    'no more is spent and held than there is, beyond what calls took more than they had said: %s',
    async (kind) => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
          using home = makeHome(kind);
          const till = new Till(home);
          for (const next of [...steps, { type: 'kill', done: false } as const]) {
            await till.apply(next);
            const books = booksOf(till.session as Session);
            expect(books).toEqual({ spent: till.spent, over: till.over, doubt: till.doubt });
            expect(books.spent + books.doubt + till.open).toBeLessThanOrEqual(limit + books.over);
          }
          const session = till.session as Session;
          expect(booksOf(replay([...session.records()]))).toEqual(booksOf(session));
          await session.close();
        }),
        { numRuns: kind === 'memory' ? 50 : 25 },
      );
    },
    120_000,
  );
});

const note = defineTool({
  name: 'note',
  description: 'Notes.',
  effects: 'state',
  async execute() {
    await new Promise((resolve) => setImmediate(resolve));
    return null;
  },
}) as Tool;
const noted = (id: string) => ({ id, name: 'note', arguments: {} });

test('of calls that run at the same time, one too many is denied before it is committed', async () => {
  const session = createSession({ id: 's' });
  const shared = { tools: [note], session, policies: packPolicies(budgets, { config: { maxCalls: 2 } }) };
  const all = await Promise.all(['a', 'b', 'c'].map((id) => executeToolCall(noted(id), shared)));
  expect(all.map(({ kind }) => kind)).toEqual(['ok', 'ok', 'denied']);
  expect(all[2]).toMatchObject({
    code: 'policy.denied',
    message: expect.stringContaining('The budget of calls has 0 of 2 left, and `note` takes 1.'),
  });
  expect(await executeToolCall(noted('d'), shared)).toMatchObject({ kind: 'denied', code: 'policy.denied' });
});

test('a person may let go on what is too much: it is counted all the same', async () => {
  const session = createSession({ id: 's' });
  const [, , limited] = packPolicies(budgets, { config: { maxMoney: 1, money: { pay: { argument: 'euros' } } } });
  const someone = some(limited as Policy, requireApproval({ tools: ['pay'] }));
  const tools = makeTools(() => undefined);
  const approve = () => ({ type: 'approve' }) as const;
  const payment = (manner: Manner) => ({ name: 'pay', arguments: { euros: '3', paid: null, manner } });
  for (const manner of ['ok', 'doubt', 'fail'] as const) {
    await executeToolCall(payment(manner), { tools, session, policies: [someone], approve });
  }
  const outcome = await executeToolCall(payment('ok'), { tools, session, policies: [limited as Policy] });
  // Nothing is known to a policy of another place.
  expect(outcome).toMatchObject({ kind: 'denied', message: expect.stringContaining('has 1 of 1 left') });
  const waiting = await executeToolCall(payment('ok'), { tools, session, policies: [someone], unattended: true });
  expect(waiting).toMatchObject({
    kind: 'denied',
    message: expect.stringContaining('has 0 of 1 left, and `pay` takes 3. 3 is held for calls'),
  });
});

test('tried out it lets everything through, and knows later what was taken', async () => {
  const session = createSession({ id: 's' });
  const config = { maxMoney: '5', money: { pay: { argument: 'euros' } } };
  const tools = makeTools(() => undefined);
  const payment = (euros: string) => ({ name: 'pay', arguments: { euros, paid: null, manner: 'ok' } });
  const tried = { tools, session, policies: packPolicies(budgets, { config, observe: true }) };
  for (const euros of ['4', '4', 'much'])
    expect(await executeToolCall(payment(euros), tried)).toMatchObject({ kind: 'ok' });
  const strict = { tools, session, policies: packPolicies(budgets, { config }) };
  expect(await executeToolCall(payment('0.01'), strict)).toMatchObject({
    kind: 'denied',
    message: 'Denied: The budget of money has 0 of 5 left, and `pay` takes 0.01.',
  });
  expect(await executeToolCall(payment('0'), strict)).toMatchObject({ kind: 'ok' });
});

test('a foreign state is not trusted', async () => {
  for (const odd of ['-5', '1e9', 'much', '']) {
    const session = createSession({ id: 's' });
    const data = session.export();
    const slice = {
      id: 'policy:host/budgets-money',
      kind: 'keyed',
      retention: 'state',
      events: [],
      state: [['spent', odd]],
    };
    session.import({ ...data, slices: [...data.slices, slice] });
    const call = { name: 'pay', arguments: { euros: '1', paid: null, manner: 'ok' } };
    const outcome = await executeToolCall(call, { tools: makeTools(() => undefined), session, policies });
    expect(outcome).toMatchObject({ kind: 'denied' });
  }
});

test('a misspelt tool is an error: what it takes would not be counted', async () => {
  const misspelt = packPolicies(budgets, { config: { maxMoney: 5, money: { pya: { amount: 1 } } } });
  const session = createSession({ id: 's' });
  await expect(executeToolCall(noted('a'), { tools: [note], session, policies: misspelt })).rejects.toMatchObject({
    code: 'policy.invalid',
    reason: 'tool.unknown',
  });
});
