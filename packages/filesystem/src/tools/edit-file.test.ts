import { expect, test } from 'vitest';
import { memoryFilesystem } from '../memory.ts';
import { callTool } from './fixtures.ts';

const source = 'import a from "a";\n\nfunction total(items) {\n  return items.length;\n}\nexport { total };\n';

test.each([
  { input: { oldText: 'items.length', newText: '0' }, after: source.replace('items.length', '0'), line: 4 },
  { input: { oldText: 'import a from "a";\n\n', newText: '' }, after: source.slice(20), line: 1 },
  { input: { oldText: 'total', newText: 'sum', replaceAll: true }, after: source.replaceAll('total', 'sum'), line: 3 },
  { input: { oldText: '"a"', newText: "$&$1$'" }, after: source.replace('"a"', () => "$&$1$'"), line: 1 },
])('replaces $input.oldText', async ({ input, after, line }) => {
  const resource = memoryFilesystem({ 'a.js': source });
  const { result, rendered } = await callTool(resource, 'edit_file', { path: 'a.js', replaceAll: false, ...input });
  expect(result).toMatchObject({ success: true, value: { path: 'a.js', firstLine: line } });
  expect(rendered).toBe('');
  expect(await resource.readOnly.readText('a.js')).toBe(after);
});

test.each([
  {
    code: 'edit.not_found',
    input: { oldText: '\treturn item.length', newText: '' },
    text: 'The most similar line is 4: `return items.length;`',
  },
  { code: 'edit.not_found', input: { oldText: 'zzzzzzzz', newText: '' }, text: 'does not occur' },
  {
    code: 'edit.ambiguous',
    input: { oldText: 'total', newText: 'sum' },
    text: 'occurs 2 times in `a.js`, on lines 3, 6',
  },
  { code: 'edit.no_change', input: { oldText: 'total', newText: 'total' }, text: 'the same' },
  { code: 'file.missing', input: { path: 'b.js', oldText: 'a', newText: 'b' }, text: '`b.js`' },
  { code: 'file.binary', input: { path: 'x.bin', oldText: 'a', newText: 'b' }, text: '3 bytes' },
  { code: 'path.protected', input: { path: 'holdfast.lock', oldText: 'a', newText: 'b' }, text: '`holdfast.lock`' },
])('$code: $input', async ({ code, input, text }) => {
  const resource = memoryFilesystem({ 'a.js': source, 'x.bin': new Uint8Array([0, 1, 2]), 'holdfast.lock': 'a' });
  const { result } = await callTool(resource, 'edit_file', { path: 'a.js', ...input });
  expect(result).toMatchObject({ success: false, code });
  expect(result.message).toContain(text);
  expect(await resource.readOnly.readText('a.js')).toBe(source);
});

test('says when only the line ends differ', async () => {
  const resource = memoryFilesystem({ 'a.txt': 'one\r\ntwo\r\n' });
  const { result } = await callTool(resource, 'edit_file', { path: 'a.txt', oldText: 'one\ntwo', newText: '' });
  expect(result.message).toContain('end with \\r\\n');
});

test('a great many matches make a short message', async () => {
  const resource = memoryFilesystem({ 'a.txt': 'x\n'.repeat(1_000_000) });
  const { result } = await callTool(resource, 'edit_file', { path: 'a.txt', oldText: 'x', newText: 'y' });
  expect(result.message).toContain('occurs 1000000 times in `a.txt`, on lines 1, 2, 3');
  expect(result.message.length).toBeLessThan(400);
  const all = await callTool(resource, 'edit_file', { path: 'a.txt', oldText: 'x', newText: 'y', replaceAll: true });
  expect(all.result.message).toMatch(/^Replaced 1000000 occurrences in `a\.txt`, line 1, 2, .* 20, …\.$/);
});
