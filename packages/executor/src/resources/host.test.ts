import { setImmediate } from 'node:timers/promises';
import { defineResource, defineTool, type StagedResource, type Tool } from '@holdfast/core';
import { type LogRecord, memoryStore, openSession, type SessionLogs } from '@holdfast/session';
import { expect, test } from 'vitest';
import { notes, testClock, wordsResource } from '../fixtures.ts';
import { executeToolCall, recoverSession } from '../index.ts';

const clock = testClock();

function sharedLog() {
  let records: readonly LogRecord[] = [];
  const on = (host: string): SessionLogs => ({
    open() {
      const { append, read } = memoryStore(records);
      const store = {
        host,
        read,
        close: () => undefined,
        append: (...[entry, seq, atMs]: Parameters<typeof append>) => {
          append(entry, seq, atMs);
          records = [...records, { seq, atMs, ...entry }];
        },
      };
      return { records, store };
    },
  });
  const types = (): readonly string[] =>
    records.map(({ type }) => type).filter((type) => /resource|call-end/.test(type));
  return { on, types };
}

/** Words with changes that wait under their mark on the disk of a machine. `dies`: its process ends there. */
function disk() {
  const left = new Set<string>();
  const recovered: boolean[] = [];
  const use = (dies?: 'in prepare' | 'in commit', fails = false): StagedResource => {
    const words = wordsResource();
    return {
      ...words,
      begin(callId) {
        const part = words.begin(callId);
        let own = '';
        return {
          ...part,
          async prepare(mark = '') {
            left.add(mark);
            own = mark;
            await (dies === 'in prepare' ? new Promise(() => undefined) : part.prepare());
          },
          async commit() {
            if (fails) throw new Error('The disk is full.');
            await (dies === 'in commit' ? new Promise(() => undefined) : part.commit());
            left.delete(own);
          },
        };
      },
      unsettled: async () => [...left],
      async recover(mark, committed) {
        recovered.push(committed);
        left.delete(mark);
      },
    };
  };
  return { use, left, recovered };
}

const write = defineTool({
  name: 'write',
  description: 'Writes a word.',
  effects: 'state',
  execute(_input, { resources }) {
    (resources.get('words') as { add(word: string): void }).add('x');
    return 'written';
  },
}) as Tool;
const call = { id: 'w', name: 'write', arguments: '' };
const inMemory = (): StagedResource => wordsResource();

test('changes are noted before they count and after they are applied; those in memory are not', async () => {
  const { on, types } = sharedLog();
  const options = { tools: [write], clock };
  const session = await openSession(on('a'), { id: 's', slices: [notes], clock });
  await executeToolCall(call, { ...options, session, resources: { words: disk().use() } });
  expect(types()).toEqual(['resources-staged', 'tool-call-end', 'resources-settled']);
  await executeToolCall({ ...call, id: 'v' }, { ...options, session, resources: { words: inMemory() } });
  expect(types().slice(3)).toEqual(['tool-call-end']);
  await (await openSession(on('b'), { id: 's', slices: [notes] })).close();
});

test('a declared resource is noted under its name', async () => {
  const { on, types } = sharedLog();
  const token = defineResource({
    name: 'own',
    lifetime: 'session',
    create: () => disk().use() as StagedResource<{ add(word: string): void }>,
  });
  const tool = defineTool({
    name: 'write',
    description: 'Writes a word.',
    effects: 'state',
    async execute(_input, { use }) {
      (await use(token)).add('x');
      return 'written';
    },
  }) as Tool;
  const session = await openSession(on('a'), { id: 's', slices: [notes], clock });
  await executeToolCall(call, { tools: [tool], clock, session });
  expect(types()).toEqual(['resources-staged', 'tool-call-end', 'resources-settled']);
});

/** A machine that ends while it prepares or applies changes. */
async function dieOn(host: string, dies: 'in prepare' | 'in commit', files: ReturnType<typeof disk>) {
  const log = sharedLog();
  const session = await openSession(log.on(host), { id: 's', slices: [notes], clock });
  void executeToolCall(call, { tools: [write], clock, session, resources: { words: files.use(dies) } });
  for (let round = 0; round < 100 && !(dies === 'in commit' ? log.types().length === 2 : files.left.size > 0); )
    round += await setImmediate(1);
  const open = (on: string, abandon?: string) =>
    openSession(log.on(on), { id: 's', slices: [notes], clock, ...(abandon !== undefined && { abandon }) });
  return { ...log, open };
}

test('what did not count yet keeps nobody away', async () => {
  const { open } = await dieOn('a', 'in prepare', disk());
  const session = await open('b');
  expect(session.openWork().staged).toBeUndefined();
  await session.close();
});

test('resource.elsewhere: until that machine settles it', async () => {
  const files = disk();
  const { open, types } = await dieOn('a', 'in commit', files);
  await expect(open('b')).rejects.toMatchObject({
    code: 'resource.elsewhere',
    data: { host: 'a', here: 'b', resources: ['words'] },
  });
  const session = await open('a');
  await recoverSession({ session, tools: [write], clock, resources: { words: files.use() } });
  expect(files.recovered).toEqual([true]);
  expect(types().at(-1)).toBe('resources-settled');
  await (await open('b')).close();
});

test('abandoned changes are dropped when their machine comes back', async () => {
  const files = disk();
  const { open } = await dieOn('a', 'in commit', files);
  await (await open('b', 'a')).close();
  const session = await open('a');
  await recoverSession({ session, tools: [write], clock, resources: { words: files.use() } });
  expect({ recovered: files.recovered, left: files.left.size }).toEqual({ recovered: [false], left: 0 });
});

test('changes that could not be applied stay on their machine', async () => {
  const { on, types } = sharedLog();
  const session = await openSession(on('a'), { id: 's', slices: [notes], clock });
  const resources = { words: disk().use(undefined, true) };
  expect(await executeToolCall(call, { tools: [write], clock, session, resources })).toMatchObject({
    kind: 'in-doubt',
  });
  expect(types()).not.toContain('resources-settled');
  await expect(openSession(on('b'), { id: 's', slices: [notes] })).rejects.toMatchObject({
    code: 'resource.elsewhere',
  });
});
