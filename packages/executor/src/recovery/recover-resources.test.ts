import { defineResource, defineTool, type StagedResource, type Tool } from '@holdfast/core';
import { createSession, type MemoryStore, memoryStore, replay } from '@holdfast/session';
import { expect, test } from 'vitest';
import { notes, playing, say, stop, testClock, toolsPrompt, wordsResource } from '../fixtures.ts';
import { executeToolCall, recoverSession, runAgent } from '../index.ts';

/** In place of one on a disk: what it holds is there after the process that a test lets end. */
function lastingStore(): MemoryStore {
  const store = memoryStore();
  return Object.defineProperty(store, 'lasting', { value: true });
}

const slices = [notes];

/** Words whose prepared changes outlive their process: what is prepared and not committed stays behind under its mark. */
function lastingWords(left: Map<string, string>, fails: ReadonlySet<string> = new Set()) {
  const asked: { readonly mark: string; readonly committed: boolean }[] = [];
  let looks = 0;
  const words = wordsResource();
  const resource: StagedResource = {
    ...words,
    begin(callId) {
      const part = words.begin(callId);
      let mark = '';
      return {
        ...part,
        prepare(given) {
          mark = given ?? '';
          if (mark !== '') left.set(mark, 'prepared');
          return part.prepare();
        },
        commit() {
          left.delete(mark);
          return part.commit();
        },
      };
    },
    async unsettled() {
      looks += 1;
      return [...left.keys()];
    },
    async recover(mark, committed) {
      asked.push({ mark, committed });
      if (fails.has(mark)) throw new Error('the disk is gone');
      left.delete(mark);
    },
  };
  return { resource, asked, looks: () => looks };
}

const write: Tool = defineTool({
  name: 'write',
  description: 'Writes a word.',
  effects: 'state',
  execute(_input, { resources }) {
    (resources.get('words') as { add(word: string): void }).add('x');
    return 'written';
  },
}) as Tool;
const call = { id: 'w', name: 'write', arguments: '' };

/** A call whose process ended after `prepare`: before its commit record, or after it. */
async function dieIn(when: 'before' | 'after') {
  const clock = testClock();
  const store = lastingStore();
  const left = new Map<string, string>();
  const { resource } = lastingWords(left);
  const begin = resource.begin.bind(resource);
  const dying: StagedResource = {
    ...resource,
    begin(callId) {
      const part = begin(callId);
      const never = (): Promise<void> => new Promise(() => undefined);
      const prepare = async (mark?: string): Promise<void> => {
        await part.prepare(mark);
        await never();
      };
      return { ...part, commit: never, ...(when === 'before' ? { prepare } : {}) };
    },
  };
  const session = createSession({ id: 's', slices, store, clock });
  void executeToolCall(call, { tools: [write], session, resources: { words: dying }, clock });
  for (let round = 0; round < 100 && left.size === 0; round += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(store.records.some(({ type }) => type === 'tool-call-end')).toBe(when === 'after');
  return { left, store, clock, reopen: () => replay(store.records, { slices, store, clock }) };
}

test.each([
  { when: 'before', committed: false },
  { when: 'after', committed: true },
] as const)(
  'changes of a process that ended $when the commit record: committed $committed',
  async ({ when, committed }) => {
    const { left, clock, reopen } = await dieIn(when);
    const { resource, asked } = lastingWords(left);
    const session = reopen();
    const options = { tools: [write], session, resources: { words: resource }, clock };
    const { failures } = await recoverSession(options);
    expect({ failures, asked }).toEqual({
      failures: [],
      asked: [{ mark: expect.stringMatching(/^s#\d+\.[0-9a-f]{16}\.1$/), committed }],
    });
    expect(left.size).toBe(0);
  },
);

test('they are settled before any first call or run, once', async () => {
  for (const first of ['call', 'run'] as const) {
    const { left, clock, reopen } = await dieIn('after');
    const { resource, asked, looks } = lastingWords(left);
    const options = { session: reopen(), resources: { words: resource }, clock };
    if (first === 'call') await executeToolCall({ ...call, id: 'v' }, { ...options, tools: [write] });
    else {
      const model = playing([say('Hi.'), stop]);
      await runAgent({ ...options, model, prompt: toolsPrompt([write]), input: 'Go.' }).result;
    }
    expect(asked).toHaveLength(1);
    await executeToolCall({ ...call, id: 'u' }, { ...options, tools: [write] });
    expect({ asked: asked.length, looks: looks() }).toEqual({ asked: 1, looks: 1 });
  }
});

test('a declared resource is asked when it is first used', async () => {
  const { left, clock, reopen } = await dieIn('after');
  const { resource, asked, looks } = lastingWords(left);
  const declared = defineResource({ name: 'words', lifetime: 'session', create: () => resource });
  const using: Tool = defineTool({
    name: 'write',
    description: 'Writes a word.',
    effects: 'state',
    async execute(_input, context) {
      const words = (await context.use(declared)) as unknown as { add(word: string): void };
      words.add('y');
      return asked.length;
    },
  }) as Tool;
  const options = { tools: [using], session: reopen(), clock };
  expect(await executeToolCall({ ...call, id: 'v' }, options)).toMatchObject({ kind: 'ok', value: 1 });
  expect(await executeToolCall({ ...call, id: 'u' }, options)).toMatchObject({ kind: 'ok', value: 1 });
  expect({ asked, looks: looks() }).toMatchObject({ asked: [{ committed: true }], looks: 1 });
});

test('what belongs to another session, or to another log of its id, is left alone', async () => {
  const { left, clock } = await dieIn('after');
  const mark = [...left.keys()][0] ?? '';
  for (const id of ['other', 's']) {
    const { resource, asked } = lastingWords(left);
    // Its log is younger than the mark.
    const session = createSession({ id, slices: [], store: lastingStore(), clock });
    const before = mark.replace(/#\d+/, '#99');
    left.clear();
    left.set(id === 's' ? before : mark, 'prepared');
    await recoverSession({ tools: [write], session, resources: { words: resource }, clock });
    expect(asked).toEqual([]);
  }
});

test('a session whose id begins with that of another leaves its changes alone', async () => {
  const { left, clock } = await dieIn('after');
  const mark = ([...left.keys()][0] ?? '').replace(/^s#/, 's#1#');
  left.clear();
  left.set(mark, 'prepared');
  const { resource, asked } = lastingWords(left);
  const session = createSession({ id: 's', slices, store: lastingStore(), clock });
  session.record({ type: 'one' });
  await recoverSession({ tools: [write], session, resources: { words: resource }, clock });
  expect(asked).toEqual([]);
});

test('a resource that does not answer holds nobody past its time', async () => {
  const clock = testClock();
  const session = createSession({ id: 's', slices, clock });
  const silent: StagedResource = { ...wordsResource(), unsettled: () => new Promise(() => undefined) };
  const options = { tools: [write], session, resources: { words: silent }, clock };
  const calling = executeToolCall(call, { ...options, timeoutMs: 100 });
  clock.advance(100);
  expect(await calling).toMatchObject({ kind: 'timed-out', code: 'call.deadline' });
});

test('a resource that did not answer in time is not recovered', async () => {
  const clock = testClock();
  const session = createSession({ id: 's', slices, clock });
  const silent: StagedResource = { ...wordsResource(), unsettled: () => new Promise(() => undefined) };
  const recovering = recoverSession({ tools: [], session, resources: { words: silent }, clock, timeoutMs: 100 });
  clock.advance(100);
  expect((await recovering).failures).toMatchObject([{ resource: 'words' }]);
});

test('what cannot even be recorded is tried again at the next call', async () => {
  const clock = testClock();
  const memory = memoryStore();
  let full = false;
  const append: typeof memory.append = (entry, seq, atMs) => {
    if (full) throw new Error('ENOSPC');
    memory.append(entry, seq, atMs);
  };
  const session = createSession({ id: 's', slices, clock, store: { append, close: () => undefined } });
  let broken = true;
  const resource: StagedResource = {
    ...wordsResource(),
    unsettled: () => (broken ? Promise.reject(new Error('no folder')) : Promise.resolve([])),
  };
  const options = { tools: [write], session, resources: { words: resource }, clock };
  full = true;
  await expect(executeToolCall(call, options)).rejects.toThrow('ENOSPC');
  full = false;
  broken = false;
  expect(await executeToolCall(call, options)).toMatchObject({ kind: 'ok' });
});

test('what cannot be settled is recorded, and costs the others nothing', async () => {
  const { left, store, clock, reopen } = await dieIn('after');
  const mark = [...left.keys()][0] ?? '';
  const second = mark.replace(/1$/, '2');
  left.set(second, 'prepared');
  const { resource, asked } = lastingWords(left, new Set([mark]));
  const broken: StagedResource = { ...wordsResource(), unsettled: () => Promise.reject(new Error('no folder')) };
  const { failures } = await recoverSession({
    tools: [write],
    session: reopen(),
    resources: { words: resource, broken },
    clock,
  });
  expect(asked).toEqual([
    { mark, committed: true },
    { mark: second, committed: false },
  ]);
  expect(failures).toEqual([
    { resource: 'words', message: 'the disk is gone' },
    { resource: 'broken', message: 'no folder' },
  ]);
  expect(store.records.filter(({ type }) => type === 'resource-recovery-failed')).toMatchObject([
    { resource: 'broken', message: 'no folder' },
    { resource: 'words', message: 'the disk is gone', mark },
  ]);
});

test('a log that ends with its process decides nothing, so nothing waits for it', async () => {
  const left = new Map<string, string>();
  const { resource } = lastingWords(left);
  const options = { tools: [write], session: createSession({ id: 's', slices }), resources: { words: resource } };
  expect(await executeToolCall(call, options)).toMatchObject({ kind: 'ok' });
  const dying: StagedResource = {
    ...resource,
    begin: (id) => ({ ...resource.begin(id), commit: () => new Promise(() => undefined) }),
  };
  void executeToolCall({ ...call, id: 'v' }, { ...options, resources: { words: dying } });
  await new Promise((resolve) => setImmediate(resolve));
  expect(left.size).toBe(0);
});

test('only what outlives its call has a mark', async () => {
  const marks: (string | undefined)[] = [];
  const words = wordsResource();
  const noting = (part: ReturnType<typeof words.begin>): ReturnType<typeof words.begin> => ({
    ...part,
    begin: (callId) => noting(part.begin(callId)),
    prepare(mark) {
      marks.push(mark);
      return part.prepare(mark);
    },
  });
  const resource: StagedResource = { ...words, begin: (callId) => noting(words.begin(callId)) };
  const outer = defineTool({
    name: 'outer',
    description: 'Calls another.',
    effects: 'state',
    execute: async (_input, context) => (await context.call('write')).kind,
  });
  const store = lastingStore();
  const session = createSession({ id: 's', slices, store });
  const options = { tools: [outer, write], session, resources: { words: resource } };
  expect(await executeToolCall({ id: 'o', name: 'outer', arguments: '' }, options)).toMatchObject({ value: 'ok' });
  expect(marks).toEqual([undefined, expect.stringMatching(/^s#/)]);
  expect(store.records.filter(({ type }) => type === 'tool-call-end').map(({ mark }) => mark)).toEqual(marks);
});
