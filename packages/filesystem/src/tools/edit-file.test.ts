import { expect, test } from 'vitest';
import { memoryFilesystem } from '../memory/memory.ts';
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
    code: 'edit.invalid',
    reason: 'not_found',
    input: { oldText: '\treturn item.length', newText: '' },
    text: 'The most similar line is 4: `return items.length;`',
  },
  {
    code: 'edit.invalid',
    reason: 'not_found',
    input: { oldText: 'zzzzzzzz', newText: '' },
    text: 'does not occur in `a.js`. Give the text',
  },
  {
    code: 'edit.invalid',
    reason: 'ambiguous',
    input: { oldText: 'total', newText: 'sum' },
    text: 'occurs 2 times in `a.js`, on lines 3, 6',
  },
  { code: 'edit.invalid', reason: 'no_change', input: { oldText: 'total', newText: 'total' }, text: 'the same' },
  { code: 'file.missing', input: { path: 'b.js', oldText: 'a', newText: 'b' }, text: '`b.js`' },
  { code: 'file.invalid', reason: 'binary', input: { path: 'x.bin', oldText: 'a', newText: 'b' }, text: '3 bytes' },
  {
    code: 'path.invalid',
    reason: 'protected',
    input: { path: 'holdfast.lock', oldText: 'a', newText: 'b' },
    text: '`holdfast.lock`',
  },
])('$code: $input', async ({ code, reason, input, text }) => {
  const resource = memoryFilesystem({ 'a.js': source, 'x.bin': new Uint8Array([0, 1, 2]), 'holdfast.lock': 'a' });
  const { result } = await callTool(resource, 'edit_file', { path: 'a.js', ...input });
  expect(result).toMatchObject({ success: false, code, reason });
  expect(result.message).toContain(text);
  expect(await resource.readOnly.readText('a.js')).toBe(source);
});

test.each([
  { oldText: 'one\ntwo', newText: '1\n2', after: '1\r\n2\r\nthree\r\n' },
  { oldText: 'one\r\ntwo', newText: '1\r\n2', after: '1\r\n2\r\nthree\r\n' },
  { oldText: 'three', newText: '3\n4', after: 'one\r\ntwo\r\n3\r\n4\r\n' },
])('if every line ends with \\r\\n, edits use it too: $oldText', async ({ oldText, newText, after }) => {
  const resource = memoryFilesystem({ 'a.txt': 'one\r\ntwo\r\nthree\r\n' });
  expect((await callTool(resource, 'edit_file', { path: 'a.txt', oldText, newText })).result.success).toBe(true);
  expect(await resource.readOnly.readText('a.txt')).toBe(after);
});

test('a byte order mark and a missing line end stay', async () => {
  const resource = memoryFilesystem({ 'a.txt': '\ufeffone\ntwo' });
  await callTool(resource, 'edit_file', { path: 'a.txt', oldText: 'one', newText: '1' });
  expect(await resource.readOnly.readText('a.txt')).toBe('\ufeff1\ntwo');
});

const code = 'function a() {\n\tif (x) {\n\t\treturn 1;\n\t}\n}\nfunction b() {\n\tif (y) {\n\t\treturn 2;\n\t}\n}\n';

test.each([
  {
    what: 'white space',
    oldText: 'function a() {\n  if (x) {\n    return 1;',
    text: 'It differs only in white space from lines 1 to 3, which is, as JSON: "function a() {\\n\\tif (x) {\\n\\t\\treturn 1;".',
  },
  { what: 'white space in a line', oldText: 'if(y)  {', text: 'The most similar line is 7: `if (y) {`.' },
  {
    what: 'a hard space',
    oldText: 'if\u00a0(y)',
    text: 'only in white space from line 7, which is, as JSON: "\\tif (y) {".',
  },
  { what: 'line numbers', oldText: '1\tfunction a() {\n2\t\tif (x) {', text: 'begins with line numbers' },
  {
    what: 'a later line',
    oldText: 'function b() {\n\tif (y) {\n\t\treturn 3;\n\t}',
    text: 'Its first 2 lines are lines 6 to 7, but then line 8 is `\t\treturn 2;`, not `\t\treturn 3;`.',
  },
  {
    what: 'the end of the file',
    oldText: '}\n\nmore',
    text: 'Its first 2 lines are lines 10 to 11, but then the file ends',
  },
])('edit.invalid: not_found says what differs: $what', async ({ oldText, text }) => {
  const { result } = await callTool(memoryFilesystem({ 'a.js': code }), 'edit_file', {
    path: 'a.js',
    oldText,
    newText: '',
  });
  expect(result).toMatchObject({ success: false, code: 'edit.invalid', reason: 'not_found', value: null });
  expect(result.message).toContain(text);
});

test('empty lines alone do not count as similar', async () => {
  const resource = memoryFilesystem({ 'a.txt': 'one\n\n\ntwo\n' });
  const { result } = await callTool(resource, 'edit_file', { path: 'a.txt', oldText: '\n\nzzz', newText: '' });
  expect(result.message).toBe('`oldText` does not occur in `a.txt`. Give the text exactly as it is in the file.');
});

test('edit.invalid: not_found is short and fast for a large file', async () => {
  const resource = memoryFilesystem({ 'a.txt': `${'x '.repeat(4000)}\n`.repeat(300) });
  const oldText = `${'x  '.repeat(4000)}\n`.repeat(200);
  const { result } = await callTool(resource, 'edit_file', { path: 'a.txt', oldText, newText: '' });
  expect(result).toMatchObject({ code: 'edit.invalid', reason: 'not_found' });
  expect(result.message.length).toBeLessThan(2500);
  const lines = `${'x '.repeat(100)}\n`.repeat(3000);
  const longer = await callTool(resource, 'edit_file', { path: 'a.txt', oldText: lines, newText: '' });
  expect(longer.result.message).toContain('The most similar line is 1: `x x ');
});

test('says when a file mixes line ends', async () => {
  const resource = memoryFilesystem({ 'a.txt': 'one\r\ntwo\n' });
  const { result } = await callTool(resource, 'edit_file', { path: 'a.txt', oldText: 'one\ntwo', newText: '' });
  expect(result.message).toContain('Some lines of the file end with \\r\\n');
});

test('a line with several matches is listed once', async () => {
  const resource = memoryFilesystem({ 'a.txt': 'one\nxxx' });
  const { result } = await callTool(resource, 'edit_file', { path: 'a.txt', oldText: 'x', newText: 'y' });
  expect(result.message).toContain('occurs 3 times in `a.txt`, on line 2.');
});

test('a great many matches make a short message', async () => {
  const resource = memoryFilesystem({ 'a.txt': 'x\n'.repeat(1_000_000) });
  const { result } = await callTool(resource, 'edit_file', { path: 'a.txt', oldText: 'x', newText: 'y' });
  expect(result.message).toContain('occurs 1000000 times in `a.txt`, on lines 1, 2, 3');
  expect(result.message.length).toBeLessThan(400);
  const all = await callTool(resource, 'edit_file', { path: 'a.txt', oldText: 'x', newText: 'y', replaceAll: true });
  expect(all.result.message).toMatch(/^Replaced 1000000 occurrences in `a\.txt`, on lines 1, 2, .* 20, …\.$/);
});
