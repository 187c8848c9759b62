import {
  allow,
  append,
  type Decision,
  definePolicy,
  defineTool,
  deny,
  type Policy,
  type Tool,
  upsert,
} from '@holdfast/core';
import type { LogRecord } from '@holdfast/session';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { testSession } from '../fixtures.ts';
import { openCaller } from '../index.ts';
import { settled } from '../test-attempts.ts';

const max = 2;

/** The decisions of the policies in these tests, as a function of earlier successes. None of them checks in `onResult`. */
function isAllowed(name: string, done: readonly string[]): boolean {
  if (name === 'b' && !done.includes('a')) return false;
  if (name === 'c' && done.includes('b')) return false;
  return done.filter((other) => other === name).length < max;
}

type Pace = (decision: Decision) => Decision | Promise<Decision>;

const atOnce: Pace = (decision) => decision;
const inTime: Pace = async (decision) => {
  for (let turn = 0; turn < 3; turn += 1) await Promise.resolve();
  return decision;
};

/** Counts in a list of its session. */
const budget = (pace: Pace): Policy =>
  definePolicy<string>({
    name: 'budget',
    stateKind: 'list',
    check: ({ tool }, { state }) =>
      pace(state.toArray().filter((name) => name === tool.name).length < max ? allow : deny('Used up.')),
    onResult: ({ tool }) => append(tool.name),
  });

const order = (pace: Pace): Policy =>
  definePolicy<true>({
    name: 'order',
    stateKind: 'keyed',
    check({ tool }, { state }) {
      if (tool.name === 'b' && !state.has('a')) return pace(deny('First `a`.'));
      if (tool.name === 'c' && state.has('b')) return pace(deny('Not after `b`.'));
      return pace(allow);
    },
    onResult: ({ tool }) => upsert(tool.name, true),
  });

/** Counts in itself, where the session does not see it. */
function closed(pace: Pace): Policy {
  const used = new Map<string, number>();
  return definePolicy({
    name: 'closed',
    check: ({ tool }) => pace((used.get(tool.name) ?? 0) < max ? allow : deny('Used up.')),
    onResult: ({ tool }) => void used.set(tool.name, (used.get(tool.name) ?? 0) + 1),
  });
}

class Gates {
  readonly #gates = new Map<string, PromiseWithResolvers<void>>();

  of(name: string): PromiseWithResolvers<void> {
    const gate = this.#gates.get(name) ?? Promise.withResolvers<void>();
    this.#gates.set(name, gate);
    return gate;
  }
}

/** Tools that end when the test says so; `outer` calls two of them in between. */
function gatedTools(gates: Gates): readonly Tool[] {
  const plain = (name: string, effects: 'none' | 'state'): Tool =>
    defineTool({
      name,
      description: 'Waits.',
      effects,
      async execute(_input, { callId }) {
        // Nested ones do not wait.
        if (!callId.includes('/')) await gates.of(`${callId} end`).promise;
        return null;
      },
    });
  const outer = defineTool({
    name: 'outer',
    description: 'Calls others.',
    effects: 'state',
    async execute(_input, { call, callId }) {
      await gates.of(`${callId} middle`).promise;
      for (const name of ['a', 'b']) await call(name);
      await gates.of(`${callId} end`).promise;
      return null;
    },
  });
  return [plain('a', 'none'), plain('b', 'state'), plain('c', 'state'), outer];
}

interface PlannedCall {
  readonly name: string;
  readonly startAt: number;
  readonly middleAfter: number;
  readonly endAfter: number;
}

const plannedCall: fc.Arbitrary<PlannedCall> = fc.record({
  name: fc.constantFrom('a', 'b', 'c', 'outer'),
  startAt: fc.nat(6),
  middleAfter: fc.nat(3),
  endAfter: fc.nat(6),
});

/** Runs the calls as planned. Answers with the end records, in the order of the log. */
async function runAll(calls: readonly PlannedCall[], policies: readonly Policy[]): Promise<readonly LogRecord[]> {
  const gates = new Gates();
  const { session, ends } = testSession();
  const caller = openCaller({ tools: gatedTools(gates), session, policies });
  const running: Promise<unknown>[] = [];
  for (let at = 0; at <= 16; at += 1) {
    for (const [index, { name, startAt, middleAfter, endAfter }] of calls.entries()) {
      const id = String(index);
      if (at === startAt) running.push(caller.execute({ id, name, arguments: {} }));
      if (at === startAt + middleAfter) gates.of(`${id} middle`).resolve();
      if (at === startAt + middleAfter + endAfter) gates.of(`${id} end`).resolve();
    }
    // Some steps let others go on in between, and some do not.
    if (at % 3 === 0) await settled();
    else await Promise.resolve();
  }
  await Promise.all(running);
  return ends();
}

interface End {
  readonly callId: string;
  readonly parentId?: string;
  readonly name: string;
  readonly outcome: { readonly kind: string; readonly code?: string };
}

const pace = fc.constantFrom(atOnce, inTime);

test('what passed of calls that overlap could have passed one by one in the order in which they ended', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(plannedCall, { minLength: 2, maxLength: 7 }),
      pace,
      pace,
      pace,
      async (calls, ...paces) => {
        // State outside the session does not roll back with a call, so it cannot be right about nested calls.
        const plain = calls.every(({ name }) => name !== 'outer');
        const policies = [budget(paces[0]), order(paces[1]), ...(plain ? [closed(paces[2])] : [])];
        // Records of the log; the types of what is in them are those of end events.
        const ends = (await runAll(calls, policies)) as unknown as readonly End[];
        const passed = (end: End): boolean => end.outcome.kind === 'ok';
        expect(ends.filter(({ parentId }) => parentId === undefined)).toHaveLength(calls.length);
        const done: string[] = [];
        for (const { callId, name } of ends.filter((end) => end.parentId === undefined && passed(end))) {
          // A call is decided, then those within it, and they count before it does.
          expect(isAllowed(name, done), `${name} after ${done.join()}`).toBe(true);
          for (const nested of ends.filter((end) => end.parentId === callId && passed(end))) {
            expect(isAllowed(nested.name, done), `nested ${nested.name} after ${done.join()}`).toBe(true);
            done.push(nested.name);
          }
          done.push(name);
        }
        for (const { outcome } of ends) expect(['ok', 'denied']).toContain(outcome.kind);
      },
    ),
    { numRuns: 50 },
  );
});

test('calls that do not overlap are decided once, whatever came before', async () => {
  const asked: string[] = [];
  const watching = definePolicy<number>({
    name: 'watching',
    initialState: 0,
    check({ id }) {
      asked.push(id);
      return allow;
    },
    onResult: (_call, _result, { state }) => state + 1,
  });
  const calls = ['a', 'a', 'outer'].map((name, at) => ({ name, startAt: at * 5, middleAfter: 0, endAfter: 0 }));
  await runAll(calls, [watching]);
  expect(asked).toEqual(['0', '1', '2', '2/1', '2/2']);
});
