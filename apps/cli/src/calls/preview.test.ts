import { ask, definePolicy } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { fileTools, memoryFilesystem } from '@holdfast/filesystem';
import { createSession } from '@holdfast/session';
import { manualClock } from '@holdfast/testing';
import { expect, test } from 'vitest';
import { pendingApproval } from '../testing/test-events.ts';
import { type CallPreview, previewCall } from './preview.ts';

const clock = manualClock();
const policies = [definePolicy({ name: 'p', check: () => ask('Sure?') })];

async function fill(files: Readonly<Record<string, string | Uint8Array>>) {
  const filesystem = memoryFilesystem();
  const transaction = filesystem.begin('fill');
  for (const [path, content] of Object.entries(files)) await transaction.view.write(path, content);
  await transaction.prepare();
  await transaction.commit();
  return filesystem;
}

/** The question about a call of a file tool. */
async function askAbout(name: string, input: object) {
  const session = createSession({ clock });
  const outcome = await executeToolCall({ name, arguments: input }, { tools: fileTools(), policies, session, clock });
  if (outcome.kind !== 'suspended') throw new Error(outcome.text);
  const [question] = outcome.pending;
  if (question === undefined) throw new Error('Nothing was asked.');
  return question;
}

const text = Array.from({ length: 20 }, (_, index) => `line ${index + 1}\n`).join('');
const files = {
  'a.txt': text,
  'dos.txt': 'one\r\ntwo\r\n',
  'image.png': new Uint8Array([0x89, 0x50, 0, 0xff]),
  'large.txt': 'x'.repeat(1_000_001),
};

test.each<{ name: string; input: object; preview: CallPreview }>([
  {
    name: 'write_file',
    input: { path: 'new/b.txt', content: 'héllo\n' },
    preview: { changes: [{ path: 'new/b.txt', change: 'created', bytesAfter: 7 }] },
  },
  {
    name: 'write_file',
    input: { path: './a.txt', content: text.replace('line 9\n', '') },
    preview: {
      changes: [
        {
          path: 'a.txt',
          change: 'changed',
          bytesBefore: 151,
          bytesAfter: 144,
          diff: '@@ -6,7 +6,6 @@\n line 6\n line 7\n line 8\n-line 9\n line 10\n line 11\n line 12\n',
        },
      ],
    },
  },
  { name: 'write_file', input: { path: 'a.txt', content: text }, preview: { changes: [] } },
  {
    name: 'write_file',
    input: { path: 'dos.txt', content: 'one\ntwo\r\n' },
    preview: {
      changes: [
        {
          path: 'dos.txt',
          change: 'changed',
          bytesBefore: 10,
          bytesAfter: 9,
          diff: '@@ -1,2 +1,2 @@\n-one\r\n+one\n two\r\n',
        },
      ],
    },
  },
  {
    name: 'write_file',
    input: { path: 'image.png', content: 'text' },
    preview: { changes: [{ path: 'image.png', change: 'changed', bytesBefore: 4, bytesAfter: 4 }] },
  },
  {
    name: 'write_file',
    input: { path: 'large.txt', content: 'short' },
    preview: { changes: [{ path: 'large.txt', change: 'changed', bytesBefore: 1_000_001, bytesAfter: 5 }] },
  },
  {
    name: 'edit_file',
    input: { path: 'dos.txt', oldText: 'two', newText: 'three' },
    preview: {
      changes: [
        {
          path: 'dos.txt',
          change: 'changed',
          bytesBefore: 10,
          bytesAfter: 12,
          diff: '@@ -1,2 +1,2 @@\n one\r\n-two\r\n+three\r\n',
        },
      ],
    },
  },
  {
    name: 'edit_file',
    input: { path: 'a.txt', oldText: 'gone', newText: 'x' },
    preview: { changesUnknown: expect.stringContaining('`oldText` does not occur in `a.txt`.') },
  },
  {
    name: 'edit_file',
    input: { path: 'image.png', oldText: 'P', newText: 'x' },
    preview: { changesUnknown: expect.stringContaining('`image.png` is not UTF-8 text') },
  },
  {
    name: 'delete_file',
    input: { path: 'a.txt' },
    preview: { changes: [{ path: 'a.txt', change: 'removed', bytesBefore: 151 }] },
  },
  {
    name: 'delete_file',
    input: { path: 'gone.txt' },
    preview: { changesUnknown: expect.stringContaining('`gone.txt`') },
  },
  { name: 'read_file', input: { path: 'a.txt' }, preview: {} },
])('$name $input', async ({ name, input, preview }) => {
  const filesystem = await fill(files);
  expect(await previewCall(await askAbout(name, input), { filesystem, clock })).toEqual(preview);
  const kept: string[] = [];
  for await (const { path } of filesystem.readOnly.walk()) kept.push(path);
  expect(kept).toEqual(Object.keys(files));
  expect(await filesystem.readOnly.readText('a.txt')).toBe(text);
});

test('a different tool with the same name is not previewed', async () => {
  const filesystem = await fill(files);
  const input = { path: 'a.txt', content: 'x' };
  const other = pendingApproval({ name: 'write_file', input });
  expect(await previewCall(other, { filesystem, clock })).toEqual({});
  expect(await previewCall({ ...other, input: { file: 'a.txt' } }, { filesystem, clock })).toEqual({});
});

test('changes are unknown inside a running call', async () => {
  const question = await askAbout('write_file', { path: 'b.txt', content: 'x' });
  const preview = await previewCall({ ...question, parentId: 'c0' }, { filesystem: await fill({}), clock });
  expect(preview).toEqual({ changesUnknown: expect.stringContaining('The enclosing call is still running') });
});
