import { expect, test } from 'vitest';
import { memoryFilesystem } from '../memory/memory.ts';
import { callTool } from './fixtures.ts';

test('write_file creates, then replaces', async () => {
  const resource = memoryFilesystem();
  const created = await callTool(resource, 'write_file', { path: '/docs/./a.md', content: 'h\u00e9\n' });
  expect(created.result).toMatchObject({
    message: 'Created `docs/a.md`: 1 line, 4 bytes.',
    value: { path: 'docs/a.md', bytes: 4, lines: 1, created: true },
  });
  const replaced = await callTool(resource, 'write_file', { path: 'docs/a.md', content: '' });
  expect(replaced.result.message).toBe('Replaced `docs/a.md`: 0 lines, 0 bytes.');
  expect(await resource.readOnly.readText('docs/a.md')).toBe('');
});

test('delete_file removes a file, and a folder only when it is empty', async () => {
  const resource = memoryFilesystem({ 'a/b.txt': '' });
  expect((await callTool(resource, 'delete_file', { path: 'a' })).result).toMatchObject({
    code: 'file.invalid',
    reason: 'not_empty',
  });
  expect((await callTool(resource, 'delete_file', { path: './a/b.txt' })).result.message).toBe('Deleted `a/b.txt`.');
  expect((await callTool(resource, 'delete_file', { path: 'a' })).result.success).toBe(true);
  expect(await resource.readOnly.list('')).toEqual([]);
});

test.each([
  { tool: 'write_file', input: { path: '.holdfast/x', content: '' }, code: 'path.invalid', reason: 'protected' },
  { tool: 'write_file', input: { path: 'a/b.txt/c', content: '' }, code: 'file.invalid', reason: 'not_directory' },
  { tool: 'write_file', input: { path: 'b', content: '\ud800' }, code: 'file.invalid', reason: 'content' },
  { tool: 'delete_file', input: { path: 'none' }, code: 'file.missing' },
  { tool: 'delete_file', input: { path: '.' }, code: 'path.invalid', reason: 'protected' },
])('$tool answers $code', async ({ tool, input, code, reason }) => {
  const { result } = await callTool(memoryFilesystem({ 'a/b.txt': '' }), tool, input);
  expect(result).toMatchObject({ success: false, code, reason });
});
