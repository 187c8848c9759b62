import { allow, definePolicy, defineTool, type Tool, type ToolContext } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { readBeforeWrite } from '@holdfast/policy';
import { createSession } from '@holdfast/session';
import { expect, test } from 'vitest';
import { kindOf } from './call-fixtures.ts';

type Step = readonly [tool: string, input?: Record<string, unknown>];

/** A tool that makes the calls it is told to, or writes itself, and says how they ended. */
const outer = (work: (context: ToolContext) => Promise<unknown>): Tool =>
  defineTool({
    name: 'outer',
    description: 'Calls others.',
    effects: 'state',
    execute: (_input, context) => work(context) as never,
  });

function setUp(work: (context: ToolContext) => Promise<unknown> = async () => null) {
  const filesystem = memoryFilesystem({ 'a.txt': 'one' });
  const session = createSession();
  const options = {
    tools: [...fileTools(), outer(work)],
    session,
    resources: { filesystem },
    policies: [readBeforeWrite()],
  };
  return {
    filesystem,
    async run(...[name, input = {}]: Step) {
      const outcome = await executeToolCall({ name, arguments: input }, options);
      return outcome.kind === 'suspended' ? 'suspended' : `${outcome.kind} ${kindOf(outcome) ?? ''}`.trim();
    },
    text: async (path: string) =>
      (await filesystem.readOnly.stat(path)) === undefined ? undefined : await filesystem.readOnly.readText(path),
  };
}

const read: Step = ['read_file', { path: 'a.txt' }];
const write: Step = ['write_file', { path: 'a.txt', content: 'two' }];
const remove: Step = ['delete_file', { path: 'a.txt' }];

test.each<{
  readonly title: string;
  readonly before: readonly Step[];
  readonly nested: readonly Step[];
  readonly left: string | undefined;
}>([
  { title: 'read and write nested', before: [], nested: [read, write], left: 'two' },
  { title: 'read before, write nested', before: [read], nested: [write], left: 'two' },
  { title: 'read before, delete nested', before: [read], nested: [remove], left: undefined },
  {
    title: 'read before, write twice nested',
    before: [read],
    nested: [write, ['write_file', { path: 'a.txt', content: 'three' }]],
    left: 'three',
  },
  { title: 'read before, delete and write again nested', before: [read], nested: [remove, write], left: 'two' },
])('read-before-write lets through what nested calls did properly: $title', async ({ before, nested, left }) => {
  const { run, text } = setUp(async ({ call }) => {
    for (const [name, input] of nested) {
      const { kind, text: said } = await call(name, input);
      if (kind !== 'ok') throw new Error(said);
    }
    return null;
  });
  for (const step of before) await run(...step);
  expect(await run('outer')).toBe('ok');
  expect(await text('a.txt')).toBe(left);
  // The files that the nested calls left are known: they may be written without another read.
  expect(await run('write_file', { path: 'a.txt', content: 'after' })).toBe('ok');
});

test('a nested write of an unread file is denied, and what the call around it then writes itself as well', async () => {
  const said: string[] = [];
  const { run, text } = setUp(async ({ call, filesystem }) => {
    said.push((await call(...write)).kind);
    await filesystem?.write('a.txt', 'by the tool itself');
    return null;
  });
  expect(await run('outer')).toBe('failed policy.refused: read_before_write');
  expect(said).toEqual(['denied']);
  expect(await text('a.txt')).toBe('one');
});

test('what the tool writes itself on top of a nested write is its own, and known afterwards', async () => {
  const { run, text } = setUp(async ({ call, filesystem }) => {
    await call(...read);
    await call(...write);
    await filesystem?.write('a.txt', 'three');
    return null;
  });
  expect(await run('outer')).toBe('ok');
  expect(await text('a.txt')).toBe('three');
  expect(await run('write_file', { path: 'a.txt', content: 'four' })).toBe('ok');
});

test('what a child run overwrites unread fails the call around it, whose policies saw none of its calls', async () => {
  const { run, text } = setUp(async (context) => {
    const { kind } = (await executeToolCall(
      { name: 'write_file', arguments: { path: 'a.txt', content: 'by a child' } },
      { tools: fileTools(), session: context.child() },
    )) as { kind: string };
    return kind;
  });
  expect(await run('outer')).toBe('failed policy.refused: read_before_write');
  expect(await text('a.txt')).toBe('one');
  await run(...read);
  expect(await run('outer')).toBe('ok');
  expect(await text('a.txt')).toBe('by a child');
});

test('a policy is told once of what a nested call wrote', async () => {
  const told: (readonly [string, readonly string[]])[] = [];
  const listening = definePolicy({
    name: 'listening',
    check: () => allow,
    onResult: ({ tool }, { touched }) => {
      told.push([tool.name, touched.get('filesystem')?.writes.map(({ key }) => key) ?? []]);
      return undefined;
    },
  });
  const work = outer(async ({ call, filesystem }) => {
    await call('write_file', { path: 'new.txt', content: 'x' });
    await filesystem?.write('own.txt', 'y');
    return null;
  });
  const options = {
    tools: [...fileTools(), work],
    session: createSession(),
    resources: { filesystem: memoryFilesystem({}) },
  };
  await executeToolCall({ name: 'outer', arguments: {} }, { ...options, policies: [listening] });
  expect(told).toEqual([
    ['write_file', ['new.txt']],
    ['outer', ['own.txt']],
  ]);
});

test('a nested call that failed has taught nobody anything', async () => {
  const { run, filesystem } = setUp(async ({ call }) => {
    await call(...read);
    throw new Error('after all');
  });
  expect(await run('outer')).toBe('failed tool.threw');
  expect(await run(...write)).toBe('denied policy.denied');
  expect(await filesystem.readOnly.readText('a.txt')).toBe('one');
});
