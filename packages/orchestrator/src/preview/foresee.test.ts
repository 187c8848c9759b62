import {
  allow,
  ask,
  type Decision,
  definePolicy,
  defineTool,
  deny,
  type Json,
  type KeyedState,
  type Policy,
  type PolicyContext,
  type PreparedCall,
  type Tool,
  upsert,
} from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createSession } from '@holdfast/session';
import { describe, expect, test } from 'vitest';
import { type ForeseeOptions, foreseeCalls } from './foresee.ts';
import { testClock } from './test-clock.ts';
import { notes, testSession, untouchable } from './test-session.ts';
import type { ExpectedCall } from './watch.ts';

const plain = (name: string, dangerous = false): Tool =>
  defineTool({ name, description: `Does ${name}.`, effects: 'none', dangerous, execute: () => null });
const [build, check, deploy, edit] = ['build', 'check', 'deploy', 'edit'].map((name) => plain(name)) as [
  Tool,
  Tool,
  Tool,
  Tool,
];
const wipe = plain('wipe', true);
const tools = [build, check, deploy, edit, wipe];

const known = (tool: Tool, ...after: readonly number[]): ExpectedCall => ({ tool, input: {}, after });
const unknown = (tool: Tool, ...after: readonly number[]): ExpectedCall => ({ tool, after });

/** For each call: `denied` for certain, or `asks` as far as is known, or `-`. */
async function foretell(
  calls: readonly ExpectedCall[],
  policies: readonly Policy[],
  options: Partial<ForeseeOptions> = {},
): Promise<readonly string[]> {
  const foreseen = await foreseeCalls(calls, { tools, policies, resources: {}, ...options });
  return foreseen.map(({ denials, asks }) => (denials.length > 0 ? 'denied' : asks.length > 0 ? 'asks' : '-'));
}

type Check = (call: PreparedCall, context: PolicyContext<unknown>) => unknown;
const stateless = (answer: Check, more: object = {}): Policy =>
  definePolicy({ name: 'p', check: (call, context) => answer(call, context) as Decision, ...more });

const no = deny('No.');
const hang = new Promise<never>(() => undefined);

// Spelled like this because the linter flags a literal `then` property.
function thenable(then: () => void): unknown {
  return Object.fromEntries([['then', then]]);
}

describe('a stateless policy denies for certain', () => {
  test.each<{ what: string; answer: Check; more?: object; found: string; ofUnknown?: string }>([
    { what: 'when it allows', answer: () => allow, found: '-' },
    { what: 'when it denies', answer: () => no, found: 'denied' },
    { what: 'when it denies asynchronously', answer: async () => no, found: 'denied' },
    { what: 'by the tool', answer: ({ tool }) => (tool.name === 'build' ? no : allow), found: 'denied' },
    {
      what: 'by the input',
      answer: ({ input }) => (Object.hasOwn(input as object, 'x') ? allow : no),
      found: 'denied',
      ofUnknown: '-',
    },
    {
      what: 'by the input as text',
      answer: ({ input }) => deny(JSON.stringify(input)),
      found: 'denied',
      ofUnknown: '-',
    },
    {
      what: 'by reading the input too late',
      answer: ({ input }) => Promise.resolve().then(() => ('x' in (input as object) ? allow : no)),
      found: 'denied',
      ofUnknown: '-',
    },
    {
      what: 'with the input destructured but not read',
      answer: ({ input }) => (input === null ? allow : no),
      found: 'denied',
    },
    { what: 'with the id read', answer: ({ id, tool }) => (tool.name === id ? allow : no), found: 'denied' },
    {
      what: 'after reading the session',
      answer: (_call, { session }) => (session.read(notes).size === 0 ? no : allow),
      found: '-',
    },
    {
      what: 'after reading the deadline',
      answer: (_call, { deadline }) => (deadline.atMs > 0 ? no : allow),
      found: '-',
    },
    {
      what: 'after reading the remaining time',
      answer: (_call, { deadline }) => (deadline.remainingMs() > 0 ? no : allow),
      found: '-',
    },
    {
      what: 'without a filesystem, if none will be bound',
      answer: (_call, { filesystem }) => (filesystem === undefined ? no : allow),
      found: 'denied',
    },
    {
      what: 'by throwing',
      answer: () => {
        throw new Error('broke');
      },
      found: 'denied',
    },
    {
      what: 'by throwing on the input',
      answer: ({ input }) => {
        throw new Error(String((input as { x?: string }).x));
      },
      found: 'denied',
      ofUnknown: '-',
    },
    {
      what: 'by rejecting: a service may answer the next time',
      answer: () => Promise.reject(new Error('broke')),
      found: '-',
    },
    { what: 'with an invalid decision', answer: () => 'allow', found: 'denied' },
    {
      what: 'with a getter in the decision',
      answer: () => ({
        get type() {
          return 'deny';
        },
      }),
      found: 'denied',
    },
    { what: 'never, when it asks', answer: () => ask('Sure?'), found: 'asks' },
    { what: 'never, when it is timed', answer: () => no, more: { timed: true }, found: '-' },
    {
      what: 'never, when it has `onResult`',
      answer: () => no,
      more: { onResult: () => undefined },
      found: '-',
    },
    { what: 'never, when it only observes', answer: () => ({ type: 'allow', observed: no }), found: '-' },
  ])('$what', async ({ answer, more, found, ofUnknown = found }) => {
    const policy = stateless(answer, more);
    expect(await foretell([known(build), unknown(build)], [policy])).toEqual([found, ofUnknown]);
  });

  test('never after reading files, unless it is known that none are bound', async () => {
    const looking = stateless(async (_call, { filesystem }) => {
      await filesystem?.stat('a');
      return no;
    });
    expect(await foretell([known(build)], [looking], { resources: {} })).toEqual(['denied']);
    const bound = { filesystem: { ...untouchable(), readOnly: { stat: async () => undefined } } };
    expect(await foretell([known(build)], [looking], { resources: bound })).toEqual(['-']);
    const session = createSession();
    expect(await foreseeCalls([known(build)], { tools, policies: [looking], session })).toEqual([
      { denials: [], asks: [] },
    ]);
    const walking = stateless((_call, { filesystem }) => (filesystem?.walk() === undefined ? no : no));
    expect(await foreseeCalls([known(build)], { tools, policies: [walking] })).toEqual([{ denials: [], asks: [] }]);
  });

  test('reports each denying policy with its reason, in order', async () => {
    const named = (name: string, reason: string): Policy => definePolicy({ name, check: () => deny(reason) });
    const [first] = await foreseeCalls([known(wipe)], { tools, policies: [named('b', 'One.'), named('a', 'Two.')] });
    expect(first).toEqual({
      denials: [
        { policy: 'host/b', reason: 'One.' },
        { policy: 'host/a', reason: 'Two.' },
      ],
      asks: ['`wipe` is marked as dangerous.'],
    });
  });
});

describe('answers that take too long are unknown', () => {
  test('a policy has the time of one answer for all answers together', async () => {
    const clock = testClock();
    let asked = 0;
    const slow = stateless(() => {
      asked += 1;
      return asked === 1 ? Promise.resolve(no) : hang;
    });
    const calls = [known(build), known(build), known(build)];
    const foretold = foretell(calls, [slow, stateless(() => no, { id: 'q' })], { clock, policyTimeoutMs: 50 });
    while (asked < 2) await Promise.resolve();
    clock.advance(50);
    const foreseen = await foretold;
    expect(foreseen).toEqual(['denied', 'denied', 'denied']);
    expect(asked).toBe(2);
  });

  test.each([
    { what: 'a promise that never settles', answer: () => hang },
    {
      what: 'a thenable that throws',
      answer: () =>
        thenable(() => {
          throw new Error('broke');
        }),
    },
    { what: 'a thenable that never settles', answer: () => thenable(() => undefined) },
  ])('$what', async ({ answer }) => {
    const clock = testClock();
    let asked = 0;
    const policy = stateless(() => {
      asked += 1;
      return answer();
    });
    const foretold = foretell([known(build), known(build)], [policy], { clock });
    while (asked === 0) await Promise.resolve();
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    clock.advance(5_000);
    expect(await foretold).toEqual(['-', '-']);
  });
});

interface Needing {
  readonly check?: Check;
  readonly onResult?: Policy<KeyedState<Json>>['onResult'];
}

/** Allows `deploy` after `check` has succeeded. */
function needsCheck({ check: checking, onResult }: Needing = {}): Policy {
  return definePolicy<Json>({
    name: 'needs-check',
    stateKind: 'keyed',
    check: (checking ??
      (({ tool }: PreparedCall, { state }: PolicyContext<KeyedState<Json>>) =>
        tool.name !== 'deploy' || state.has('check') ? allow : no)) as never,
    onResult: onResult ?? (({ tool }) => (tool.name === 'check' ? upsert('check', true) : undefined)),
  });
}

const count = (decide: (used: number) => Decision, onResult?: Policy<number>['onResult']): Policy =>
  definePolicy<number>({
    name: 'count',
    initialState: 0,
    check: (_call, { state }) => decide(state),
    onResult: onResult ?? ((_call, _result, { state }) => state + 1),
  });

describe('a stateful policy', () => {
  test.each<{ what: string; calls: readonly ExpectedCall[]; policy?: Policy; found: readonly string[] }>([
    { what: 'no call lifts the denial', calls: [known(deploy)], found: ['denied'] },
    {
      what: 'other calls do not affect it',
      calls: [known(build), known(deploy, 0), known(edit)],
      found: ['-', 'denied', '-'],
    },
    { what: 'an earlier call lifts it', calls: [known(check), known(deploy, 0)], found: ['-', '-'] },
    { what: 'a call that may come earlier lifts it', calls: [known(deploy), known(check)], found: ['-', '-'] },
    {
      what: 'only a later call could lift it',
      calls: [known(deploy), known(build, 0), known(check, 1)],
      found: ['denied', '-', '-'],
    },
    {
      what: 'one call comes later, and one may come earlier',
      calls: [known(deploy), known(check, 0), known(check)],
      found: ['-', '-', '-'],
    },
    {
      what: 'the call itself does not lift it',
      calls: [known(deploy)],
      policy: needsCheck({ onResult: () => upsert('check', true) }),
      found: ['denied'],
    },
    {
      what: 'another call of the tool lifts it',
      calls: [known(deploy), known(deploy)],
      policy: needsCheck({ onResult: () => upsert('check', true) }),
      found: ['-', '-'],
    },
    {
      what: 'the effect of a success depends on its value',
      calls: [known(check), known(deploy, 0), known(deploy)],
      policy: needsCheck({ onResult: (_call, { value }) => (value === null ? undefined : upsert('check', true)) }),
      found: ['-', '-', '-'],
    },
    {
      what: 'the effect of a success depends on what it touched',
      calls: [known(check), known(deploy, 0)],
      policy: needsCheck({
        onResult: (_call, { touched }) => (touched.size === 0 ? undefined : upsert('check', true)),
      }),
      found: ['-', '-'],
    },
    {
      what: 'the effect of a success depends on an unknown input',
      calls: [unknown(check), known(deploy, 0)],
      policy: needsCheck({ onResult: ({ input }) => ('x' in (input as object) ? upsert('check', true) : undefined) }),
      found: ['-', '-'],
    },
    {
      what: 'the effect of a success depends on a known input',
      calls: [known(edit), known(deploy, 0), { tool: check, input: { x: 1 }, after: [1] }, known(deploy, 2)],
      policy: needsCheck({ onResult: ({ input }) => ('x' in (input as object) ? upsert('check', true) : undefined) }),
      found: ['-', 'denied', '-', '-'],
    },
    {
      what: 'the effect of a success is unknown because `onResult` throws',
      calls: [known(edit), known(deploy, 0)],
      policy: needsCheck({
        onResult: () => {
          throw new Error('broke');
        },
      }),
      found: ['-', '-'],
    },
    {
      what: 'the effect of a success is unknown because `onResult` is asynchronous',
      calls: [known(edit), known(deploy, 0)],
      policy: needsCheck({ onResult: () => Promise.reject(new Error('late')) as never }),
      found: ['-', '-'],
    },
    {
      what: 'the effect of a success is unknown because the new state is invalid',
      calls: [known(edit), known(deploy, 0)],
      policy: needsCheck({ onResult: () => upsert('check', () => undefined) }),
      found: ['-', '-'],
    },
    {
      what: 'the check throws',
      calls: [known(deploy)],
      policy: needsCheck({
        check: () => {
          throw new Error('broke');
        },
      }),
      found: ['-'],
    },
    {
      what: 'the check reads an unknown input',
      calls: [unknown(deploy)],
      policy: needsCheck({ check: ({ input }) => ('x' in (input as object) ? allow : no) }),
      found: ['-'],
    },
    {
      what: 'the check reads the session',
      calls: [known(deploy)],
      policy: needsCheck({ check: (_call, { session }) => (session.read(notes).size === 0 ? no : allow) }),
      found: ['-'],
    },
    {
      what: 'it takes too long',
      calls: [known(deploy), known(check, 0)],
      policy: needsCheck({
        check: async ({ tool }, { state }) =>
          tool.name !== 'deploy' || (state as KeyedState<Json>).has('check') ? allow : no,
      }),
      found: ['denied', '-'],
    },
    {
      what: 'a budget that is left',
      calls: [known(build), known(build), known(build)],
      policy: count((used) => (used < 2 ? allow : no)),
      found: ['-', '-', '-'],
    },
    {
      what: 'a denial that comes and goes',
      calls: [known(build), known(build), known(build)],
      policy: count((used) => (used % 2 === 0 ? no : allow)),
      found: ['-', '-', '-'],
    },
    {
      what: 'a denial in each of many states',
      calls: [known(build), known(build), known(build)],
      policy: count((used) => (used < 3 ? no : allow)),
      found: ['denied', 'denied', 'denied'],
    },
    {
      what: 'a denial in all states but the last',
      calls: [known(build), known(build), known(build)],
      policy: count((used) => (used < 2 ? no : allow)),
      found: ['-', '-', '-'],
    },
    {
      what: 'a denial in each of infinitely many states',
      calls: [known(build), known(build)],
      policy: count(() => no),
      found: ['denied', 'denied'],
    },
  ])('$what', async ({ calls, policy = needsCheck(), found }) => {
    expect(await foretell(calls, [policy])).toEqual(found);
  });

  test('an exhausted budget denies the rest, although its `onResult` throws', async () => {
    const { session } = testSession();
    const used = count(
      (state) => (state < 1 ? allow : no),
      (_call, _result, { state }) => {
        if (state >= 1) throw new Error('over');
        return state + 1;
      },
    );
    const options = { tools, policies: [used], session };
    expect(await foretell([known(build), known(edit)], [used], { session })).toEqual(['-', '-']);
    await executeToolCall({ name: 'build', arguments: {} }, options);
    expect(await foretell([known(build), known(edit)], [used], { session })).toEqual(['denied', 'denied']);
  });

  test('the reserve of a call in doubt is not known ahead', async () => {
    const reserving = definePolicy<Json>({
      name: 'reserving',
      stateKind: 'keyed',
      check: ({ tool }, { state }) => (tool.name !== 'deploy' || state.has('send') ? allow : no),
      reserve: ({ tool }) => upsert(tool.name, true),
    });
    const sending = (repeat: 'never' | 'safe'): Tool =>
      defineTool({ name: 'send', description: 'Sends.', effects: 'external', repeat, execute: () => null });
    for (const [send, found] of [
      [sending('never'), '-'],
      [sending('safe'), 'denied'],
    ] as const) {
      const calls = [known(send), known(deploy, 0)];
      expect(await foretell(calls, [reserving], { tools: [send, deploy] })).toEqual(['-', found]);
    }
  });

  test('a session with another slice under its key', async () => {
    const { session } = testSession();
    const first = count(() => allow);
    await executeToolCall({ name: 'build', arguments: {} }, { tools, policies: [first], session });
    const other = definePolicy<Json>({ name: 'count', stateKind: 'keyed', check: () => no });
    expect(await foretell([known(build)], [other, stateless(() => ask('Sure?'))], { session })).toEqual(['asks']);
  });

  test('staleness: a denial that two calls lift and restore is not certain', async () => {
    const fresh = definePolicy<Json>({
      name: 'fresh',
      stateKind: 'keyed',
      check: ({ tool }, { state }) => (tool.name !== 'deploy' || state.get('checked') === true ? allow : no),
      onResult: ({ tool }) =>
        tool.name === 'check' ? upsert('checked', true) : tool.name === 'edit' ? upsert('checked', false) : undefined,
    });
    // This order is denied before and after; another order is not.
    expect(await foretell([known(check), known(edit), known(deploy)], [fresh])).toEqual(['-', '-', '-']);
    expect(await foretell([known(edit), known(deploy, 0), known(check, 1)], [fresh])).toEqual(['-', 'denied', '-']);
  });

  test('a policy that tells all calls apart', async () => {
    const wrapped = (policy: Policy): Policy => ({
      ...policy,
      check: ({ id, tool: own, input }, context) => policy.check({ id, tool: own, input }, context),
      onResult: ({ id, tool: own, input }, result, context) =>
        policy.onResult?.({ id, tool: own, input }, result, context),
    });
    const checks = Array.from({ length: 40 }, () => known(check, 0));
    const builds = Array.from({ length: 2_000 }, () => known(build));
    const after = [known(deploy), ...checks, ...builds];
    expect((await foretell(after, [wrapped(needsCheck())])).slice(0, 2)).toEqual(['denied', '-']);
    expect((await foretell([...after, known(check)], [wrapped(needsCheck())]))[0]).toBe('-');
  });

  test('each call has its own id', async () => {
    const once = definePolicy<Json>({
      name: 'once',
      stateKind: 'keyed',
      check: ({ id }, { state }) => (state.has(id) ? no : allow),
      onResult: ({ id }) => upsert(id, true),
    });
    expect(await foretell([known(build), known(build, 0), known(build, 1)], [once])).toEqual(['-', '-', '-']);
  });

  test('many calls that depend on it or on each other', async () => {
    const many = Array.from({ length: 70 }, () => known(check, 0));
    expect((await foretell([known(deploy), ...many], [needsCheck()]))[0]).toBe('denied');
    expect((await foretell([known(deploy), ...many, known(check)], [needsCheck()]))[0]).toBe('-');
    const more = Array.from({ length: 1_100 }, () => known(check, 0));
    expect((await foretell([known(deploy), ...more], [needsCheck()]))[0]).toBe('denied');
    expect((await foretell([known(deploy), ...more, known(check)], [needsCheck()]))[0]).toBe('-');
    const chain = Array.from({ length: 1_100 }, (_, before) => known(check, before));
    expect((await foretell([known(deploy), ...chain], [needsCheck()]))[0]).toBe('denied');
  });

  test('too many states to explore', async () => {
    const sets = definePolicy<Json>({
      name: 'sets',
      stateKind: 'keyed',
      check: ({ tool }) => (tool.name === 'deploy' ? no : allow),
      onResult: ({ tool, input }) =>
        tool.name === 'edit' ? upsert(String((input as { x?: number }).x), true) : undefined,
    });
    const edits = (size: number): readonly ExpectedCall[] =>
      Array.from({ length: size }, (_, x) => ({ tool: edit, input: { x }, after: [] }));
    expect((await foretell([...edits(8), known(deploy)], [sets])).at(-1)).toBe('denied');
    expect((await foretell([...edits(9), known(deploy)], [sets])).at(-1)).toBe('-');
    const builds = Array.from({ length: 300 }, () => known(build));
    expect(new Set(await foretell(builds.slice(0, 200), [count(() => no)]))).toEqual(new Set(['denied']));
    expect(new Set(await foretell(builds, [count(() => no)]))).toEqual(new Set(['-']));
  });
});

describe('expected questions', () => {
  const asking = (reason: string, id = reason.toLowerCase()): Policy =>
    definePolicy({ name: 'asking', id, check: ({ tool }) => (tool.name === 'edit' ? allow : ask(reason)) });

  test('reasons in order, the dangerous gate last', async () => {
    const foreseen = await foreseeCalls([known(wipe), known(edit), unknown(build)], {
      tools,
      policies: [asking('B'), asking('A')],
    });
    expect(foreseen.map(({ asks }) => asks)).toEqual([['B', 'A', '`wipe` is marked as dangerous.'], [], ['B', 'A']]);
  });

  test('not those that depend on an unknown input or come with a denial, except that of the gate', async () => {
    const byInput = stateless(({ input }) => ask(`${Object.keys(input as object).length} keys`));
    const asksOf = async (policies: readonly Policy[]): Promise<unknown> =>
      (await foreseeCalls([unknown(wipe), known(wipe)], { tools, policies })).map(({ asks }) => asks);
    const gate = '`wipe` is marked as dangerous.';
    expect(await asksOf([byInput])).toEqual([[gate], ['0 keys', gate]]);
    expect(await asksOf([asking('A'), stateless(() => no, { timed: true })])).toEqual([[gate], [gate]]);
  });

  test('by the state after earlier calls: three calls are free', async () => {
    const free = count((used) => (used < 3 ? allow : ask('More?')));
    const calls = [known(build), known(build), known(build), known(edit), known(edit, 3)];
    expect(await foretell(calls, [free])).toEqual(['-', '-', '-', 'asks', 'asks']);
  });

  test('none for a grant by the host, or by a person for the same version of the tool', async () => {
    const { session } = testSession();
    const options = { tools, policies: [asking('A')], session };
    expect(await foretell([known(wipe), known(build)], [asking('A')], { session, grants: ['wipe'] })).toEqual([
      '-',
      'asks',
    ]);
    await executeToolCall(
      { name: 'wipe', arguments: {} },
      { ...options, approve: () => ({ type: 'approve', grant: true }) },
    );
    expect(await foretell([known(wipe), known(build)], [asking('A')], { session })).toEqual(['-', 'asks']);
    const other = defineTool({
      name: 'wipe',
      description: 'Wipes more.',
      effects: 'none',
      dangerous: true,
      execute: () => null,
    });
    expect(await foretell([known(other)], [], { session, tools: [other] })).toEqual(['asks']);
    expect(await foretell([known(wipe)], [stateless(() => no)], { session })).toEqual(['denied']);
  });

  test('only questions that no grant can answer remain', async () => {
    const each = stateless(() => ask('Each time.', { grantable: false }), { id: 'each' });
    const [foreseen] = await foreseeCalls([known(wipe)], {
      tools,
      policies: [asking('A'), each],
      resources: {},
      grants: ['wipe'],
    });
    expect(foreseen?.asks).toEqual(['Each time.']);
  });
});

describe('the host', () => {
  test.each([
    { code: 'policy.invalid', reason: 'key.duplicate', policies: [needsCheck(), needsCheck()] },
    { code: 'policy.invalid', reason: 'tool.unknown', policies: [stateless(() => allow, { tools: ['nowhere'] })] },
    { code: 'options.invalid', policies: [], policyTimeoutMs: 0 },
  ])('$code', async ({ code, reason, ...options }) => {
    await expect(foreseeCalls([], { tools, ...options })).rejects.toMatchObject({ code, reason });
  });

  test('no calls give no answers', async () => {
    expect(await foreseeCalls([], { tools, policies: [needsCheck()] })).toEqual([]);
  });
});

test('leaves no trace in the log, the state or the known slices of the session', async () => {
  const { session, records } = testSession();
  const words = untouchable();
  const policies = [
    needsCheck(),
    stateless((_call, { session: read }) => (read.read(notes).size < 0 ? no : allow)),
    count((used) => (used < 100 ? ask('Sure?') : no)),
  ];
  const before = { records: [...records], snapshot: session.snapshot(), exported: session.export() };
  const calls = [known(check), known(deploy), known(wipe, 1), unknown(build)];
  const resources = { words };
  expect(await foretell(calls, policies, { session, resources })).toEqual(['asks', 'asks', 'asks', 'asks']);
  expect(records).toEqual(before.records);
  expect(session.snapshot()).toEqual(before.snapshot);
  expect(session.export()).toEqual(before.exported);
  expect(words.begun()).toBe(0);
  session.record({ type: 'later' });
  expect(records.slice(before.records.length).map(({ type }) => type)).toEqual(['later']);
});

test('within a call, the end of the call ends the time of the policies', async () => {
  const { session } = testSession();
  const asking: { readonly foretold: Promise<readonly string[]>[] } = { foretold: [] };
  const around = defineTool({
    name: 'around',
    description: 'Looks ahead.',
    effects: 'none',
    execute: async (_input, context) => {
      asking.foretold.push(foretell([known(build)], [stateless(() => hang)], { session: context.child() }));
      return null;
    },
  });
  await executeToolCall({ name: 'around', arguments: {} }, { tools: [around], session, timeoutMs: 60_000 });
  expect(await Promise.all(asking.foretold)).toEqual([['-']]);
});

describe('a policy that looks at facts', () => {
  const none = { runs: [], reads: [], writes: [], deletes: [], hosts: [], untrusted: false, unclear: [] };
  const facts = {
    view: { folder: '/w', workspace: '/w' },
    describe: ({ tool }: PreparedCall) => ({
      ...none,
      reads: tool.name === 'build' ? [{ path: '/etc/passwd', inside: false }] : [],
    }),
  };
  const isOutside: Check = ({ facts: made }) => made?.reads.some(({ inside }) => !inside);
  test.each<{ what: string; answer: Check; without?: boolean; found: readonly string[] }>([
    {
      what: 'asks by them',
      answer: (...call) => (isOutside(...call) ? ask('Outside?') : allow),
      found: ['asks', '-', '-'],
    },
    {
      what: 'denies nothing for sure, as a link may lead elsewhere by then',
      answer: (...call) => (isOutside(...call) ? no : allow),
      found: ['-', '-', '-'],
    },
    {
      what: 'has none where the host makes none',
      answer: ({ facts: made }) => (made ? allow : no),
      without: true,
      found: ['denied', 'denied', 'denied'],
    },
    {
      what: 'sees where calls run',
      answer: (_call, { place }) => (place?.folder === '/w' ? ask('Here?') : allow),
      found: ['asks', 'asks', 'asks'],
    },
    {
      what: 'does not know the request',
      answer: (_call, { request }) => (request === undefined ? no : allow),
      found: ['-', '-', '-'],
    },
  ])('$what: $found', async ({ answer, without = false, found }) => {
    const calls = [known(build), known(check), unknown(build)];
    expect(await foretell(calls, [stateless(answer)], without ? {} : { facts })).toEqual(found);
  });
});
