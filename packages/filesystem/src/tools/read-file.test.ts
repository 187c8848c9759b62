import fc from 'fast-check';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { memoryFilesystem } from '../memory/memory.ts';
import { callTool } from './fixtures.ts';

const resource = memoryFilesystem({
  'a.txt': 'one\ntwo\r\nthree',
  'empty.txt': '',
  'picture.png': new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]),
  'long.txt': 'line\n'.repeat(5000),
  'wide.txt': `${'x'.repeat(60_000)}\nend\n`,
});

test.each([
  { input: {}, message: '`a.txt`, 3 lines.', rendered: 'one\ntwo\r\nthree' },
  { input: { startLine: 2 }, message: '`a.txt`, lines 2 to 3 of 3.', rendered: 'two\r\nthree' },
  { input: { endLine: 1 }, message: '`a.txt`, line 1 of 3.', rendered: 'one\n' },
  { input: { startLine: 2, endLine: 99 }, message: '`a.txt`, lines 2 to 3 of 3.', rendered: 'two\r\nthree' },
  { input: { lineNumbers: true }, message: '`a.txt`, 3 lines.', rendered: '1\tone\n2\ttwo\r\n3\tthree' },
])('reads $input of a file', async ({ input, message, rendered }) => {
  const outcome = await callTool(resource, 'read_file', { path: './a.txt', ...input });
  expect(outcome).toMatchObject({ result: { success: true, message }, rendered });
});

test('an empty file is empty', async () => {
  const { result, rendered } = await callTool(resource, 'read_file', { path: 'empty.txt' });
  expect(result).toMatchObject({ message: '`empty.txt` is empty.', value: { totalLines: 0, text: '' } });
  expect(rendered).toBe('');
});

test('a long file is returned in parts, with a note on how to read the rest', async () => {
  const first = await callTool(resource, 'read_file', { path: 'long.txt' });
  expect(first.rendered).toMatch(/\n… 3000 more lines; continue with startLine=2001\.$/);
  const last = await callTool(resource, 'read_file', { path: 'long.txt', startLine: 4001 });
  expect(last.rendered).toBe('line\n'.repeat(1000));
});

test('a line that is too long is cut, and the rest can be read', async () => {
  const { rendered } = await callTool(resource, 'read_file', { path: 'wide.txt' });
  expect(rendered.length).toBeLessThan(51_000);
  expect(rendered).toMatch(
    /x\n… Line 1 is cut after 50000 of 60001 characters; continue with startLine=1 and startColumn=50001\. 1 more line; continue with startLine=2\.$/,
  );
});

test.each([
  { code: 'file.invalid', reason: 'binary', input: { path: 'picture.png' }, text: '7 bytes' },
  { code: 'file.missing', input: { path: 'none.txt' }, text: '`none.txt`' },
  { code: 'path.invalid', reason: 'escape', input: { path: '../a.txt' }, text: '`../a.txt`' },
  { code: 'file.invalid', reason: 'range_empty', input: { path: 'a.txt', startLine: 4 }, text: 'it has only 3 lines.' },
  { code: 'file.invalid', reason: 'range_empty', input: { path: 'empty.txt', startLine: 2 }, text: 'it is empty.' },
  {
    code: 'file.invalid',
    reason: 'range_empty',
    input: { path: 'a.txt', startColumn: 5 },
    text: 'line 1 has only 4 characters.',
  },
  { code: 'file.missing', input: { path: 'none.txt' }, text: 'does not exist. Find existing files with `list_files`' },
  {
    code: 'file.invalid',
    reason: 'is_directory',
    input: { path: '.' },
    text: 'is a folder, not a file. List its content with',
  },
  {
    code: 'file.invalid',
    reason: 'range_empty',
    input: { path: 'a.txt', startLine: 3, endLine: 2 },
    text: '`endLine` 2 is before `startLine` 3',
  },
])('$code: $input', async ({ code, reason, input, text }) => {
  const { result } = await callTool(resource, 'read_file', input);
  expect(result).toMatchObject({ success: false, code, reason });
  expect(result.message).toContain(text);
});

test('a range may begin within a line', async () => {
  const { rendered } = await callTool(resource, 'read_file', { path: 'a.txt', startColumn: 3, endLine: 2 });
  expect(rendered).toBe('e\ntwo\r\n');
});

test('following the notes reads the whole file', async () => {
  const text = `${'a\u{1f600}'.repeat(50_000)}\nshort\n${'line\n'.repeat(2500)}${'x'.repeat(49_999)}\n${'y'.repeat(50_000)}\nend`;
  const files = memoryFilesystem({ f: text });
  let joined = '';
  let next: object | undefined = {};
  for (let parts = 0; next !== undefined; parts += 1) {
    expect(parts).toBeLessThan(20);
    const { rendered, result } = await callTool(files, 'read_file', { path: 'f', ...next });
    const note = /\n?… (?:Line .*? startLine=(\d+) and startColumn=(\d+)\.|.*startLine=(\d+)\.).*$/u.exec(rendered);
    joined += v.parse(v.looseObject({ text: v.string() }), result.value).text;
    const [line, column] = [note?.[1] ?? note?.[3], note?.[2] ?? 1];
    next = line === undefined ? undefined : { startLine: Number(line), startColumn: Number(column) };
  }
  expect(joined).toBe(text);
});

test.each([
  { path: '' },
  { path: 'a.txt', startLine: 0 },
  { path: 'a.txt', endLine: 1.5 },
  { path: 'a.txt', startColumn: 0 },
])('refuses %j', async (input) => {
  await expect(callTool(resource, 'read_file', input)).rejects.toThrow('Invalid');
});

test('the parts of a file, read one after the other, are the file', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('a', '\n', '\r\n', 'é', '\n\n')).map((parts) => parts.join('')),
      fc.integer({ min: 1, max: 3 }),
      async (text, size) => {
        const files = memoryFilesystem({ f: text });
        let joined = '';
        for (let startLine = 1; ; startLine += size) {
          const { result, rendered } = await callTool(files, 'read_file', {
            path: 'f',
            startLine,
            endLine: startLine + size - 1,
          });
          if (!result.success) break;
          joined += rendered;
          if (rendered === '') break;
        }
        expect(joined).toBe(text);
      },
    ),
  ));
