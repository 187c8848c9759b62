import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeFrame } from '../child/frames.ts';
import type { PinnedTool } from '../language/types.ts';
import { type TestContext, testClock, testContext, testFilesystem, until } from '../test-tools.ts';
import { RemoteTool } from './remote-tool.ts';
import { type TestChild, testChildren } from './test-child.ts';

const tool = {
  file: 'a.mjs',
  entry: '/tools/a.mjs',
  digest: 'd'.repeat(64),
  metadata: { name: 'a', form: 'metadata', function: 'run', effects: 'none' },
} as unknown as PinnedTool;

interface Setting {
  readonly remote: RemoteTool;
  readonly child: TestChild;
  readonly clock: ReturnType<typeof testClock>;
  readonly context: TestContext;
  readonly changes: string[];
  begin(): Promise<unknown>;
}

function setUp(options: { readonly killsAtOnce?: boolean; readonly context?: TestContext } = {}): Setting {
  const { launch, children } = testChildren({ ...options, ready: false });
  const clock = testClock();
  const changes: string[] = [];
  const remote: RemoteTool = new RemoteTool({ tool, sha256: 'f'.repeat(64) }, launch, {
    clock,
    unresponsiveMs: 1_000,
    print: () => undefined,
    changed: ({ state }) => void changes.push(state),
  });
  const [child] = children;
  if (child === undefined) throw new Error('The test needs a child.');
  child.say({ type: 'ready' });
  const context = options.context ?? testContext({ filesystem: testFilesystem({ a: 'A' }) });
  return {
    remote,
    child,
    clock,
    context,
    changes,
    begin: () => {
      const running = remote.run({}, context);
      running.catch(() => undefined);
      return running;
    },
  };
}

const returned = { type: 'returned', call: 1, idle: true, value: 1 };
const request = { type: 'request', call: 1, request: 1, method: 'read', parameters: ['a'] };

const outOfPlace: readonly (readonly [string, unknown])[] = [
  ['no object', []],
  ['a text', 'returned'],
  ['null', null],
  ['an unknown type', { type: 'obey', call: 1, idle: true }],
  ['a type of Object.prototype', { type: 'constructor', call: 1, idle: true }],
  ['an answer to an earlier call', { ...returned, call: 0 }],
  ['an answer to a later call', { ...returned, call: 2 }],
  ['a call that is not a number', { ...returned, call: '1' }],
  ['a call that is not an integer', { ...returned, call: 1.5 }],
  ['an answer that does not say whether it is idle', { ...returned, idle: 1 }],
  ['a result without success', { type: 'result', call: 1, idle: true, message: '', value: 1, excluded: false }],
  ['a result without a value', { type: 'result', call: 1, idle: true, success: true, message: '', excluded: false }],
  [
    'a result with a code that is not a text',
    { type: 'result', call: 1, idle: true, success: true, message: '', value: 1, excluded: false, code: 1 },
  ],
  ['an error that is invalid', { type: 'threw', call: 1, idle: true, error: 'x' }],
  ['an error without a message', { type: 'threw', call: 1, idle: true, error: { name: 'Error' } }],
  [
    'an import that failed for no reason',
    { type: 'unimportable', call: 1, idle: true, error: { name: '', message: '' } },
  ],
  ['an unfit value without its problem', { type: 'unfit', call: 1, idle: true }],
  ['idle during a call', { type: 'idle', call: 1 }],
  ['a message of the host', { type: 'reply', request: 1, value: 1 }],
  ['ready during a call', { type: 'ready' }],
  ['progress without a message', { type: 'progress', call: 1 }],
  ['a request without a number', { ...request, request: -1 }],
  ['a request without a method', { ...request, method: 1 }],
  ['parameters that are not a list', { ...request, parameters: { 0: 'a' } }],
  ['a value of 70 levels', { ...returned, value: JSON.parse(`${'['.repeat(70)}${']'.repeat(70)}`) }],
];

test.each(outOfPlace)('%s ends the process', async (_name, message) => {
  const { child, begin, remote, context } = setUp();
  const running = begin();
  child.say(message);
  await expect(running).rejects.toMatchObject({ code: 'tool.process.lost', reason: 'protocol' });
  expect(child.kills).toBe(1);
  expect(remote.state).toBe('ended');
  expect(context.calls).toEqual([]);
});

test.each([
  ['text that is not JSON', '{"type":'],
  ['a key twice', '{"type":"returned","call":1,"idle":true,"value":1,"value":2}'],
  ['__proto__', '{"type":"returned","call":1,"idle":true,"value":{"__proto__":1}}'],
  ['a number that is infinite', '{"type":"returned","call":1,"idle":true,"value":1e999}'],
])('%s ends the process', async (_name, json) => {
  const { child, begin } = setUp();
  const running = begin();
  child.listener.received(encodeFrame(json));
  await expect(running).rejects.toMatchObject({ code: 'tool.process.lost', reason: 'protocol' });
  expect(child.kills).toBe(1);
});

test('property: after any messages a call ends or continues, and the host does not throw', async () => {
  const any = fc.oneof(
    fc.uint8Array({ maxLength: 100 }),
    fc.json().map((json) => encodeFrame(json)),
    fc.constantFrom(...outOfPlace.map(([, message]) => encodeFrame(JSON.stringify(message)))),
    fc
      .constantFrom(returned, request, { type: 'pong' }, { type: 'beat', call: 1 }, { type: 'idle', call: 1 })
      .map((message) => encodeFrame(JSON.stringify(message))),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(any, { maxLength: 8 }), async (chunks) => {
      const { child, begin, remote } = setUp();
      let ends = 0;
      const end = (): void => {
        ends += 1;
      };
      const running = begin().then(end, end);
      for (const chunk of chunks) child.listener.received(chunk);
      child.listener.ended({ type: 'exited', how: 'with code 0' });
      await running;
      expect(ends).toBe(1);
      expect(remote.state).toBe('ended');
      expect(child.kills).toBeLessThanOrEqual(1);
    }),
  );
});

test('only the first answer counts', async () => {
  const { child, begin, changes, context } = setUp();
  const running = begin();
  child.say({ ...returned, value: 'first', idle: false });
  child.say({ ...returned, value: 'second' });
  child.say(request);
  child.say({ type: 'progress', call: 1, message: 'late' });
  expect(await running).toBe('first');
  expect(changes).toEqual(['settling', 'ended']);
  expect(child.kills).toBe(1);
  expect(context.told).toEqual([]);
  expect(child.sent.map(({ message }) => message['type'])).toEqual(['call']);
});

test.each([
  ['idle', 'free', 0],
  ['restless', 'ended', 1],
] as const)('a process that sends %s after its answer is %s', async (type, state, kills) => {
  const { child, begin, remote } = setUp();
  const running = begin();
  child.say({ ...returned, idle: false });
  await running;
  expect(remote.state).toBe('settling');
  child.say({ type, call: 1 });
  await remote.settled();
  expect([remote.state, child.kills]).toEqual([state, kills]);
});

test('a process that sends a message unasked is ended', () => {
  const { child, remote } = setUp();
  child.say({ type: 'beat', call: 0 });
  expect(remote.state).toBe('ended');
  expect(child.kills).toBe(1);
});

test('a request is served with the context of the call, and bytes stay bytes', async () => {
  const { child, begin, context } = setUp();
  const running = begin();
  child.say(request);
  child.say({ ...request, request: 2, method: 'write', parameters: ['b'] }, Buffer.from([0xe9]));
  child.say({ ...request, request: 3, method: 'read', parameters: ['none'] });
  child.say({ ...request, request: 4, method: 'call', parameters: ['other', { a: 1 }] });
  child.say({ type: 'progress', call: 1, message: 'half' });
  await until(() => child.sent.length === 5);
  const answers = new Map(child.sent.map(({ message, body }) => [message['request'], { message, body }]));
  expect(answers.get(1)?.body).toEqual(Buffer.from('A'));
  expect(answers.get(2)?.message).toEqual({ type: 'reply', request: 2, value: null });
  expect(answers.get(3)?.message).toMatchObject({ type: 'refusal', error: { code: 'file.missing' } });
  expect(answers.get(3)?.message['error']).not.toHaveProperty('stack');
  expect(answers.get(4)?.message).toMatchObject({ type: 'reply', value: { kind: 'ok', value: { a: 1 } } });
  expect(context.calls).toEqual([['other', { a: 1 }]]);
  expect(context.told).toEqual(['half']);
  child.say(returned);
  expect(await running).toBe(1);
});

test.each(['constructor', '__proto__', 'dispatch', 'walkOn', ''])('a request for `%s` is rejected', async (method) => {
  const { child, begin } = setUp();
  void begin();
  child.say({ ...request, method, parameters: ['toString', 5] });
  await until(() => child.sent.length === 2);
  expect(child.sent[1]?.message).toMatchObject({ type: 'refusal', error: { code: 'tool.request.invalid' } });
});

test.each([
  ['a path that is not a text', testContext({ filesystem: testFilesystem({ '[object Object]': '' }) }), { path: 'a' }],
  ['a filesystem that is not bound', testContext(), 'a'],
])('%s is rejected', async (_name, context, path) => {
  const { child, begin } = setUp({ context });
  void begin();
  child.say({ ...request, parameters: [path] });
  await until(() => child.sent.length === 2);
  expect(child.sent[1]?.message).toMatchObject({ type: 'refusal', error: { code: 'tool.request.invalid' } });
});

test('64 requests may be pending, one more ends the process', async () => {
  const gate = new Promise<never>(() => undefined);
  const { child, begin } = setUp({ context: testContext({ call: () => gate }) });
  const running = begin();
  for (let number = 1; number <= 64; number += 1)
    child.say({ ...request, request: number, method: 'call', parameters: ['other'] });
  expect(child.kills).toBe(0);
  child.say({ ...request, request: 65, method: 'call', parameters: ['other'] });
  await expect(running).rejects.toMatchObject({ code: 'tool.process.lost', reason: 'protocol' });
});

test('too many messages without reply end the process', async () => {
  const { child, begin, context } = setUp();
  const running = begin();
  const beats = encodeFrame(JSON.stringify({ type: 'beat', call: 1 }));
  const chunk = Buffer.concat(new Array(1_000).fill(beats));
  for (let count = 0; count < 100; count += 1) child.listener.received(chunk);
  expect(child.kills).toBe(0);
  child.listener.received(chunk);
  await expect(running).rejects.toMatchObject({ code: 'tool.process.lost', reason: 'flood' });
  expect(context.told).toHaveLength(100_000);
});

test('more progress than a genuine program sends ends the process', async () => {
  const { child, begin, context } = setUp();
  const running = begin();
  const message = 'x'.repeat(10_000);
  for (let count = 0; count < 300; count += 1) child.say({ type: 'progress', call: 1, message });
  await expect(running).rejects.toMatchObject({ code: 'tool.process.lost', reason: 'flood' });
  expect(context.told.length).toBeLessThan(210);
});

test.each(['progress', 'beat'] as const)('an error of the host on receiving %s ends the call', async (type) => {
  const broken = new Error('The host is broken.');
  const context: TestContext = {
    ...testContext(),
    progress: () => {
      throw broken;
    },
    beat: () => {
      throw broken;
    },
  };
  const { child, begin } = setUp({ context });
  const running = begin();
  child.say({ type, call: 1, message: 'half' });
  await expect(running).rejects.toBe(broken);
  expect(child.kills).toBe(1);
});

test('too much printed text ends the process', async () => {
  const { child, begin } = setUp();
  const running = begin();
  const chunk = new Uint8Array(1024 * 1024);
  for (let count = 0; count < 64; count += 1) child.listener.printed(chunk);
  expect(child.kills).toBe(0);
  child.listener.printed(new Uint8Array(1));
  await expect(running).rejects.toMatchObject({ code: 'tool.process.lost', reason: 'flood' });
});

test('reading pauses while too many requests or bytes are pending', async () => {
  const gate = Promise.withResolvers<void>();
  const filesystem = { ...testFilesystem(), write: () => gate.promise };
  const { child, begin } = setUp({ context: testContext({ filesystem }) });
  void begin();
  const body = new Uint8Array(16 * 1024 * 1024);
  for (const number of [1, 2]) child.say({ ...request, request: number, method: 'write' }, body);
  expect(child.taken).toBe(true);
  child.say({ ...request, request: 3, method: 'write' }, body);
  expect(child.taken).toBe(false);
  gate.resolve();
  await until(() => child.taken);
  child.backlog = 33 * 1024 * 1024;
  child.say({ type: 'beat', call: 1 });
  expect(child.taken).toBe(false);
  child.backlog = 0;
  child.listener.drained();
  expect(child.taken).toBe(true);
});

test('a process without a response to a heartbeat is ended', async () => {
  const { child, begin, clock } = setUp();
  const running = begin();
  const pings = (): number => child.sent.filter(({ message }) => message['type'] === 'ping').length;
  clock.advance(1_000);
  expect(pings()).toBe(1);
  child.say({ type: 'pong' });
  clock.advance(1_000);
  expect(pings()).toBe(2);
  expect(child.kills).toBe(0);
  clock.advance(1_000);
  await expect(running).rejects.toMatchObject({ code: 'tool.process.lost', reason: 'unresponsive' });
  expect(child.kills).toBe(1);
});

test('an idle process gets no heartbeats', async () => {
  const { child, begin, clock, remote } = setUp();
  const running = begin();
  child.say(returned);
  await running;
  clock.advance(10_000);
  expect(child.kills).toBe(0);
  expect(child.held).toBe(false);
  expect(remote.state).toBe('free');
});

test.each([
  [
    { type: 'not-started', reason: 'no such file' },
    { code: 'tool.process.not_started', reason: undefined },
  ],
  [{ type: 'out-of-memory' }, { code: 'tool.process.lost', reason: 'memory' }],
  [
    { type: 'exited', how: 'with code 3' },
    { code: 'tool.process.lost', reason: 'exited' },
  ],
] as const)('the end %o of a process is the end of its call', async (end, { code, reason }) => {
  const { child, begin, remote } = setUp();
  const running = begin();
  child.listener.ended(end);
  await expect(running).rejects.toMatchObject({ code, reason, data: { tool: 'a' } });
  await remote.ended;
});

test('a signal ends the process and the call at once', async () => {
  const { child, begin, context } = setUp();
  const running = begin();
  child.say(request);
  context.abort('over');
  child.say({ ...request, request: 2, method: 'write', parameters: ['late'] });
  await expect(running).rejects.toBe('over');
  expect(child.kills).toBe(1);
  expect(await context.filesystem?.stat('late')).toBeUndefined();
});

test('a call that cannot be ended at once ends with its thread', async () => {
  const { child, begin, context } = setUp({ killsAtOnce: false });
  let ended = false;
  const running = begin().finally(() => {
    ended = true;
  });
  context.abort('over');
  child.say(returned);
  await new Promise((resolve) => setImmediate(resolve));
  expect(ended).toBe(false);
  child.listener.ended({ type: 'exited', how: 'with code 1' });
  await expect(running).rejects.toBe('over');
});
