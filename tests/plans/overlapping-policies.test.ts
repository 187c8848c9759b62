import { defineTool, type Outcome, type Policy, type Tool } from '@holdfast/core';
import { type Caller, openCaller, type Suspended } from '@holdfast/executor';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { callBudget, every, observe, rateLimit, readBeforeWrite, sequentialDependency } from '@holdfast/policy';
import { limitTools } from '@holdfast/registry';
import { createSession } from '@holdfast/session';
import { manualClock } from '@holdfast/testing';
import * as v from 'valibot';
import { expect, test } from 'vitest';

/** Tools whose calls all begin before the first one ends, and then end in the order of their ids. */
function waiting(names: readonly string[], effects: Tool['effects'] = 'state') {
  const gates = new Map<string, PromiseWithResolvers<void>>();
  const gateOf = (id: string): PromiseWithResolvers<void> => {
    const gate = gates.get(id) ?? Promise.withResolvers<void>();
    gates.set(id, gate);
    return gate;
  };
  const tools = names.map((name) =>
    defineTool({
      name,
      description: 'Waits.',
      effects,
      async execute(_input, { callId }) {
        await gateOf(callId).promise;
        return null;
      },
    }),
  );
  return { tools, release: (id: string) => gateOf(id).resolve() };
}

async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

async function callAll(
  calls: readonly string[],
  policies: readonly Policy[],
  { tools, release }: ReturnType<typeof waiting>,
): Promise<readonly string[]> {
  const caller = openCaller({ tools, session: createSession(), policies });
  const running = calls.map((name, index) => caller.execute({ id: `${index}`, name, arguments: {} }));
  await settled();
  for (const index of calls.keys()) {
    release(`${index}`);
    await settled();
  }
  return (await Promise.all(running)).map(({ kind }) => kind);
}

const fives = Array.from({ length: 5 }, () => 'work');
const wall = manualClock();

test.each<{ readonly name: string; readonly policies: readonly Policy[] }>([
  { name: 'callBudget', policies: [callBudget({ maxCalls: 2 })] },
  { name: 'rateLimit', policies: [rateLimit({ maxCalls: 2, perMs: 1_000, clock: wall })] },
  {
    name: 'both',
    policies: [callBudget({ maxCalls: 3 }), rateLimit({ maxCalls: 2, perMs: 1_000, tools: ['work'], clock: wall })],
  },
  { name: 'every', policies: [every(callBudget({ maxCalls: 2 }))] },
])('$name: of five calls at once two pass, and the others are denied', async ({ policies }) => {
  for (const effects of ['none', 'state'] as const) {
    expect(await callAll(fives, policies, waiting(['work'], effects))).toEqual([
      'ok',
      'ok',
      'denied',
      'denied',
      'denied',
    ]);
  }
});

test('limitTools counts overlapping calls of its tools together', async () => {
  const { tools, release } = waiting(['work', 'free']);
  const limited = limitTools(tools, { tools: ['work'], maxCalls: 1 });
  expect(await callAll(['work', 'free', 'work', 'free'], limited.policies, { tools, release })).toEqual([
    'ok',
    'ok',
    'denied',
    'ok',
  ]);
});

test('what is only observed is counted and passes', async () => {
  expect(await callAll(fives, [observe(callBudget({ maxCalls: 2 }))], waiting(['work']))).toEqual(
    fives.map(() => 'ok'),
  );
});

test('what was allowed by an order stays allowed when others end first', async () => {
  const policies = [sequentialDependency({ deploy: ['test'] })];
  const { tools, release } = waiting(['test', 'deploy']);
  const caller = openCaller({ tools, session: createSession(), policies });
  release('0');
  expect(await caller.execute({ id: '0', name: 'test', arguments: {} })).toMatchObject({ kind: 'ok' });
  const running = ['deploy', 'test', 'deploy'].map((name, index) =>
    caller.execute({ id: `${index + 1}`, name, arguments: {} }),
  );
  for (const id of ['3', '2', '1']) release(id);
  expect((await Promise.all(running)).map(({ kind }) => kind)).toEqual(['ok', 'ok', 'ok']);
});

const editBoth: Tool = defineTool({
  name: 'edit_both',
  description: 'Read, then change two files.',
  effects: 'state',
  inputSchema: v.object({ paths: v.array(v.string()) }),
  async execute({ paths }, { call }) {
    for (const path of paths) {
      await call('read_file', { path });
      const { kind, text } = await call('edit_file', { path, oldText: 'old', newText: 'new' });
      if (kind !== 'ok') throw new Error(text);
      const again = await call('edit_file', { path, oldText: 'new', newText: 'newer' });
      if (again.kind !== 'ok') throw new Error(again.text);
    }
    return null;
  },
});

function files(): { readonly caller: Caller; text(path: string): Promise<string> } {
  const names = Array.from({ length: 8 }, (_, index) => [`${index}.md`, 'old'] as const);
  const filesystem = memoryFilesystem(Object.fromEntries(names));
  const caller = openCaller({
    tools: [...fileTools(), editBoth],
    session: createSession(),
    policies: [readBeforeWrite()],
    resources: { filesystem },
  });
  return { caller, text: (path) => filesystem.readOnly.readText(path) };
}

function edits(caller: Caller, pairs: readonly (readonly string[])[]): Promise<readonly (Outcome | Suspended)[]> {
  return Promise.all(
    pairs.map((paths, index) => caller.execute({ id: `both-${index}`, name: 'edit_both', arguments: { paths } })),
  );
}

test('calls that change files of their own, also by calls within them, do not stand in each other’s way', async () => {
  const { caller, text } = files();
  const outcomes = await edits(caller, [
    ['0.md', '1.md'],
    ['2.md', '3.md'],
    ['4.md', '5.md'],
  ]);
  expect(outcomes.map(({ kind }) => kind)).toEqual(['ok', 'ok', 'ok']);
  expect(await text('5.md')).toBe('newer');
  const reads = [6, 7].map((index) =>
    caller.execute({ id: `read-${index}`, name: 'read_file', arguments: { path: `${index}.md` } }),
  );
  expect((await Promise.all(reads)).map(({ kind }) => kind)).toEqual(['ok', 'ok']);
  const writes = [6, 7].map((index) =>
    caller.execute({ id: `write-${index}`, name: 'write_file', arguments: { path: `${index}.md`, content: 'x' } }),
  );
  expect((await Promise.all(writes)).map(({ kind }) => kind)).toEqual(['ok', 'ok']);
});

test('of two that change one file at once, one does', async () => {
  const { caller, text } = files();
  const outcomes = await edits(caller, [['0.md'], ['0.md']]);
  expect(outcomes.map(({ kind }) => kind).sort()).toEqual(['failed', 'ok']);
  expect(await text('0.md')).toBe('newer');
});
