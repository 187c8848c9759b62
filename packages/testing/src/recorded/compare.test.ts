import {
  allow,
  append,
  ask,
  type Decision,
  definePolicy,
  defineSlice,
  defineTool,
  deny,
  type Json,
  type JsonObject,
  type Policy,
  type PreparedCall,
  toolError,
  toolOk,
  upsert,
} from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import {
  answerApproval,
  type CallOptions,
  executeToolCall,
  pendingApprovals,
  resumeToolCall,
  runAgent,
} from '@holdfast/executor';
import {
  callBudget,
  denyTools,
  observe,
  pathScope,
  rateLimit,
  readBeforeWrite,
  requireApproval,
} from '@holdfast/policy';
import { createSession, type LogRecord, memoryStore, type SessionOptions } from '@holdfast/session';
import { createRedactor } from '@holdfast/session/redact';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { scriptedModel } from '../fakes/scripted-model.ts';
import { anyObject } from '../policy/world.ts';
import { type ComparedCall, type ComparePoliciesOptions, comparePolicies } from './compare.ts';

afterEach(() => void vi.useRealTimers());

type Step = readonly [tool: string, input?: Record<string, unknown>];

const tools = ['read', 'write', 'pay'].map((name) =>
  defineTool({
    name,
    description: 'Does something.',
    inputSchema: anyObject,
    effects: 'state',
    execute: (input) => (Object(input).fails === true ? toolError('It failed.') : { done: true }),
  }),
);

async function record(
  steps: readonly Step[],
  { policies = [], ...options }: SessionOptions & Pick<Partial<CallOptions>, 'policies'> = {},
): Promise<readonly LogRecord[]> {
  const store = memoryStore();
  const session = createSession({ ...options, store });
  for (const [name, input = {}] of steps) {
    await executeToolCall({ name, arguments: input }, { tools, session, policies, unattended: true });
  }
  return store.records;
}

/** `read: allow > deny`. */
const tell = (compared: readonly ComparedCall[]): readonly string[] =>
  compared.map(({ tool, before, after, change }) => `${tool}: ${before.type} > ${after.type}, ${change}`);

const compare = async (
  records: readonly LogRecord[],
  { before = [], after = [], ...options }: Partial<ComparePoliciesOptions>,
): Promise<readonly string[]> => tell(await comparePolicies(records, { before, after, ...options }));

const pathOf = ({ input }: PreparedCall): string => (isPlainObject(input) ? String(input['path']) : '');

test('the request is that of the run; of a call outside of a run it is not in the log', async () => {
  const asked = definePolicy({
    name: 'asked',
    check: ({ tool }, { request = '' }) => (request.includes(tool.name) ? allow : deny('The request does not say so.')),
  });
  const store = memoryStore();
  const session = createSession({ store });
  const calls = ['pay', 'write'].map((name) => ({ name, arguments: {} }));
  const model = scriptedModel([{ calls }, { text: 'Done.' }]);
  await runAgent({ model, instructions: 'Help.', tools, session, policies: [asked], input: 'Please pay.' });
  await executeToolCall({ name: 'pay', arguments: {} }, { tools, session, policies: [asked], request: 'Please pay.' });
  expect(await compare(store.records, { before: [asked], after: [] })).toEqual([
    'pay: allow > allow, same',
    'write: deny > allow, widened',
    'pay: unknown > allow, unknown',
  ]);
});

test('each call has both decisions and reasons', async () => {
  const records = await record([
    ['read', { path: 'a' }],
    ['pay', { euros: 5 }],
    ['pay', { fails: true }],
    ['unknown'],
    ['pay'],
  ]);
  const compared = await comparePolicies(records, {
    before: [denyTools(['pay'], { reason: 'No money.' })],
    after: [requireApproval({ tools: ['pay'] }), callBudget({ maxCalls: 2 })],
  });
  expect(tell(compared)).toEqual([
    'read: allow > allow, same',
    'pay: deny > ask, widened',
    'pay: deny > deny, reason',
    'pay: deny > deny, reason',
  ]);
  expect(compared[1]).toEqual({
    callId: 'direct_2',
    seq: expect.any(Number),
    tool: 'pay',
    input: { euros: 5 },
    outcome: 'ok',
    before: { type: 'deny', judgements: [{ policy: 'deny-tools', type: 'deny', reason: 'No money.' }] },
    after: {
      type: 'ask',
      judgements: [
        { policy: 'require-approval', type: 'ask', reason: '`pay` needs approval.' },
        { policy: 'call-budget', type: 'allow' },
      ],
    },
    change: 'widened',
  });
});

test('a call denied in the record has not happened, even for a list that would allow it', async () => {
  const records = await record([['write'], ['write'], ['write']], { policies: [callBudget({ maxCalls: 1 })] });
  expect(
    await compare(records, { before: [callBudget({ maxCalls: 1 })], after: [callBudget({ maxCalls: 2 })] }),
  ).toEqual(['write: allow > allow, same', 'write: deny > allow, widened', 'write: deny > allow, widened']);
});

test('a waiting call is judged, and after an answer its end', async () => {
  const store = memoryStore();
  const session = createSession({ store });
  const options = { tools, session, policies: [requireApproval({ tools: ['pay'] })] };
  await executeToolCall({ id: 'p', name: 'pay', arguments: { euros: 5 } }, options);
  const lists = { before: options.policies, after: [callBudget({ maxCalls: 1 })] };
  const [waiting] = await comparePolicies(store.records, lists);
  expect(waiting).toMatchObject({
    callId: 'p',
    outcome: 'waiting',
    input: { euros: 5 },
    before: { type: 'ask' },
    change: 'widened',
  });

  const [pending] = pendingApprovals(session);
  if (pending === undefined) throw new Error('nothing waits');
  await answerApproval(session, pending, { type: 'approve' }, { by: 'Ada' });
  await resumeToolCall('p', options);
  await executeToolCall({ name: 'read', arguments: {} }, options);
  const answered = await comparePolicies(store.records, lists);
  expect(answered.map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
  expect(tell(answered)).toEqual(['pay: ask > allow, widened', 'read: allow > deny, tightened']);
});

test('observed decisions count as allowed, with their own reason', async () => {
  const records = await record([['pay']]);
  expect(await compare(records, { before: [denyTools(['pay'])], after: [observe(denyTools(['pay']))] })).toEqual([
    'pay: deny > allow, widened',
  ]);
  expect(await compare(records, { after: [observe(denyTools(['pay']))] })).toEqual(['pay: allow > allow, reason']);
});

const byPath = definePolicy({ name: 'by-path', check: (call) => (pathOf(call) === 'b' ? deny('Not `b`.') : allow) });
const seenPaths = definePolicy<string>({
  name: 'seen-paths',
  stateKind: 'keyed',
  check: (call, { state }) => (call.tool.name === 'write' && state.size === 0 ? deny('Nothing was seen.') : allow),
  onResult: (call) => upsert(pathOf(call), 'seen'),
});

test('no tool runs', async () => {
  const execute = vi.fn(() => null);
  const watched = defineTool({
    name: 'read',
    description: 'Reads.',
    inputSchema: anyObject,
    effects: 'state',
    execute,
  });
  const records = await record([['read'], ['read']]);
  expect(await compare(records, { after: [callBudget({ maxCalls: 1 })], tools: [watched] })).toEqual([
    'read: allow > allow, same',
    'read: allow > deny, tightened',
  ]);
  expect(execute).not.toHaveBeenCalled();
});

test('masked values are not guessed: a policy that reads one is unknown, and so is its state', async () => {
  const redactor = createRedactor({ key: 'k'.repeat(32), secrets: ['hunter2-hunter2'] });
  const records = await record(
    [
      ['read', { path: 'a' }],
      ['read', { path: 'hunter2-hunter2' }],
      ['write', { path: 'c' }],
    ],
    { redactor },
  );
  expect(JSON.stringify(records)).not.toContain('hunter2');
  expect(await compare(records, { after: [byPath] })).toEqual([
    'read: allow > allow, same',
    'read: allow > unknown, unknown',
    'write: allow > allow, same',
  ]);
  // Policies that do not read arguments can be judged, and a denial wins over unknown.
  expect(await compare(records, { after: [callBudget({ maxCalls: 1 }), byPath] })).toEqual([
    'read: allow > allow, same',
    'read: allow > deny, tightened',
    'write: allow > deny, tightened',
  ]);
  expect(await compare(records, { after: [seenPaths] })).toEqual([
    'read: allow > allow, same',
    'read: allow > allow, same',
    'write: allow > unknown, unknown',
  ]);
  const [, unknown] = await comparePolicies(records, { before: [], after: [byPath] });
  expect(unknown?.after.judgements).toEqual([
    { policy: 'by-path', type: 'unknown', reason: 'the arguments contained a secret, which the log does not have' },
  ]);
});

test('doubt follows the state through restores', async () => {
  const store = memoryStore();
  const session = createSession({
    store,
    redactor: createRedactor({ key: 'k'.repeat(32), secrets: ['hunter2-hunter2'] }),
  });
  const step = async (name: string, path: string) => {
    await executeToolCall({ name, arguments: { path } }, { tools, session });
    return session.snapshot();
  };
  const before = await step('read', 'a');
  const doubted = await step('read', 'hunter2-hunter2');
  session.restore(before);
  await step('write', 'c');
  session.restore(doubted);
  await step('write', 'd');
  session.reset();
  await step('write', 'e');
  const compared = await comparePolicies(store.records, { before: [], after: [seenPaths] });
  expect(compared.map(({ after }) => after.type)).toEqual(['allow', 'allow', 'allow', 'unknown', 'deny']);
});

test('only masked parts of arguments and results are unknown', async () => {
  const redactor = createRedactor({ key: 'k'.repeat(32), secrets: ['hunter2-hunter2'] });
  const input = {
    path: 'a',
    to: 'hunter2-hunter2',
    list: [1, 'hunter2-hunter2'],
    keyed: { 'hunter2-hunter2': 1 },
    deep: { plain: 1 },
  };
  const records = await record([['read', input]], { redactor });
  const judge = async (look: (input: Readonly<Record<string, Json>>) => unknown): Promise<string | undefined> => {
    const policy = definePolicy({
      name: 'looking',
      // Destructuring alone does not read.
      check: ({ input: given }) => (look(given as JsonObject) === 'never' ? deny('No.') : allow),
    });
    return (await comparePolicies(records, { before: [], after: [policy] }))[0]?.after.type;
  };
  expect(await judge(() => 0)).toBe('allow');
  expect(
    await judge((given) => [given['path'], Object.keys(given), 'to' in given, given['deep'], isPlainObject(given)]),
  ).toBe('allow');
  expect(await judge((given) => JSON.stringify(given['deep']))).toBe('allow');
  expect(
    await judge((given) => [
      Array.isArray(given['list']),
      (given['list'] as Json[]).length,
      (given['list'] as Json[])[0],
    ]),
  ).toBe('allow');
  expect(await judge((given) => given['to'])).toBe('unknown');
  expect(await judge((given) => (given['list'] as Json[])[1])).toBe('unknown');
  expect(await judge((given) => Object.keys(given['keyed'] as object))).toBe('unknown');
  expect(await judge((given) => 'path' in (given['keyed'] as object))).toBe('unknown');
  expect(await judge((given) => Object.hasOwn(given['keyed'] as object, 'path'))).toBe('unknown');
  expect(await judge((given) => JSON.stringify(given))).toBe('unknown');
  expect(await judge((given) => structuredClone(given))).toBe('unknown');
});

test('a log without content has calls, but no arguments', async () => {
  const records = await record([['read', { path: 'b' }], ['pay']], { content: 'none' });
  const copying = definePolicy({
    name: 'copying',
    check: ({ input }) => (structuredClone(input) === null ? deny('') : allow),
  });
  expect(await compare(records, { after: [copying] })).toEqual([
    'read: allow > unknown, unknown',
    'pay: allow > unknown, unknown',
  ]);
  expect(await compare(records, { before: [byPath], after: [denyTools(['pay'])] })).toEqual([
    'read: unknown > allow, unknown',
    'pay: unknown > deny, unknown',
  ]);
  expect(await compare(records, { after: [denyTools(['pay'])] })).toEqual([
    'read: allow > allow, same',
    'pay: allow > deny, tightened',
  ]);
});

const paths = { resolve: async (path: string) => path.replace(/^\.\//, '') };

test.each<{ title: string; policy: Policy; options?: Partial<ComparePoliciesOptions>; read: string; why?: string }>([
  {
    title: 'paths, with a filesystem',
    policy: pathScope({ read: ['src'], readers: { read: 'path' } }),
    options: { filesystem: paths },
    read: 'deny',
  },
  {
    title: 'paths, without a filesystem',
    policy: pathScope({ read: ['src'], readers: { read: 'path' } }),
    read: 'unknown',
    why: 'the content of files is not in a log',
  },
  {
    title: 'the version of a file',
    policy: readBeforeWrite({ writers: { read: 'path' } }),
    options: { filesystem: paths },
    read: 'unknown',
    why: 'the content of files is not in a log',
  },
  {
    title: 'every file',
    policy: definePolicy({
      name: 'walker',
      async check(_call, { filesystem }) {
        for await (const { path } of filesystem?.walk() ?? []) return deny(path);
        return allow;
      },
    }),
    read: 'unknown',
    why: 'the content of files is not in a log',
  },
  {
    title: "a tool's declaration",
    policy: definePolicy({
      name: 'effects',
      check: ({ tool }) => (tool.effects === 'external' ? ask('Sure?') : allow),
    }),
    read: 'unknown',
    why: 'what the tool `read` declares is not in the log',
  },
  {
    title: "a tool's keys",
    policy: definePolicy({
      name: 'effects',
      check: ({ tool }) => ('undo' in tool || Object.keys(tool).length > 99 ? ask('Sure?') : allow),
    }),
    read: 'unknown',
    why: 'what the tool `read` declares is not in the log',
  },
  {
    title: "a given tool's declaration",
    policy: definePolicy({ name: 'effects', check: ({ tool }) => (tool.effects === 'state' ? ask('Sure?') : allow) }),
    options: { tools },
    read: 'ask',
  },
  {
    title: '`dangerous` of a tool',
    policy: definePolicy({ name: 'gate', check: ({ tool }) => (tool.dangerous ? ask('Sure?') : allow) }),
    read: 'allow',
  },
  {
    title: 'the session',
    policy: definePolicy({
      name: 'reader',
      check: (_call, { session }) =>
        session.read(defineSlice<string>({ id: 'x', kind: 'list', reducers: { x: () => append('x') } })).size > 0
          ? deny('x')
          : allow,
    }),
    read: 'unknown',
    why: 'the state of the session is not rebuilt here',
  },
  {
    title: 'nothing, and throws',
    policy: definePolicy({
      name: 'broken',
      check: () => {
        throw new Error('Broken.');
      },
    }),
    read: 'deny',
  },
  // The cast stands for an untyped policy.
  {
    title: 'nothing, and returns nothing',
    policy: definePolicy({ name: 'mute', check: () => undefined as unknown as Decision }),
    read: 'deny',
  },
])('a policy that reads $title: $read', async ({ policy, options = {}, read, why }) => {
  const compared = await comparePolicies(await record([['read', { path: './lib/a' }]]), {
    before: [],
    after: [policy],
    ...options,
  });
  expect(compared.map(({ after }) => after.type)).toEqual([read]);
  if (why !== undefined) expect(compared[0]?.after.judgements[0]?.reason).toBe(why);
});

test('a policy that does not answer denies, and the call ends as recorded', async () => {
  const mute = definePolicy({ name: 'mute', check: () => new Promise<Decision>(() => undefined) });
  const records = await record([['read'], ['read']]);
  expect(await compare(records, { after: [mute, callBudget({ maxCalls: 1 })], policyTimeoutMs: 5 })).toEqual([
    'read: allow > deny, tightened',
    'read: allow > deny, tightened',
  ]);
  const [, second] = await comparePolicies(records, {
    before: [],
    after: [mute, callBudget({ maxCalls: 1 })],
    policyTimeoutMs: 5,
  });
  expect(second?.after.judgements.map(({ reason }) => reason)).toEqual([
    'The policy did not answer within 5 ms.',
    expect.stringContaining('1'),
  ]);
});

test('reads of a call are unknown, writes are known', async () => {
  const written = (
    look: (writes: readonly { readonly key: string; readonly before: string | null }[]) => number,
  ): Policy =>
    definePolicy<number>({
      name: 'written',
      initialState: 0,
      check: (_call, { state }) => (state > 1 ? deny(`${state} files.`) : allow),
      onResult: (_call, { touched }, { state }) => state + look(touched.get('filesystem')?.writes ?? []),
    });
  const end = (seq: number, writes: readonly object[]): LogRecord =>
    ({
      seq,
      atMs: 0,
      type: 'tool-call-end',
      callId: `c${seq}`,
      name: 'write',
      input: {},
      decisions: [],
      outcome: { kind: 'ok', value: 1 },
      writes,
    }) as unknown as LogRecord;
  const start = { seq: 0, atMs: 0, type: 'session-start', sessionId: 's', slices: [] };
  const created = [
    { resource: 'filesystem', key: 'a', change: 'created' },
    { resource: 'filesystem', key: 'b', change: 'created' },
  ];
  const records = [
    start,
    end(1, created),
    end(2, [{ resource: 'filesystem', key: 'a', change: 'changed' }]),
    end(3, []),
  ];
  const types = async (policy: Policy) =>
    (await comparePolicies(records, { before: [], after: [policy] })).map(({ after }) => after.type);
  expect(await types(written((writes) => writes.length))).toEqual(['allow', 'deny', 'deny']);
  expect(await types(written((writes) => writes.filter(({ before }) => before === null).length))).toEqual([
    'allow',
    'deny',
    'unknown',
  ]);
});

test('a policy that depends on time sees the time of the call', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1_000_000 });
  const store = memoryStore();
  const session = createSession({ store });
  for (const wait of [0, 10, 10, 5_000]) {
    vi.setSystemTime(Date.now() + wait);
    await executeToolCall({ name: 'read', arguments: {} }, { tools, session });
  }
  vi.setSystemTime(9_000_000);
  expect(await compare(store.records, { after: [rateLimit({ maxCalls: 2, perMs: 1_000 })] })).toEqual([
    'read: allow > allow, same',
    'read: allow > allow, same',
    'read: allow > deny, tightened',
    'read: allow > allow, same',
  ]);
  expect(Date.now()).toBe(9_000_000);
});

test('a restored session has the earlier state', async () => {
  const store = memoryStore();
  const session = createSession({ store });
  const read = () => executeToolCall({ name: 'read', arguments: {} }, { tools, session });
  await read();
  const earlier = session.snapshot();
  await read();
  session.restore(earlier);
  await read();
  session.reset();
  await read();
  const after = [callBudget({ maxCalls: 1 })];
  expect(await compare(store.records, { after })).toEqual(
    ['allow', 'deny', 'deny', 'allow'].map(
      (type) => `read: allow > ${type}, ${type === 'allow' ? 'same' : 'tightened'}`,
    ),
  );

  session.import(session.export());
  await read();
  const forked = memoryStore();
  const fork = session.fork({ store: forked });
  await executeToolCall({ name: 'read', arguments: {} }, { tools, session: fork });
  expect((await compare(store.records, { after })).at(-1)).toBe('read: allow > unknown, unknown');
  expect(await compare(forked.records, { after })).toEqual(['read: allow > unknown, unknown']);
  // Without state there is no doubt.
  const stateless = definePolicy({
    name: 'stateless',
    check: (_call, { state }) => (state === undefined ? deny('No.') : allow),
  });
  expect(await compare(forked.records, { after: [stateless] })).toEqual(['read: allow > deny, tightened']);
  expect(await compare(forked.records, { after: [denyTools(['read'])] })).toEqual(['read: allow > deny, tightened']);
  // Truncated at the front.
  expect((await compare(store.records.slice(3), { after }))[0]).toBe('read: allow > unknown, unknown');
});

test('calls nested in failed attempts have not happened', async () => {
  let attempt = 0;
  let nowMs = 1_000;
  const clock = {
    now: () => (nowMs += 1),
    after(_delay: number, run: () => void) {
      queueMicrotask(run);
      return () => undefined;
    },
  };
  const group = defineTool({
    name: 'group',
    description: 'Calls others.',
    effects: 'state',
    repeat: 'safe',
    retry: { attempts: 3, delayMs: 1 },
    async execute(_input, context) {
      attempt += 1;
      for (let count = 0; count < 2; count += 1) await context.call('read', {});
      if (attempt < 3) throw new Error('Not yet.');
      return attempt;
    },
  });
  const store = memoryStore();
  const session = createSession({ store, clock });
  const options = { tools: [...tools, group], session, clock, policies: [callBudget({ maxCalls: 4 })] };
  await executeToolCall({ name: 'group', arguments: {} }, options);
  await executeToolCall({ name: 'read', arguments: {} }, options);
  await executeToolCall({ name: 'read', arguments: {} }, options);
  const compared = await comparePolicies(store.records, {
    before: options.policies,
    after: [callBudget({ maxCalls: 1 })],
  });
  expect(compared.map(({ before, after }) => `${before.type} ${after.type}`)).toEqual([
    ...['allow allow', 'allow deny', 'allow allow', 'allow deny', 'allow allow', 'allow deny'],
    'allow allow',
    'allow deny',
    'deny deny',
  ]);
  expect(compared.map(({ outcome }) => outcome)).toEqual([...new Array(8).fill('ok'), 'denied']);
});

test.each([
  { countsFailures: false, decisions: ['ok allow', 'failed allow', 'ok allow', 'in-doubt allow', 'denied deny'] },
  { countsFailures: true, decisions: ['ok allow', 'failed allow', 'denied deny', 'denied deny', 'denied deny'] },
])(
  'reservations count for calls in doubt, and for failures: $countsFailures',
  async ({ countsFailures, decisions }) => {
    const send = defineTool({
      name: 'send',
      description: 'Sends it.',
      inputSchema: anyObject,
      effects: 'external',
      // A value that is not JSON cannot be committed, which leaves the call in doubt.
      execute: (input) => {
        const { does } = input as { readonly does?: unknown };
        return does === 'nothing' ? (undefined as never) : does === 'fail' ? toolError('No.') : toolOk(1);
      },
    });
    const once = (): Policy =>
      definePolicy<number>({
        name: 'once',
        stateKind: 'keyed',
        countsFailures,
        check: (_call, { state }) => (state.size > 0 ? deny('Sent already, or maybe.') : allow),
        reserve: (_call, { callKey }) => upsert(callKey, 1),
      });
    const store = memoryStore();
    const session = createSession({ store });
    const options = { tools: [send], session, policies: [once()] };
    for (const does of ['send', 'fail', 'send', 'nothing', 'send'])
      await executeToolCall({ name: 'send', arguments: { does } }, options);
    const compared = await comparePolicies(store.records, { before: [once()], after: [] });
    expect(compared.map(({ outcome, before }) => `${outcome} ${before.type}`)).toEqual(decisions);
  },
);

test.each([{ before: undefined }, { before: [{}] }, { after: {} }, { after: [undefined] }])(
  'options.invalid: %j',
  async (given) => {
    // The cast stands for an untyped host.
    const options = { before: [], after: [], ...given } as unknown as ComparePoliciesOptions;
    await expect(comparePolicies([], options)).rejects.toMatchObject({ code: 'options.invalid' });
  },
);

test('edited records are judged as far as possible, without an error', async () => {
  const records = await record([
    ['read', { path: 'a' }],
    ['pay', { euros: 5 }],
    ['write', { fails: true }],
  ]);
  const fields = [
    ...new Set(records.flatMap((entry) => Object.keys(entry))),
    'pending',
    'entry',
    'sessionId',
    'toSeq',
    'parentId',
  ];
  const types = [
    'tool-call-end',
    'tool-call-start',
    'approval-request',
    'child-record',
    'restore',
    'reset',
    'import',
    'snapshot',
  ];
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          at: fc.nat(records.length - 1),
          field: fc.constantFrom(...fields),
          value: fc.oneof(fc.constantFrom(...types), fc.jsonValue()),
        }),
        { maxLength: 6 },
      ),
      async (edits) => {
        const edited = records.map((entry) => ({ ...entry }) as Record<string, unknown>);
        for (const { at, field, value } of edits) if (edited[at] !== undefined) edited[at][field] = value;
        const compared = await comparePolicies(edited as unknown as readonly LogRecord[], {
          before: [callBudget({ maxCalls: 1 })],
          after: [byPath],
        });
        for (const { before, after } of compared)
          expect(['allow', 'ask', 'deny', 'unknown']).toEqual(expect.arrayContaining([before.type, after.type]));
      },
    ),
    { numRuns: 50 },
  );
});

test('an ungrantable ask is stricter than a grantable one', async () => {
  const asking = (grantable: boolean): Policy =>
    definePolicy({ name: 'asking', check: () => ask('Sure?', { grantable }) });
  const records = await record([['pay']]);
  const compared = async (before: boolean, after: boolean) =>
    tell(await comparePolicies(records, { before: [asking(before)], after: [asking(after)], tools }));
  expect(await compared(true, false)).toEqual(['pay: ask > ask, tightened']);
  expect(await compared(false, true)).toEqual(['pay: ask > ask, widened']);
  expect(await compared(false, false)).toEqual(['pay: ask > ask, same']);
});

test('a call that ran with a yes is judged by the facts that were shown', async () => {
  const hosts = [{ scheme: 'https', host: 'api.test', sends: false }];
  const facts = { runs: [], reads: [], writes: [], deletes: [], hosts, untrusted: true, unclear: [] };
  const asks = [{ policy: 'p', type: 'ask', reason: 'It reaches out.' }];
  const pending = { callId: 'c', name: 'fetch', input: {}, asks, facts };
  const lines: readonly JsonObject[] = [
    { type: 'session-start', sessionId: 's' },
    { type: 'approval-request', pending },
    { type: 'tool-call-start', callId: 'c', name: 'fetch', input: {} },
  ];
  const records = lines.map((line, seq) => ({ ...line, seq, atMs: seq }) as unknown as LogRecord);
  const byHost = (host: string): Policy =>
    definePolicy({
      name: 'hosts',
      check: ({ facts: seen }) =>
        seen?.hosts.every((one) => one.host === host) === true ? allow : ask('It reaches another host.'),
    });
  const [call] = await comparePolicies(records, {
    before: [byHost('other.test')],
    after: [byHost('api.test')],
    workspace: '/w',
  });
  expect(call).toMatchObject({ callId: 'c', outcome: 'begun', change: 'widened' });
});
