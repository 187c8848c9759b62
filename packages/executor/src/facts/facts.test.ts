import { allow, ask, definePolicy, defineTool, type FactsSource, type Policy, type Tool } from '@holdfast/core';
import { expect, test } from 'vitest';
import { call, playing, stop, testSession } from '../fixtures.ts';
import { type CallOptions, executeToolCall, runAgent } from '../index.ts';
import { file, kindOf, nothing, source, tool, tools, view } from '../test-facts.ts';

const looking = (seen: unknown[] = []): Policy =>
  definePolicy({
    name: 'looking',
    check: ({ facts }) => {
      seen.push(facts, facts);
      return allow;
    },
    onResult: ({ facts }) => void seen.push(facts),
  });

test.each([
  { what: 'a policy that looks, twice and at the result', name: 'look', looks: true, made: 1 },
  { what: 'a call that changes something, whether or not a policy looks', name: 'act', looks: false, made: 1 },
  { what: 'a call that only reads, and nobody looks', name: 'look', looks: false, made: 0 },
])('facts of $what are made $made times', async ({ name, looks, made }) => {
  const facts = source(() => ({ reads: [file('/w/a')] }));
  const seen: unknown[] = [];
  const { session, ends } = testSession();
  const policies = looks ? [looking(seen)] : [definePolicy({ name: 'blind', check: () => allow })];
  expect(await kindOf(name, {}, { tools, session, policies, facts })).toBe('ok');
  expect(facts.described).toHaveLength(made);
  expect(ends()[0]?.['facts']).toEqual(made === 0 ? undefined : { ...nothing, reads: [file('/w/a')] });
  expect(new Set(seen).size).toBe(looks ? 1 : 0);
});

test('a denied call of which nobody looked has no facts', async () => {
  const facts = source();
  const { session, ends } = testSession();
  const policies = [definePolicy({ name: 'no', check: () => ({ type: 'deny', reason: 'No.' }) })];
  expect(await kindOf('act', {}, { tools, session, policies, facts })).toBe('denied');
  expect(facts.described).toEqual([]);
  expect(ends()[0]?.['facts']).toBeUndefined();
});

test('nobody can change the facts, nor the call', async () => {
  const facts = source(() => ({ reads: [file('/w/a')] }));
  const { session } = testSession();
  const changing = definePolicy({
    name: 'changing',
    check(prepared) {
      expect(Object.isFrozen(prepared)).toBe(true);
      expect(() => Object.assign(prepared, { facts: nothing })).toThrow(TypeError);
      const reads: object[] = (prepared.facts?.reads ?? []) as object[];
      expect(() => reads.pop()).toThrow(TypeError);
      expect(() => Object.assign(reads[0] ?? {}, { path: '/' })).toThrow(TypeError);
      return allow;
    },
  });
  expect(await kindOf('act', {}, { tools, session, policies: [changing], facts })).toBe('ok');
});

test.each<[string, FactsSource['describe']]>([
  [
    'throws',
    () => {
      throw new Error('broken');
    },
  ],
  ['answers later', (async () => nothing) as never],
  ['answers with a value that is not JSON', () => ({ ...nothing, untrusted: Number.NaN as never })],
  ['answers with nothing', (() => undefined) as never],
])('a source that %s leaves the call unclear', async (_what, describe) => {
  const { session, ends } = testSession();
  const policies = [
    definePolicy({
      name: 'careful',
      check: ({ facts }) => (facts?.unclear.length === 0 ? allow : { type: 'deny', reason: 'It is unclear.' }),
    }),
  ];
  expect(await kindOf('look', {}, { tools, session, policies, facts: { view, describe } })).toBe('denied');
  expect(ends()[0]?.['facts']).toMatchObject({ reads: [], unclear: [{ kind: 'program' }] });
});

test.each([
  { what: 'text', facts: 'all' },
  { what: 'no describe', facts: { view } },
  { what: 'no view', facts: { describe: () => nothing } },
  { what: 'no workspace', facts: { describe: () => nothing, view: { folder: '/w' } } },
])('`facts` with $what is refused before anything runs', async ({ facts }) => {
  const { session } = testSession();
  const options = { tools, session, facts } as unknown as CallOptions;
  await expect(executeToolCall({ id: 'c', name: 'act', arguments: {} }, options)).rejects.toMatchObject({
    code: 'options.invalid',
  });
});

test('the record keeps the beginning of long lists and texts, and says that it does', async () => {
  const reads = Array.from({ length: 51 }, (_, at) => file(`/w/${at}`));
  const long = { kind: 'code' as const, reason: 'x'.repeat(501) };
  const { session, ends } = testSession();
  await kindOf('act', {}, { tools, session, facts: source(() => ({ reads, unclear: [long] })) });
  expect(ends()[0]?.['facts']).toEqual({
    ...nothing,
    reads: reads.slice(0, 50),
    unclear: [{ kind: 'code', reason: `${'x'.repeat(500)}…` }],
    cut: true,
  });
});

test('calls of one turn: the facts of each are made when the calls before it have ended', async () => {
  let linked = false;
  const link = tool('link', 'external', () => {
    linked = true;
    return null;
  });
  const facts = source(() => ({ reads: [file(linked ? '/etc/passwd' : '/w/a')] }));
  const seen: (string | undefined)[] = [];
  const policies = [
    definePolicy({
      name: 'seeing',
      check: (prepared) => {
        if (prepared.tool.name === 'look') seen.push(prepared.facts?.reads[0]?.path);
        return allow;
      },
    }),
  ];
  const model = playing([call('link', {}), call('look', {}), stop], [stop]);
  const run = await runAgent({ model, instructions: '', tools: [link, ...tools], policies, facts, input: '' });
  expect(run.outcomes.map(({ kind }) => kind)).toEqual(['ok', 'ok']);
  expect(seen).toEqual(['/etc/passwd']);
});

test('calls with locks: one whose policy looked at facts waits for those before it', async () => {
  const order: string[] = [];
  const locked = (name: string): Tool =>
    defineTool({
      name,
      description: 'Acts.',
      effects: 'external',
      locks: () => [name],
      async execute() {
        order.push(`${name} begins`);
        await new Promise((resolve) => setTimeout(resolve, 5));
        order.push(`${name} ends`);
        return null;
      },
    }) as Tool;
  const both = async (looks: boolean): Promise<readonly string[]> => {
    order.length = 0;
    const check: Policy['check'] = (prepared) => (looks && prepared.facts === undefined ? ask('?') : allow);
    const model = playing([call('one', {}), call('two', {}), stop], [stop]);
    const policies = [definePolicy({ name: 'p', check })];
    await runAgent({
      model,
      instructions: '',
      tools: [locked('one'), locked('two')],
      policies,
      facts: source(),
      input: '',
    });
    return [...order];
  };
  expect(await both(false)).toEqual(['one begins', 'two begins', 'one ends', 'two ends']);
  expect(await both(true)).toEqual(['one begins', 'one ends', 'two begins', 'two ends']);
});
