import { runInNewContext } from 'node:vm';
import {
  allow,
  append,
  ask,
  type Decision,
  definePolicy,
  deny,
  HoldfastError,
  type Policy,
  type PolicyContext,
  type PolicyDecision,
  type PolicyResult,
  type PreparedCall,
  replace,
  upsert,
} from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import {
  byModel,
  cycle,
  directly,
  expectOneEnd,
  hang,
  hostileProxy,
  makeWorld,
  makeWriter,
  notes,
  type Runner,
  revokedProxy,
  type TestClock,
  thenable,
  thrown,
} from '../calls/call-fixtures.ts';

type Check = (call: PreparedCall, context: PolicyContext) => unknown;

interface Faulty {
  readonly what: string;
  readonly make: (clock: TestClock) => Check;
}

/** A policy that does one thing and needs no clock. */
const does = (what: string, check: Check): Faulty => ({ what, make: () => check });
const answers = (what: string, answer: () => unknown): Faulty => does(`answers ${what}`, answer);

const throwing: readonly Faulty[] = [
  does('throws an Error', () => thrown(new Error('broke'))),
  does('throws a HoldfastError', () => thrown(new HoldfastError('policy.mine', 'broke'))),
  does('throws null', () => thrown(null)),
  does('throws undefined', () => thrown(undefined)),
  does('throws a string', () => thrown('broke')),
  does('throws an allow', () => thrown(allow)),
  does('throws an object whose message throws', () => thrown({ message: { toString: () => thrown('again') } })),
  does('throws a proxy', () => thrown(hostileProxy())),
  does('throws a revoked proxy', () => thrown(revokedProxy())),
  does('calls itself for ever', function again(...parameters): unknown {
    return [again(...parameters)];
  }),
  does('rejects', () => Promise.reject(new Error('broke'))),
  does('rejects with null', () => Promise.reject(null)),
  does('rejects with an allow', () => Promise.reject(allow)),
  does('throws after it has waited', async () => {
    await Promise.resolve();
    throw new Error('broke');
  }),
];

const hanging: readonly Faulty[] = [
  { what: 'never settles', make: (clock) => () => hang(clock) },
  {
    what: 'answers a thenable that answers from its `then`',
    make: (clock) => () => {
      void hang(clock);
      return thenable(() => allow, { type: 'allow' });
    },
  },
  { what: 'answers a thenable that never calls back', make: (clock) => () => thenable(() => void hang(clock)) },
  {
    what: 'answers a thenable that turns into one that never calls back',
    make: (clock) => () => thenable((resolve: (value: unknown) => void) => resolve(hang(clock))),
  },
  {
    what: 'allows when its time is over',
    make: (clock) => () =>
      new Promise((resolve) => {
        clock.after(5_000, () => setImmediate(() => resolve(allow)));
        setImmediate(() => clock.advance());
      }),
  },
  {
    what: 'fails when its time is over',
    make: (clock) => () =>
      new Promise((_resolve, reject) => {
        clock.after(5_000, () => setImmediate(() => reject(new Error('late'))));
        setImmediate(() => clock.advance());
      }),
  },
];

class Allowing {
  readonly kind = 'allow';
}
function* generating(): Generator<Decision> {
  yield allow;
}

const meaningless: readonly Faulty[] = [
  answers('undefined', () => undefined),
  answers('null', () => null),
  answers('false', () => false),
  answers('true', () => true),
  answers('1', () => 1),
  answers('NaN', () => Number.NaN),
  answers('a BigInt', () => 1n),
  answers('the text `allow`', () => 'allow'),
  answers('an empty text', () => ''),
  answers('JSON of an allow', () => JSON.stringify(allow)),
  answers('a symbol', () => Symbol('allow')),
  answers('a function that answers allow', () => () => allow),
  answers('the class of its answers', () => Allowing),
  answers('an instance without a type', () => new Allowing()),
  answers('an empty object', () => ({})),
  answers('{ allow: true }', () => ({ allow: true })),
  answers('a list with an allow', () => [allow]),
  answers('a Map with the type of an allow', () => new Map([['type', 'allow']])),
  answers('a boxed true', () => Object(true)),
  answers('a Date', () => new Date(0)),
  answers('an Error named allow', () => Object.assign(new Error('allow'), { name: 'allow' })),
  answers('a generator of an allow', generating),
  answers('ALLOW', () => ({ type: 'ALLOW' })),
  answers('allow and a blank', () => ({ type: 'allow ' })),
  answers('a type that is true', () => ({ type: true })),
  answers('a type that is a boxed text', () => ({ type: Object('allow') })),
  answers('a type that is a list', () => ({ type: ['allow'] })),
  answers('a type that turns into text', () => ({ type: { toString: () => 'allow' } })),
  answers('a promise of undefined', async () => undefined),
  answers('a promise of true', async () => true),
  answers('a promise of a function', async () => () => allow),
  answers('a function with a `then`', () =>
    Object.assign(
      () => allow,
      thenable((resolve: (value: unknown) => void) => resolve(allow)),
    ),
  ),
];

/** A real promise with a `then` of its own, which only counts if it is called. */
const odd = (what: string, then: unknown): Faulty => ({
  what: `answers a promise whose own \`then\` ${what}`,
  make: (clock) => () => {
    void hang(clock);
    return Object.assign(Promise.resolve(), thenable(then));
  },
});

class TwoFaced extends Promise<unknown> {}
void Object.assign(
  TwoFaced.prototype,
  thenable((settled?: (value: unknown) => unknown) => void [deny('first'), allow].map((answer) => settled?.(answer))),
);
class Refusing extends Promise<unknown> {}
void Object.assign(
  Refusing.prototype,
  thenable(() => thrown(new Error('no then'))),
);

const flip = <First, Then>(first: First, later: Then): (() => First | Then) => {
  let reads = 0;
  return () => {
    reads += 1;
    return reads === 1 ? first : later;
  };
};
const getting = (property: string, get: () => unknown, rest: object = {}): object =>
  Object.defineProperty({ ...rest }, property, { get, enumerable: true });

const twoFaced: readonly Faulty[] = [
  answers('a thenable that throws', () => thenable(() => thrown(new Error('broke')))),
  answers('a thenable of nothing, then of an allow', () =>
    thenable((resolve: (value: unknown) => void) => [undefined, allow].forEach(resolve)),
  ),
  answers('a thenable of a deny, then of an allow', () =>
    thenable((resolve: (value: unknown) => void) => [deny('first'), allow].forEach(resolve)),
  ),
  answers('a thenable that rejects, then allows', () =>
    thenable((resolve: (value: unknown) => void, reject: (reason: unknown) => void) => {
      reject(new Error('first'));
      resolve(allow);
    }),
  ),
  answers('an object whose `then` throws when read', () => getting('then', () => thrown(new Error('read')), allow)),
  answers('a deny whose `then` is there at the second look', () =>
    getting(
      'then',
      flip<unknown, unknown>(undefined, (resolve: (value: unknown) => void) => resolve(allow)),
      deny('first'),
    ),
  ),
  answers('a promise whose class calls back twice', () => TwoFaced.resolve(allow)),
  answers('a promise whose class refuses', () => Refusing.resolve(allow)),
  odd('throws', () => thrown(new Error('no then'))),
  odd('gives nothing', () => undefined),
  odd('returns something other than a decision', () => ({ type: 'let me' })),
  odd('gives an allow', () => allow),
  odd('calls back twice', (settled: (value: unknown) => unknown) => [deny('first'), allow].map(settled)),
  answers('a proxy whose traps throw', hostileProxy),
  answers('a revoked proxy', revokedProxy),
  answers('a proxy that has everything and gives nothing', () => new Proxy({}, { has: () => true })),
  answers('a type that is deny, then allow', () => getting('type', flip('deny', 'allow'), { reason: 'first' })),
  answers('a type that is nothing, then allow', () => getting('type', flip(undefined, 'allow'))),
  answers('a type that throws when read', () => getting('type', () => thrown(new Error('read')))),
  answers('a promise of a type that is deny, then allow', async () => getting('type', flip('deny', 'allow'))),
  answers('a proxy that denies, then allows', () => {
    const type = flip('deny', 'allow');
    return new Proxy(
      {},
      { has: (_target, key) => key === 'type', get: (_target, key) => (key === 'type' ? type() : undefined) },
    );
  }),
  answers('a deny whose reason throws', () => getting('reason', () => thrown(new Error('read')), { type: 'deny' })),
  answers('a deny without a reason', () => ({ type: 'deny' })),
  answers('a deny with a reason that is not text', () => ({ type: 'deny', reason: hostileProxy() })),
  answers('an ask that throws when asked why', () =>
    getting('reason', () => thrown(new Error('read')), { type: 'ask' }),
  ),
  answers('an object of another realm', () => runInNewContext('({ decision: "allow" })') as unknown),
  answers('a deny of another realm', () => runInNewContext('({ type: "deny", reason: "foreign" })') as unknown),
  answers('a promise of another realm', () => runInNewContext('Promise.resolve(true)') as unknown),
  does('throws what another realm made', () => runInNewContext('throw new Error("foreign")') as unknown),
];

interface Input {
  to: string;
  list: string[];
  deep: { er: { list: string[] } };
}
const inputOf = ({ input }: PreparedCall): Input => input as unknown as Input;
/** Everything a policy may hold of the call, without the types that forbid to change it. */
type Writable<Value> = { -readonly [Key in keyof Value]: Value[Key] };
const changes = (what: string, change: (call: PreparedCall, context: PolicyContext) => unknown): Faulty =>
  does(`changes ${what}`, (call, context) => {
    change(call, context);
    return allow;
  });

const mutating: readonly Faulty[] = [
  changes('an argument', (call) => Object.assign(inputOf(call), { to: 'changed' })),
  changes('an argument deep down', (call) => Object.assign(inputOf(call).deep.er, { list: [] })),
  changes('a list among the arguments', (call) => inputOf(call).list.push('changed')),
  changes('a list deep down', (call) => inputOf(call).deep.er.list.sort().reverse().pop()),
  changes('what arguments there are', (call) => Object.assign(inputOf(call), { more: 1 })),
  changes('the arguments by taking one away', (call) => delete (inputOf(call) as Partial<Input>).to),
  changes('an argument into a getter', (call) => Object.defineProperty(inputOf(call), 'to', { get: () => 'changed' })),
  changes('the prototype of the arguments', (call) => Object.setPrototypeOf(inputOf(call), { admin: true })),
  changes('the arguments of the call', (call) => ((call as Writable<PreparedCall>).input = {})),
  changes('the id of the call', (call) => ((call as Writable<PreparedCall>).id = 'other')),
  changes('what the tool does', ({ tool }) => Object.assign(tool, { execute: () => 'replaced' })),
  changes('whether the tool is dangerous', ({ tool }) => Object.assign(tool, { dangerous: false })),
  changes('its context', (_call, context) => Object.assign(context, { state: 99 })),
  changes('its state', (_call, { state }) => (state as { seen: string[] }).seen.push('changed')),
  changes('the session that it reads', (_call, { session }) => Object.assign(session, { read: () => [] })),
  changes('the session by dispatching', (_call, { session }) =>
    (session as unknown as { dispatch(event: object): void }).dispatch({ type: 'noted', payload: 'changed' }),
  ),
  changes('a file', (_call, { filesystem }) =>
    (filesystem as unknown as { write(path: string, text: string): void }).write('kept.txt', 'changed'),
  ),
  changes('the filesystem that it reads', (_call, { filesystem }) =>
    Object.assign(filesystem ?? {}, { readText: () => 'changed' }),
  ),
];

const faulty = [...throwing, ...hanging, ...meaningless, ...twoFaced, ...mutating];
const call = { id: 'c', name: 'write', arguments: '{"to":"x","list":["a"],"deep":{"er":{"list":["b","a"]}}}' };
const inputSchema = v.object({
  to: v.string(),
  list: v.array(v.string()),
  deep: v.object({ er: v.object({ list: v.array(v.string()) }) }),
});

/** Counts successes, and allows. */
const counting = (name: string, answer: () => Decision | Promise<Decision> = () => allow): Policy<number> =>
  definePolicy<number>({ name, initialState: 0, check: answer, onResult: (_call, _result, { state }) => state + 1 });
const before = counting('before');
const beforeLater = counting('before-later', async () => allow);
const after = counting('after');
const afterLater = counting('after-later', async () => allow);
const places: readonly { readonly where: string; readonly around: (policy: Policy) => readonly Policy[] }[] = [
  { where: 'alone', around: (policy) => [policy] },
  { where: 'before one that allows', around: (policy) => [policy, after] },
  { where: 'behind one that allows', around: (policy) => [before, policy] },
  { where: 'between two that allow later', around: (policy) => [beforeLater, policy, afterLater] },
];
const runners: readonly { readonly by: string; readonly run: Runner }[] = [
  { by: 'called directly', run: directly },
  { by: 'called by a model', run: byModel },
];

test('the faulty policies are at least forty, and no two of one name', () => {
  expect(new Set(faulty.map(({ what }) => what)).size).toBe(faulty.length);
  expect(faulty.length).toBeGreaterThanOrEqual(40);
});

test.each(faulty)('a policy that $what lets no call through', async ({ make }) => {
  for (const { around, where } of places) {
    for (const { by, run } of runners) {
      const world = makeWorld({ policies: [before, beforeLater, after, afterLater] });
      const policy = definePolicy({
        name: 'faulty',
        initialState: { seen: [] as string[] },
        check: make(world.clock) as () => Decision,
      });
      const tool = makeWriter(() => 'done', { inputSchema });
      const policies = around(policy as Policy);
      const looked = await world.look();
      const { session, filesystem, clock } = world;
      const ended = await run(call, {
        tools: [tool],
        session,
        policies,
        resources: { filesystem },
        clock,
        unattended: true,
      });

      const end = expectOneEnd(ended, world);
      expect(ended.outcome, `${where}, ${by}`).toMatchObject({
        kind: 'denied',
        callId: 'c',
        name: 'write',
        value: null,
      });
      expect(end.input).toEqual(JSON.parse(call.arguments));
      const reason = end.decisions.find(({ policy: key }) => key === 'host/faulty')?.reason;
      expect(end.decisions).toEqual(
        policies.map(({ id }) =>
          id === 'faulty'
            ? { policy: 'host/faulty', type: 'deny', reason: expect.stringMatching(/\S/) as string }
            : { policy: `host/${id}`, type: 'allow' },
        ),
      );
      expect(ended.outcome.text).toContain(reason);
      expect(tool.entered.count).toBe(0);
      expect(await world.look()).toBe(looked);
      if (run === byModel) expect(ended).toMatchObject({ status: 'completed', answered: ended.outcome.text });
    }
  }
});

test.each([
  ['of another realm', () => runInNewContext('({ type: "allow" })') as unknown],
  ['of a class', () => Object.assign(new Allowing(), { type: 'allow' })],
  ['that is a promise of another realm', () => runInNewContext('Promise.resolve({ type: "allow" })') as unknown],
  ['that is a thenable', () => thenable((resolve: (value: unknown) => void) => resolve(allow))],
  ['that is allow, then deny: what counts is read once', () => getting('type', flip('allow', 'deny'))],
])('an allow %s is an allow', async (_what, answer) => {
  const world = makeWorld();
  const tool = makeWriter(() => 'done', { inputSchema });
  const policies = [definePolicy({ name: 'odd', check: answer as () => Decision })];
  const ended = await directly(call, { tools: [tool], session: world.session, policies });
  expect(expectOneEnd(ended, world).decisions).toEqual([{ policy: 'host/odd', type: 'allow' }]);
  expect(ended.outcome.kind).toBe('ok');
});

test('an answer is read once, its `then` too', async () => {
  const world = makeWorld();
  const reads: string[] = [];
  const noting = (value: object): object =>
    new Proxy(value, {
      get(target, key, receiver): unknown {
        reads.push(String(key));
        return Reflect.get(target, key, receiver);
      },
    });
  for (const answer of [
    noting(deny('no')),
    noting(thenable((resolve: (value: unknown) => void) => resolve(noting(deny('no')))) as object),
  ]) {
    reads.length = 0;
    const policies = [definePolicy({ name: 'noting', check: () => answer as Decision })];
    const { outcome } = await directly(call, {
      tools: [makeWriter(() => 1, { inputSchema })],
      session: world.session,
      policies,
    });
    expect(outcome).toMatchObject({ kind: 'denied', message: 'Denied: no' });
    for (const key of ['type', 'reason']) expect(reads.filter((read) => read === key)).toHaveLength(1);
    // Once of the answer, and once more of what a thenable gives.
    expect(reads.filter((read) => read === 'then').length).toBeLessThanOrEqual(2);
  }
});

test('a policy that hides that it failed to change the arguments has changed nothing', async () => {
  const world = makeWorld();
  const seen: unknown[] = [];
  const hiding = mutating.slice(0, 10).map(({ make }, index) =>
    definePolicy({
      name: `hiding-${index}`,
      check: (prepared, context) => {
        try {
          make(world.clock)(prepared, context);
        } catch (error) {
          seen.push((error as Error).name);
        }
        return allow;
      },
    }),
  );
  const inputs: unknown[] = [];
  const tool = makeWriter(() => 1, { inputSchema });
  const keeping = { ...tool, execute: (input: unknown, { callId }: { callId: string }) => inputs.push(input, callId) };
  const ended = await directly(call, { tools: [keeping], session: world.session, policies: hiding });
  expect(ended.outcome.kind).toBe('ok');
  expect(seen).toEqual(hiding.map(() => 'TypeError'));
  expect(inputs).toEqual([JSON.parse(call.arguments), 'c']);
  expect(expectOneEnd(ended, world).input).toEqual(JSON.parse(call.arguments));
});

test('the arguments of a tool without a schema, and what a schema makes of arguments, are frozen all the way down', async () => {
  const world = makeWorld();
  const frozen: boolean[] = [];
  const looking = definePolicy({
    name: 'looking',
    check: ({ input }) => {
      frozen.push(isDeeplyFrozen(input));
      return allow;
    },
  });
  const options = { session: world.session, policies: [looking] };
  const bare = makeWriter(() => 1);
  for (const [index, raw] of ['', '{}', {}, undefined].entries())
    await directly({ id: `bare-${index}`, name: 'write', arguments: raw }, { ...options, tools: [bare] });
  const shallow = makeWriter(() => 1, {
    inputSchema: v.pipe(
      inputSchema,
      v.transform((value) => Object.freeze(value)),
    ),
  });
  await directly(call, { ...options, tools: [shallow] });
  expect(frozen).toEqual([true, true, true, true, true]);
});

test('a context that a policy keeps only reads, also when the call is over', async () => {
  const world = makeWorld();
  const kept: PolicyContext[] = [];
  const keeping = definePolicy({
    name: 'keeping',
    check: (_call, context) => {
      kept.push(context);
      return allow;
    },
  });
  const { session, filesystem } = world;
  await directly(call, {
    tools: [makeWriter(() => 1, { inputSchema })],
    session,
    policies: [keeping],
    resources: { filesystem },
  });
  const looked = await world.look();
  const [context] = kept;
  expect(context?.session.read(notes).toArray()).toEqual(['before', 'written']);
  expect(await context?.filesystem?.readText('written.txt')).toBe('written');
  for (const [name, part] of [
    ['session', context?.session],
    ['filesystem', context?.filesystem],
  ] as const) {
    expect(Object.isFrozen(part), name).toBe(true);
    expect(
      Object.keys(part ?? {}).filter((key) => !/^(read|list|stat|walk|resolve|exists|glob|grep)/.test(key)),
      name,
    ).toEqual([]);
  }
  expect(await world.look()).toBe(looked);
});

test('who reads the state of a slice cannot write to it', async () => {
  const world = makeWorld();
  const scribble = (state: object): void =>
    void Object.assign(state, { size: 0, toArray: () => [], at: () => 'forged' });
  const looked = await world.look();
  const scribbling = definePolicy({
    name: 'scribbling',
    check: (_call, { session }) => {
      scribble(session.read(notes));
      return deny('done');
    },
  });
  const tool = makeWriter(() => thrown(scribble(world.session.read(notes))), { inputSchema });
  for (const [index, policies] of [[scribbling], []].entries()) {
    await directly({ ...call, id: `c${index}` }, { tools: [tool], session: world.session, policies });
    expect([world.session.read(notes).size, world.session.read(notes).at(0)]).toEqual([1, 'before']);
    expect(await world.look()).toBe(looked);
  }
});

interface FaultyUpdate {
  readonly what: string;
  readonly onResult: () => unknown;
  /** Of the policy's state; default `value`. */
  readonly kind?: 'list' | 'keyed' | 'nothing';
  readonly reason?: string;
  readonly code?: unknown;
}

const badState = { code: 'slice.invalid', reason: 'value.invalid' };
const tooLate = { code: 'policy.invalid', reason: 'result.async' };
const badOperation = { code: 'slice.invalid', reason: 'operation.invalid' };
const updates: readonly FaultyUpdate[] = [
  { what: 'throws an Error', onResult: () => thrown(new Error('broke')) },
  { what: 'throws null', onResult: () => thrown(null) },
  {
    what: 'throws a HoldfastError',
    onResult: () => thrown(new HoldfastError('policy.mine', 'broke')),
    code: 'policy.mine',
  },
  { what: 'throws a proxy', onResult: () => thrown(hostileProxy()) },
  { what: 'throws a revoked proxy', onResult: () => thrown(revokedProxy()) },
  { what: 'answers a promise', onResult: async () => 1, ...tooLate },
  { what: 'answers a promise that rejects', onResult: () => Promise.reject(new Error('later')), ...tooLate },
  { what: 'answers a thenable', onResult: () => thenable(() => undefined), ...tooLate },
  { what: 'answers NaN', onResult: () => Number.NaN, ...badState },
  { what: 'answers Infinity', onResult: () => Number.POSITIVE_INFINITY, ...badState },
  { what: 'answers a BigInt', onResult: () => 1n, ...badState },
  { what: 'answers a symbol', onResult: () => Symbol('state'), ...badState },
  { what: 'answers a function', onResult: () => () => 1, ...badState },
  { what: 'answers a cycle', onResult: cycle, ...badState },
  { what: 'answers a Date', onResult: () => new Date(0), ...badState },
  { what: 'answers a Map', onResult: () => new Map(), ...badState },
  { what: 'answers an instance of a class', onResult: () => new Allowing(), ...badState },
  { what: 'answers undefined deep down', onResult: () => ({ a: [{ b: undefined }] }), ...badState },
  { what: 'answers a `__proto__`', onResult: () => JSON.parse('{"__proto__":1}') as unknown, ...badState },
  { what: 'answers a getter that throws', onResult: () => getting('a', () => thrown(new Error('read'))), ...badState },
  { what: 'answers a proxy', onResult: hostileProxy, code: expect.any(String) },
  { what: 'answers a revoked proxy', onResult: revokedProxy, code: expect.any(String) },
  { what: 'answers what its schema refuses', onResult: () => 'seven', ...badState },
  { what: 'appends to a value', onResult: () => append(1), ...badOperation },
  { what: 'upserts into a value', onResult: () => upsert('key', 1), ...badOperation },
  { what: 'replaces a value, then appends to it', onResult: () => [replace(1), append(1)], ...badOperation },
  { what: 'has no state and throws', kind: 'nothing', onResult: () => thrown(new Error('broke')) },
  {
    what: 'has no state and answers a promise that rejects',
    kind: 'nothing',
    onResult: () => Promise.reject(new Error('later')),
    code: expect.any(String),
  },
  { what: 'appends something other than JSON', kind: 'list', onResult: () => append(1, Number.NaN), ...badState },
  { what: 'appends what its schema refuses', kind: 'list', onResult: () => [append(1), append('two')], ...badState },
  { what: 'upserts into a list', kind: 'list', onResult: () => [append(1), upsert('key', 1)], ...badOperation },
  { what: 'replaces a list by a number', kind: 'list', onResult: () => replace(1), ...badOperation },
  { what: 'upserts something other than JSON', kind: 'keyed', onResult: () => upsert('key', new Date(0)), ...badState },
  { what: 'appends to keys', kind: 'keyed', onResult: () => [upsert('key', 1), append(1)], ...badOperation },
  { what: 'replaces keys by a text', kind: 'keyed', onResult: () => replace('text'), ...badOperation },
];

const effects = [
  { effects: 'state', repeat: 'never', kind: 'failed' },
  { effects: 'external', repeat: 'never', kind: 'in-doubt' },
  { effects: 'external', repeat: 'keyed', kind: 'in-doubt' },
  { effects: 'external', repeat: 'safe', kind: 'failed' },
] as const;

test.each(updates)(
  'an onResult that $what leaves nothing behind',
  async ({ onResult, kind: stateKind, code = 'commit.failed' }) => {
    const policy = definePolicy({
      name: 'faulty',
      check: () => allow,
      onResult: onResult as () => number,
      ...(stateKind === 'nothing'
        ? {}
        : { stateSchema: v.number(), ...(stateKind === undefined ? { initialState: 0 } : { stateKind }) }),
    } as Parameters<typeof definePolicy<number, readonly string[]>>[0]) as Policy;
    for (const { effects: declared, repeat, kind } of effects) {
      for (const { run } of runners) {
        const policies = [before, policy, after];
        const world = makeWorld({ policies });
        const tool = makeWriter(() => 'done', { effects: declared, repeat });
        const { session, filesystem, clock } = world;
        const options = { tools: [tool], session, resources: { filesystem }, clock };
        const looked = await world.look();
        const ended = await run({ id: 'c', name: 'write', arguments: '' }, { ...options, policies });
        const end = expectOneEnd(ended, world);
        expect(ended.outcome, `${declared} ${repeat}`).toMatchObject({ kind, code, value: null });
        expect(end).toMatchObject({ events: [], writes: [], decisions: policies.map(() => ({ type: 'allow' })) });
        expect(end.changes ?? []).toEqual([]);
        expect(tool.entered.count).toBe(1);
        expect(await world.look()).toBe(looked);
        if (run === byModel) expect(ended).toMatchObject({ status: 'completed', answered: ended.outcome.text });
        const next = await directly(
          { id: 'next', name: 'write', arguments: '' },
          { ...options, policies: [before, after] },
        );
        expect(next.outcome.kind).toBe('ok');
        expect(expectOneEnd(next, world).changes).toHaveLength(2);
      }
    }
  },
);

test('an onResult cannot change the call, the result, what was touched, or what a later policy sees of them', async () => {
  const attempts: ((prepared: PreparedCall, result: PolicyResult) => unknown)[] = [
    ({ input }) => Object.assign(input as object, { to: 'changed' }),
    (_call, result) => Object.assign(result, { value: 'changed' }),
    (_call, { value }) => Object.assign(value as object, { ok: false }),
    (_call, { touched }) => (touched as Map<string, unknown>).clear(),
    (_call, { touched }) => (touched.get('filesystem')?.writes as unknown[] | undefined)?.pop(),
  ];
  for (const attempt of attempts) {
    const world = makeWorld();
    const seen: unknown[] = [];
    const changing = definePolicy({
      name: 'changing',
      check: () => allow,
      onResult: (prepared, result) => {
        try {
          attempt(prepared, result);
        } catch {
          // Frozen, or a copy: what counts is what others see.
        }
      },
    });
    const looking = definePolicy({
      name: 'looking',
      check: () => allow,
      onResult: ({ input }, { value, touched }) =>
        void seen.push(
          input,
          value,
          touched.get('filesystem')?.writes.map(({ key }) => key),
        ),
    });
    const { session, filesystem } = world;
    const tool = makeWriter(() => ({ ok: true }), { inputSchema });
    const ended = await directly(call, {
      tools: [tool],
      session,
      policies: [changing, looking],
      resources: { filesystem },
    });
    expect(seen).toEqual([JSON.parse(call.arguments), { ok: true }, ['written.txt', 'kept.txt']]);
    expect(expectOneEnd(ended, world).writes).toHaveLength(2);
    expect(ended.outcome).toMatchObject({ kind: 'ok', value: { ok: true } });
  }
});

const kinds = ['allow', 'ask', 'deny', 'throw', 'hang'] as const;
type Kind = (typeof kinds)[number];

/** The same answer at once, later, or through a thenable, so that order and timing are mixed, too. */
const inItsTime = (answer: Decision, index: number): unknown => {
  const ways = [answer, Promise.resolve(answer), thenable((resolve: (value: unknown) => void) => resolve(answer))];
  return ways[index % ways.length];
};
const behaving = (kind: Kind, index: number, clock: TestClock): Policy => {
  const reason = `${kind} ${index}`;
  const check = (): unknown => {
    switch (kind) {
      case 'allow':
        return inItsTime(allow, index);
      case 'ask':
        return inItsTime(ask(reason), index);
      case 'deny':
        return inItsTime(deny(reason), index);
      case 'throw':
        return index % 2 === 0 ? thrown(new Error(reason)) : Promise.reject(new Error(reason));
      case 'hang':
        return hang(clock);
    }
  };
  return definePolicy({ name: `${kind}-${index}`, check: check as () => Decision });
};

/** Every order of every selection of `size` policies. */
function* orders(size: number): Generator<readonly Kind[]> {
  if (size === 0) {
    yield [];
    return;
  }
  for (const rest of orders(size - 1)) for (const kind of kinds) yield [...rest, kind];
}

test.each([1, 2, 3, 4, 5])(
  '%i policies in all their orders: one outcome, and every reason in the order of the policies',
  async (size) => {
    const verdicts = new Map<string, string>();
    for (const order of orders(size)) {
      // A policy's number stands for what it is, not for where it stands: two of a kind differ.
      const counts = new Map<Kind, number>();
      const world = makeWorld();
      const policies = order.map((kind) => {
        const count = counts.get(kind) ?? 0;
        counts.set(kind, count + 1);
        return behaving(kind, count, world.clock);
      });
      const tool = makeWriter(() => 'done', { inputSchema });
      const { session, clock, filesystem } = world;
      const outcome = await executeToolCall(call, {
        tools: [tool],
        session,
        policies,
        clock,
        resources: { filesystem },
      });
      const refused = order.some((kind) => kind === 'deny' || kind === 'throw' || kind === 'hang');
      const kind = refused ? 'denied' : order.includes('ask') ? 'suspended' : 'ok';
      expect(outcome.kind).toBe(kind);
      expect(tool.entered.count).toBe(kind === 'ok' ? 1 : 0);
      const decisions =
        outcome.kind === 'suspended'
          ? (outcome.pending[0]?.asks ?? [])
          : ((world.ends('c')[0]?.['decisions'] ?? []) as unknown as readonly PolicyDecision[]);
      const asked = outcome.kind === 'suspended' ? policies.filter(({ id }) => id.startsWith('ask')) : policies;
      expect(decisions.map(({ policy }) => policy)).toEqual(asked.map(({ id }) => `host/${id}`));
      if (outcome.kind === 'denied') {
        const reasons = decisions.filter(({ type }) => type === 'deny').map(({ reason }) => reason);
        expect(outcome.message).toBe(`Denied: ${[...new Set(reasons)].join(' ')}`);
      }
      const verdict = JSON.stringify([outcome.kind, decisions.map((decision) => JSON.stringify(decision)).sort()]);
      const selection = [...order].sort().join();
      expect(verdicts.get(selection) ?? verdict, selection).toBe(verdict);
      verdicts.set(selection, verdict);
    }
  },
);

function isDeeplyFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen);
}
