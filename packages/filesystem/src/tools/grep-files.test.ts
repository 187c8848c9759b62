import { expect, test } from 'vitest';
import { memoryFilesystem } from '../memory/memory.ts';
import { callTool } from './fixtures.ts';

const resource = memoryFilesystem(
  {
    'src/a.ts': 'const a = 1;\n// TODO: first\r\nconst b = f(a);\n',
    'src/b.ts': '// todo: second\n',
    'notes.md': 'Nothing TODO here.',
    'picture.png': new Uint8Array([0, 1, 2]),
    'other.png': new Uint8Array([0xff, 0xfe]),
    'large.txt': 'TODO'.repeat(100),
  },
  { maxFileBytes: 300 },
);
const skipped = 'Skipped 1 file: too large.\nSkipped 2 files: binary.';

test.each([
  { input: { pattern: 'TODO' }, rendered: `notes.md:1: Nothing TODO here.\nsrc/a.ts:2: // TODO: first\n${skipped}` },
  {
    input: { pattern: 'todo', ignoreCase: true, path: 'src' },
    rendered: 'src/a.ts:2: // TODO: first\nsrc/b.ts:1: // todo: second',
  },
  { input: { pattern: '^const \\w = \\d+;$', glob: '*.ts' }, rendered: 'src/a.ts:1: const a = 1;' },
  { input: { pattern: 'f(a)', literal: true, path: './src/a.ts' }, rendered: 'src/a.ts:3: const b = f(a);' },
  {
    input: { pattern: 'F(A)', literal: true, ignoreCase: true, glob: 'src/*' },
    rendered: 'src/a.ts:3: const b = f(a);',
  },
  { input: { pattern: 'nowhere', path: 'src' }, rendered: '' },
])('finds $input', async ({ input, rendered }) => {
  expect((await callTool(resource, 'grep_files', input)).rendered).toBe(rendered);
});

test('says what it searched and found', async () => {
  const { result } = await callTool(resource, 'grep_files', { pattern: 'TODO' });
  expect(result.message).toBe('2 lines match `TODO` in 3 files.');
  expect((await callTool(resource, 'grep_files', { pattern: 'nowhere', path: 'src' })).result.message).toBe(
    'No line matches `nowhere` in 2 files.',
  );
});

test('a search does not count as reading', async () => {
  expect((await callTool(resource, 'grep_files', { pattern: 'TODO' })).reads).toEqual([]);
  expect((await callTool(resource, 'read_file', { path: 'notes.md' })).reads).toEqual(['notes.md']);
});

test('shows a bounded number of matches of bounded length', async () => {
  const files = memoryFilesystem({ a: `${'x'.repeat(1000)}\n`.repeat(600) });
  const { rendered, result } = await callTool(files, 'grep_files', { pattern: 'x' });
  expect(rendered.length).toBeLessThan(60_000);
  expect(rendered).toMatch(/\n… \d+ more; narrow the search/);
  expect(result.message).toBe('600 lines match `x` in 1 file.');
});

test('searches only the beginning of a long line with an expression that repeats, and says so', async () => {
  const files = memoryFilesystem({ a: `${'x'.repeat(3000)}end\n` });
  const { rendered } = await callTool(files, 'grep_files', { pattern: 'x+end' });
  expect(rendered).toBe(
    'Searched only the first 2000 characters of 1 long line; plain text patterns search whole lines.',
  );
  expect((await callTool(files, 'grep_files', { pattern: 'xend', literal: true })).result.message).toMatch(/^1 line /);
});

test.each([
  { code: 'pattern.invalid', reason: 'syntax', input: { pattern: 'f(' } },
  { code: 'pattern.invalid', reason: 'syntax', input: { pattern: '*' } },
  { code: 'pattern.invalid', reason: 'syntax', input: { pattern: 'a\nb' } },
  { code: 'pattern.invalid', reason: 'syntax', input: { pattern: 'a\nb', literal: true } },
  { code: 'pattern.invalid', reason: 'unsafe', input: { pattern: '(a+)+b' } },
  { code: 'pattern.invalid', reason: 'unsafe', input: { pattern: '(?:a|aa)*b' } },
  { code: 'pattern.invalid', reason: 'unsafe', input: { pattern: '((a?)b){20}' } },
  { code: 'pattern.invalid', reason: 'unsafe', input: { pattern: '(x(a*)){2,}' } },
  { code: 'pattern.invalid', reason: 'unsafe', input: { pattern: '(?<n>a*)*' } },
  { code: 'pattern.invalid', reason: 'unsafe', input: { pattern: '(a)\\1' } },
  { code: 'pattern.invalid', reason: 'unsafe', input: { pattern: '(?<n>a)\\k<n>' } },
  { code: 'pattern.invalid', reason: 'unsafe', input: { pattern: 'a*a*a*a*b' } },
  { code: 'pattern.invalid', reason: 'unsafe', input: { pattern: '(a|a)(a|a)(a|a)(a|a)(a|a)b' } },
  { code: 'pattern.invalid', reason: 'unsafe', input: { pattern: 'a?a?a?a?a?b' } },
  { code: 'pattern.invalid', reason: 'unsafe', input: { pattern: `${'x'.repeat(200)}.` } },
  { code: 'pattern.invalid', reason: 'glob', input: { pattern: 'a', glob: 'a\\b' } },
  { code: 'file.missing', input: { pattern: 'a', path: 'none' } },
  { code: 'path.invalid', reason: 'protected', input: { pattern: 'a', path: '.holdfast' } },
])('$code: $input', async ({ code, reason, input }) => {
  expect((await callTool(resource, 'grep_files', input)).result).toMatchObject({ success: false, code, reason });
});

test.each([
  'TODO|FIXME|HACK|XXX',
  'import .* from .*',
  '(foo)+',
  '(?:ab)*c',
  '[*+?(]+',
  '\\(\\*\\)+',
  '\\d{4}-\\d{2}-\\d{2}',
  'colou?r',
  'a.*?b.*?c',
  '(get|set)[A-Z]\\w+',
])('the ordinary expression %s is allowed', async (pattern) => {
  expect((await callTool(resource, 'grep_files', { pattern })).result.success).toBe(true);
});

test('pattern.invalid: syntax explains the problem', async () => {
  const { result } = await callTool(resource, 'grep_files', { pattern: 'f(' });
  expect(result.message).toBe(
    'Invalid regular expression `f(`: unterminated group. Set `literal` to search for it as plain text.',
  );
});

test('a long line is shown around the match, and searched whole for plain text', async () => {
  const files = memoryFilesystem({ 'min.js': `${'x'.repeat(5000)}needle${'y'.repeat(5000)}` });
  const { result, rendered } = await callTool(files, 'grep_files', { pattern: 'needle' });
  expect(result.message).toBe('1 line matches `needle` in 1 file.');
  expect(rendered).toBe(`min.js:1: …${'x'.repeat(100)}needle${'y'.repeat(194)}…`);
});

test('a byte order mark is not part of a line', async () => {
  const files = memoryFilesystem({ a: '\ufeffone\n' });
  expect((await callTool(files, 'grep_files', { pattern: '^one$' })).rendered).toBe('a:1: one');
});

test('many files are searched in the order of their paths', async () => {
  const files = memoryFilesystem(Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`f${index}`, 'x'])));
  const { rendered } = await callTool(files, 'grep_files', { pattern: 'x' });
  const paths = [...Array(50).keys()].map((index) => `f${index}`).sort();
  expect(rendered).toBe(paths.map((path) => `${path}:1: x`).join('\n'));
});

test('pattern.invalid: timed_out: a search that has no time left gives up', async () => {
  const { result } = await callTool(resource, 'grep_files', { pattern: 'a' }, { remainingMs: 0 });
  expect(result).toMatchObject({ success: false, code: 'pattern.invalid', reason: 'timed_out' });
});

test('stops at its signal', async () => {
  const signal = AbortSignal.abort(new Error('stopped'));
  await expect(callTool(resource, 'grep_files', { pattern: 'a' }, { signal })).rejects.toThrow('stopped');
});
