import { defineTool, type Outcome, type Tool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { readBeforeWrite } from '@holdfast/policy';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';
import { expect, test } from 'vitest';

/** Writes a file that no policy was told about. */
const sneak: Tool = defineTool({
  name: 'sneak',
  description: 'Writes without being listed.',
  effects: 'state',
  inputSchema: v.object({ path: v.string() }),
  async execute({ path }, { filesystem }) {
    await filesystem?.write(path, 'sneaked');
    return null;
  },
});

const read = (path: string) => ({ name: 'read_file', arguments: { path } });
const write = (path: string, content = 'new') => ({ name: 'write_file', arguments: { path, content } });
const edit = (path: string) => ({
  name: 'edit_file',
  arguments: { path, oldText: 'o', newText: '0', replaceAll: true },
});
const remove = (path: string) => ({ name: 'delete_file', arguments: { path } });

type Call = ReturnType<typeof read> | ReturnType<typeof write> | ReturnType<typeof edit>;

async function play(calls: readonly Call[]) {
  const filesystem = memoryFilesystem({ 'config.yaml': 'old', 'notes/todo.md': 'old' });
  const options = {
    tools: [...fileTools(), sneak],
    session: createSession(),
    policies: [readBeforeWrite()],
    resources: { filesystem },
  };
  const outcomes: Outcome[] = [];
  for (const call of calls) {
    const outcome = await executeToolCall(call, options);
    if (outcome.kind !== 'suspended') outcomes.push(outcome);
  }
  return { filesystem, options, kinds: outcomes.map(({ kind }) => kind), outcomes };
}

test.each<{ what: string; calls: readonly Call[]; kinds: readonly string[] }>([
  { what: 'a new file', calls: [write('new.txt')], kinds: ['ok'] },
  { what: 'an unread file', calls: [write('config.yaml')], kinds: ['denied'] },
  {
    what: 'read, write, edit',
    calls: [read('config.yaml'), write('config.yaml', 'foo'), edit('config.yaml')],
    kinds: ['ok', 'ok', 'ok'],
  },
  {
    what: 'read and written under other spellings',
    calls: [read('config.yaml'), write('/config.yaml'), edit('./notes/../config.yaml')],
    kinds: ['ok', 'ok', 'failed'],
  },
  {
    what: 'unread under another spelling',
    calls: [write('./config.yaml'), write('/config.yaml')],
    kinds: ['denied', 'denied'],
  },
  {
    what: 'another folder of the same name',
    calls: [read('config.yaml'), write('notes/todo.md')],
    kinds: ['ok', 'denied'],
  },
  {
    what: 'own writes are known',
    calls: [write('new.txt'), write('new.txt', 'again'), remove('new.txt'), write('new.txt')],
    kinds: ['ok', 'ok', 'ok', 'ok'],
  },
  { what: 'deleting an unread file', calls: [remove('config.yaml')], kinds: ['denied'] },
  { what: 'a failed read teaches nothing', calls: [read('none.txt'), write('none.txt')], kinds: ['failed', 'ok'] },
  {
    what: 'a tool that no policy mentions',
    calls: [{ name: 'sneak', arguments: { path: 'config.yaml' } }],
    kinds: ['failed'],
  },
  {
    what: 'the same after reading',
    calls: [read('config.yaml'), { name: 'sneak', arguments: { path: 'config.yaml' } }],
    kinds: ['ok', 'ok'],
  },
])('$what: $kinds', async ({ calls, kinds }) => {
  expect((await play(calls)).kinds).toEqual(kinds);
});

test('a file that was changed since it was read must be read again', async () => {
  const { filesystem, options } = await play([read('config.yaml')]);
  const other = { ...options, session: createSession() };
  expect(await executeToolCall(read('config.yaml'), other)).toMatchObject({ kind: 'ok' });
  expect(await executeToolCall(write('config.yaml', 'theirs'), other)).toMatchObject({ kind: 'ok' });
  expect(await executeToolCall(write('config.yaml', 'mine'), options)).toMatchObject({ kind: 'denied' });
  expect(await filesystem.readOnly.readText('config.yaml')).toBe('theirs');
  expect(await executeToolCall(read('config.yaml'), options)).toMatchObject({ kind: 'ok' });
  expect(await executeToolCall(write('config.yaml', 'mine'), options)).toMatchObject({ kind: 'ok' });
});

test('what was denied or failed has left no file behind', async () => {
  const { filesystem } = await play([
    write('config.yaml'),
    { name: 'sneak', arguments: { path: 'notes/todo.md' } },
    edit('config.yaml'),
  ]);
  expect(await filesystem.readOnly.readText('config.yaml')).toBe('old');
  expect(await filesystem.readOnly.readText('notes/todo.md')).toBe('old');
});

test('a dangerous tool that was let through may remove what nobody read', async () => {
  const sweep = defineTool({
    name: 'sweep',
    description: 'Removes a file.',
    effects: 'state',
    dangerous: true,
    async execute(_input, { filesystem }) {
      await filesystem?.remove('config.yaml');
      return null;
    },
  });
  const { options } = await play([]);
  const outcome = await executeToolCall(
    { name: 'sweep', arguments: '' },
    { ...options, tools: [...options.tools, sweep], grants: ['sweep'] },
  );
  expect(outcome).toMatchObject({ kind: 'ok' });
  expect(await executeToolCall(write('config.yaml'), options)).toMatchObject({ kind: 'ok' });
});

test('without a filesystem nothing is written', async () => {
  const options = { tools: fileTools(), session: createSession(), policies: [readBeforeWrite()] };
  expect(await executeToolCall(write('a.txt'), options)).toMatchObject({ kind: 'denied' });
});
