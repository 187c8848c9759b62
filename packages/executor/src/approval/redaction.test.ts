import { Buffer } from 'node:buffer';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  allow,
  append,
  ask,
  definePolicy,
  defineSlice,
  defineTool,
  deny,
  HoldfastError,
  type Json,
  type ListState,
  type Outcome,
  type PendingApproval,
  type Policy,
  type RunEvent,
  replace,
  type Slice,
  type StagedResource,
  type Tool,
  toolError,
  toolOk,
} from '@holdfast/core';
import { createSession, type LogRecord, replay, type Session } from '@holdfast/session';
import { createJsonlLog, readLog } from '@holdfast/session/jsonl';
import { createRedactor } from '@holdfast/session/redact';
import * as v from 'valibot';
import { afterEach, expect, test } from 'vitest';
import { call, collect, diary, playing, say, stop, testClock, toolsPrompt } from '../fixtures.ts';
import {
  answerApproval,
  type CallOptions,
  executeToolCall,
  pendingApprovals,
  resolveCall,
  resumeToolCall,
  runAgent,
} from '../index.ts';

const key = 'a key known only to the host';
const letters = 'abcdefghij0123456789ABCDEFGHIJ0123456789';
const marked = 'Zq7 "marked" \\ w\u00f6rd!';
const returned = 'Yx8-returned-4711';
const named = 'Wv9-named-4711';
/** In parts, so that no scanner takes this file for a leak. */
const tokens: readonly string[] = [
  `AKIA${'IOSFODNN7EXAMPLE'}`,
  `ghp_${letters.slice(0, 36)}`,
  `glpat-${letters.slice(0, 20)}`,
  `xoxb-${'1234567890-abcdefABCDEF'}`,
  `npm_${letters.slice(0, 36)}`,
  `sk_live_${letters.slice(0, 24)}`,
  `sk-proj-${letters}`,
  `sk-ant-api03-${letters}`,
  `AIza${letters.slice(0, 35)}`,
  `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.${letters}`,
  ['-----BEGIN', ' PRIVATE KEY-----\nMIIEow\nIBAA==\n-----END PRIVATE KEY-----'].join(''),
];
const bearer = 'abcdefghij.0123456789';
const urlPassword = 'pa55-in-url';

function encoded(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    encodeURIComponent(secret),
    secret.toUpperCase(),
    secret.toLowerCase(),
  ];
}

/** Everything that may not be found anywhere, and a text that holds all of it. */
const secrets: readonly string[] = [...encoded(marked), ...encoded(returned), named, ...tokens, bearer, urlPassword];
const everything = [
  ...encoded(marked).map((form) => `<${form}>`),
  ...tokens,
  `Authorization: Bearer ${bearer}`,
  `postgres://ann:${urlPassword}@db/x`,
  JSON.stringify({ apiKey: named }),
].join(' | ');

function leaksIn(text: string): readonly string[] {
  // As it is in a JSON file, too.
  return secrets.filter((secret) => text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1)));
}

const secretText = v.pipe(v.string(), v.metadata({ writeOnly: true }));
const inputSchema = v.object({
  phrase: secretText,
  apiKey: v.optional(v.string()),
  how: v.optional(v.string(), 'well'),
  free: v.optional(v.unknown()),
});
const outputSchema = v.looseObject({ ticket: v.optional(secretText) });

const seen: Slice<ListState<Json>> = defineSlice<Json>({
  id: 'seen',
  kind: 'list',
  reducers: { saw: (_state, payload) => append(payload) },
});

interface Real {
  readonly inputs: unknown[];
  readonly checked: unknown[];
  /** Of child sessions, when their runs were done. */
  readonly state: Json[];
  readonly pending: PendingApproval[];
}

/** A tool that does whatever it is told to with all secrets there are. */
function spill(real: Real): Tool {
  return defineTool({
    name: 'spill',
    description: 'Tells everything to everybody.',
    inputSchema,
    outputSchema,
    effects: 'external',
    async execute(input, context) {
      real.inputs.push(input);
      const { session, resources } = context;
      context.progress(everything);
      session.dispatch({ type: 'saw', payload: { text: everything, apiKey: named, phrase: input.phrase } });
      session.publish({ type: 'happened', payload: everything });
      (resources.get('files') as { add(word: string): void } | undefined)?.add(everything);
      switch (input.how) {
        case 'throw':
          throw new HoldfastError('spill.threw', everything, { data: { everything } });
        case 'fail':
          return toolError(everything, { value: { everything, apiKey: named, ticket: returned } });
        case 'nothing':
          return undefined as never;
        case 'wrongly':
          return { ticket: [returned] } as never;
        case 'never':
          await new Promise<void>((resolve) => lateStarts.push(resolve));
          return { ticket: returned, everything };
        case 'nested':
          for (const how of ['well', 'throw']) await context.call('spill', { phrase: input.phrase, how });
          await context.call('spill', JSON.stringify({ phrase: input.phrase, apiKey: named }));
          return toolOk({});
        case 'child': {
          const model = playing(
            [say(everything), call('spill', { phrase: marked }, 'inner'), stop],
            [say(`done ${marked}`), stop],
          );
          const child = context.child();
          child.register(seen);
          child.dispatch({ type: 'saw', payload: everything });
          await runAgent({ model, prompt: toolsPrompt([spill(real)]), session: child, input: everything }).result;
          // It keeps only what its records contain.
          real.state.push(...child.read(seen).toArray());
          return toolOk({});
        }
        default:
          return toolOk({ ticket: returned, everything: encoded(returned), apiKey: named }, everything);
      }
    },
  });
}

let lateStarts: (() => void)[] = [];

/** Talks about what it sees, and keeps it. */
function gossip(real: Real, answer: () => 'allow' | 'ask' | 'deny' = () => 'allow'): Policy {
  return definePolicy<Json>({
    name: 'gossip',
    initialState: { apiKey: named },
    check({ input }) {
      real.checked.push(input);
      const decided = answer();
      return decided === 'allow' ? allow : decided === 'ask' ? ask(everything) : deny(everything);
    },
    onResult: ({ input }, { value, message }) => replace({ apiKey: named, input, value, message, everything }),
  });
}

/** A staged resource that says too much when something goes wrong. */
function files(
  fail: { readonly prepare?: boolean; readonly commit?: boolean; readonly discard?: boolean } = {},
): StagedResource {
  const step = (name: keyof typeof fail): void => {
    if (fail[name] === true) throw new Error(everything);
  };
  const none = {};
  return {
    type: 'staged-resource',
    readOnly: none,
    begin: () => {
      const words: string[] = [];
      return {
        view: { add: (word: string) => void words.push(word) },
        readOnly: none,
        begin: () => {
          throw new Error('not nested');
        },
        touched: () => ({ reads: [], writes: words.map((word) => ({ key: word, before: null, after: word })) }),
        seal: () => undefined,
        prepare: () => step('prepare'),
        commit: () => step('commit'),
        discard: () => step('discard'),
      };
    },
  };
}

interface Setting {
  readonly folder: string;
  readonly session: Session;
  readonly real: Real;
  readonly events: RunEvent[];
  readonly records: LogRecord[];
  readonly options: CallOptions;
  file(): string;
}

const folders: string[] = [];
afterEach(() => {
  lateStarts = [];
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function setUp(options: Partial<CallOptions> = {}, snapshotAfterBytes = Number.POSITIVE_INFINITY): Setting {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-redaction-'));
  folders.push(folder);
  const real: Real = { inputs: [], checked: [], state: [], pending: [] };
  const events: RunEvent[] = [];
  const records: LogRecord[] = [];
  const redactor = createRedactor({ key });
  const session = createSession({
    slices: [seen, diary],
    store: createJsonlLog(join(folder, 's.jsonl'), { snapshotAfterBytes }),
    redactor,
    clock: testClock(),
  });
  session.subscribe((record) => records.push(record));
  return {
    folder,
    session,
    real,
    events,
    records,
    options: {
      tools: [spill(real)],
      session,
      policies: [gossip(real)],
      clock: testClock(),
      onEvent: (event) => void events.push(event),
      ...options,
    },
    file: () =>
      readdirSync(folder)
        .map((name) => readFileSync(join(folder, name), 'utf8'))
        .join('\n'),
  };
}

/** Nothing in the file, nothing with observers, and the log gives the state that the session has. */
async function expectNoLeak({ session, events, records, folder, file }: Setting): Promise<void> {
  await session.close();
  expect({
    file: leaksIn(file()),
    events: leaksIn(JSON.stringify(events)),
    records: leaksIn(JSON.stringify(records)),
  }).toEqual({
    file: [],
    events: [],
    records: [],
  });
  const stacks = events.flatMap((event) =>
    'error' in event && event.error !== undefined ? [event.error.stack ?? ''] : [],
  );
  expect(leaksIn(stacks.join('\n'))).toEqual([]);
  const { records: read } = readLog(join(folder, 's.jsonl'));
  const again = replay(read, { slices: [seen, diary] });
  expect(again.export().slices).toEqual(session.export().slices);
  expect(leaksIn(JSON.stringify(session.export()))).toEqual([]);
}

async function run(setting: Setting, name: string, args: Json, options: Partial<CallOptions> = {}): Promise<Outcome> {
  const outcome = await executeToolCall({ name, arguments: args }, { ...setting.options, ...options });
  if (outcome.kind === 'suspended') throw new Error('suspended');
  return outcome;
}

test.each(['well', 'throw', 'fail', 'nothing', 'wrongly', 'nested', 'child'])(
  'a direct call that ends %s leaks nothing, with arguments as text and as a value',
  async (how) => {
    const setting = setUp();
    const args = { phrase: marked, apiKey: named, how, free: [everything] };
    const outcome = await run(setting, 'spill', args);
    await run(setting, 'spill', JSON.stringify(args));
    // A model may write any letter as an escape.
    const escaped = marked.replace(/./gsu, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
    await run(setting, 'spill', `{"phrase":"${escaped}","how":"${how}"}`);
    expect(setting.real.inputs).toContainEqual({ ...args });
    expect(setting.real.checked[0]).toMatchObject({ phrase: marked, apiKey: named });
    if (how === 'well' || how === 'throw') expect(outcome.message).toContain(marked);
    expect(leaksIn(JSON.stringify(setting.real.state))).toEqual([]);
    expect(setting.real.state.length > 0).toBe(how === 'child');
    if (how === 'well') expect(outcome.value).toMatchObject({ ticket: returned, apiKey: named });
    await expectNoLeak(setting);
  },
);

test.each<readonly [string, Json]>([
  ['cut off', `{"phrase":${JSON.stringify(marked).slice(0, -1)}`],
  ['given twice', `{"phrase":${JSON.stringify(marked)},"phrase":"other"}`],
  ['of a wrong type', { phrase: [marked], apiKey: named }],
  ['with what is undeclared', { phrase: marked, more: everything }],
  ['as text of a text', JSON.stringify(JSON.stringify({ phrase: marked, apiKey: named }))],
  ['no object', everything],
])('arguments that are %s leak nothing', async (_how, args) => {
  const setting = setUp();
  // A secret that no schema, name or shape marks must be registered.
  if (typeof args === 'string' && args.startsWith('<')) setting.session.redactor?.learn(marked);
  expect((await run(setting, 'spill', args)).kind).toBe('invalid');
  await expectNoLeak(setting);
});

test.each([{ prepare: true }, { commit: true }, { discard: true }])(
  'resources that fail (%j) leak nothing',
  async (fail) => {
    const setting = setUp({ resources: { files: files(fail) } });
    const how = 'discard' in fail ? 'throw' : 'well';
    await run(setting, 'spill', { phrase: marked, how });
    expect(setting.records.length).toBeGreaterThan(3);
    await expectNoLeak(setting);
  },
);

test('what a schema fills in leaks nothing', async () => {
  const setting = setUp();
  const given: unknown[] = [];
  const filled = defineTool({
    name: 'filled',
    description: 'Has a secret of its own.',
    inputSchema: v.object({
      phrase: v.optional(secretText, marked),
      pin: v.optional(
        v.pipe(
          secretText,
          v.transform((text) => `${text}-made`),
        ),
        'Vu0-pin',
      ),
    }),
    effects: 'state',
    execute(input) {
      given.push(input);
      throw new Error(`${input.phrase} and ${input.pin}`);
    },
  });
  await run(setting, 'filled', {}, { tools: [filled] });
  expect(given).toEqual([{ phrase: marked, pin: 'Vu0-pin-made' }]);
  expect(setting.file()).not.toContain('Vu0-pin-made');
  await expectNoLeak(setting);
});

test('a result that comes late leaks nothing', async () => {
  const clock = testClock();
  const setting = setUp({ clock, timeoutMs: 1_000 });
  const calling = run(setting, 'spill', { phrase: marked, how: 'never' });
  await Promise.resolve();
  for (let tick = 0; tick < 1_000 && lateStarts.length === 0; tick += 1) await Promise.resolve();
  clock.advance(1_000);
  expect((await calling).kind).toBe('in-doubt');
  for (const start of lateStarts) start();
  for (let tick = 0; tick < 1_000; tick += 1) await Promise.resolve();
  expect(setting.records.at(-1)).toMatchObject({ type: 'tool-call-late', answer: 'returned' });
  expect(setting.records.at(-1)?.['value']).toBeDefined();
  await expectNoLeak(setting);
});

test('reasons of policies, questions and answers leak nothing, and who is asked has the real arguments', async () => {
  const setting = setUp();
  const { real } = setting;
  const asking = (reply: 'approve' | 'deny'): Partial<CallOptions> => ({
    policies: [gossip(real, () => 'ask')],
    approve: (pending) => {
      real.pending.push(pending);
      return reply === 'approve' ? { type: 'approve', grant: true } : { type: 'deny', reason: everything };
    },
  });
  expect(
    (await run(setting, 'spill', { phrase: marked }, { policies: [gossip(real, () => 'deny')] })).message,
  ).toContain(marked);
  expect((await run(setting, 'spill', { phrase: marked }, asking('deny'))).kind).toBe('denied');
  expect((await run(setting, 'spill', { phrase: marked }, asking('approve'))).kind).toBe('ok');
  expect(real.pending[0]?.input).toMatchObject({ phrase: marked });
  expect(real.pending[0]?.asks[0]?.reason).toBe(everything);
  await expectNoLeak(setting);
});

test('questions that wait, answers from elsewhere and what a person says of a call leak nothing', async () => {
  const setting = setUp();
  const { session, real, options } = setting;
  const asking = { ...options, policies: [gossip(real, () => 'ask')] };
  const given = { phrase: marked, apiKey: named };
  for (const id of ['a', 'b']) await executeToolCall({ id, name: 'spill', arguments: given }, asking);
  await answerApproval(session, 'a', { type: 'deny', reason: everything }, { clock: testClock() });
  expect(await resumeToolCall('a', asking)).toMatchObject({ kind: 'denied', code: 'approval.denied' });
  await executeToolCall({ id: 'c', name: 'spill', arguments: { ...given, how: 'nothing' } }, options);
  await resolveCall(session, 'c', { type: 'done', value: { everything }, message: everything });
  expect(leaksIn(JSON.stringify([session.openWork(), pendingApprovals(session)]))).toEqual([]);
  expect(setting.records.map(({ type }) => type)).toEqual(
    expect.arrayContaining(['approval-request', 'approval-answer', 'call-resolution']),
  );
  await expectNoLeak(setting);
});

test('snapshots leak nothing', async () => {
  const setting = setUp({}, 1);
  for (const how of ['well', 'nested', 'throw', 'well'])
    await run(setting, 'spill', { phrase: marked, apiKey: named, how });
  expect(setting.records.filter(({ type }) => type === 'snapshot').length).toBeGreaterThan(1);
  await expectNoLeak(setting);
});

test('a run leaks nothing: its input, messages, calls of every kind, its end', async () => {
  const setting = setUp();
  const model = playing(
    [
      say(everything),
      call('spill', JSON.stringify({ phrase: marked, apiKey: named }), 'a'),
      call('spill', { phrase: marked, how: 'throw' }, 'b'),
      stop,
    ],
    [call('unknown', { text: everything }, 'c'), call('spill', `{"phrase":${JSON.stringify(marked)},`, 'd'), stop],
    [say(`It was ${everything}.`), stop],
  );
  // The first message speaks of the secret before its call says that it is one.
  setting.session.redactor?.learn(marked);
  const { tools, ...options } = setting.options;
  const agent = runAgent({ ...options, model, prompt: toolsPrompt(tools), input: everything });
  const told = await collect(agent);
  const { status, text, outcomes } = await agent.result;
  expect({ status, kinds: outcomes.map(({ kind }) => kind) }).toEqual({
    status: 'completed',
    kinds: ['ok', 'failed', 'unknown-tool', 'invalid'],
  });
  expect(text).toBe(`It was ${everything}.`);
  // The model gets what the tool returned.
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain(JSON.stringify(returned).slice(1, -1));
  expect(leaksIn(JSON.stringify(told))).toEqual([]);
  await expectNoLeak(setting);
});

test('what the host records, imports and does wrong leaks nothing', async () => {
  const setting = setUp();
  const { session } = setting;
  await run(setting, 'spill', { phrase: marked });
  session.record({ type: 'of-the-host', text: everything, apiKey: named, [marked]: everything });
  session.dispatch({ type: 'saw', payload: { [tokens[0] ?? '']: everything } });
  const other = createSession({ slices: [seen] });
  other.dispatch({ type: 'saw', payload: everything });
  session.import(other.export());
  session.subscribe(() => {
    throw new Error(everything);
  });
  await run(
    setting,
    'spill',
    { phrase: marked },
    {
      onEvent: () => {
        throw new Error(everything);
      },
    },
  );
  session.onClose(() => {
    throw new Error(everything);
  });
  await expectNoLeak(setting);
  const types = setting.records.map(({ type }) => type);
  expect(types).toEqual(expect.arrayContaining(['of-the-host', 'import', 'subscriber-error', 'close-error']));
});
