import { expect, test } from 'vitest';
import { memoryFilesystem } from '../memory/memory.ts';
import { callTool } from './fixtures.ts';

const resource = memoryFilesystem({
  'README.md': '',
  '.env': '',
  'src/a.ts': '',
  'src/b.test.ts': '',
  'src/deep/c.ts': '',
  'src/(group)/page.tsx': '',
  'node_modules/x/index.ts': '',
});

test('list_files lists one folder', async () => {
  const { result, rendered } = await callTool(resource, 'list_files', { path: 'src/' });
  expect(result.message).toBe('`src` has 4 entries.');
  expect(rendered).toBe('(group)/\na.ts\nb.test.ts\ndeep/');
  expect((await callTool(resource, 'list_files', {})).rendered).toBe('.env\nREADME.md\nnode_modules/\nsrc/');
});

test('list_files says that a folder is empty, missing or a file', async () => {
  expect((await callTool(memoryFilesystem(), 'list_files', {})).result.message).toBe('The folder `/` is empty.');
  expect((await callTool(resource, 'list_files', { path: 'x' })).result.code).toBe('file.missing');
  expect((await callTool(resource, 'list_files', { path: '.env' })).result.reason).toBe('not_directory');
});

test.each(['list_files', 'glob_files'])(
  '%s shows a thousand entries and says how many more there are',
  async (tool) => {
    const files = Object.fromEntries(Array.from({ length: 1003 }, (_, index) => [`f${index}`, '']));
    const { rendered } = await callTool(memoryFilesystem(files), tool, tool === 'glob_files' ? { pattern: '*' } : {});
    expect(rendered.split('\n')).toHaveLength(1001);
    expect(rendered).toMatch(/\n… 3 more; /);
  },
);

test.each([
  { pattern: '*.ts', paths: ['src/a.ts', 'src/b.test.ts', 'src/deep/c.ts'] },
  { pattern: '/*.md', paths: ['README.md'] },
  { pattern: '/*.ts', paths: [] },
  { pattern: 'src/*.ts', paths: ['src/a.ts', 'src/b.test.ts'] },
  { pattern: './src//**/*.ts', paths: ['src/a.ts', 'src/b.test.ts', 'src/deep/c.ts'] },
  { pattern: '**/{a,c}.ts', paths: ['src/a.ts', 'src/deep/c.ts'] },
  { pattern: 'src/[ab]*', paths: ['src/a.ts', 'src/b.test.ts'] },
  { pattern: '.e?v', paths: ['.env'] },
  { pattern: 'src/(group)/*', paths: ['src/(group)/page.tsx'] },
  { pattern: 'src/a.ts', paths: ['src/a.ts'] },
  { pattern: '!README.md', paths: [] },
  { pattern: 'none/**', paths: [] },
  { pattern: 'README.md/**', paths: ['README.md'] },
  { pattern: 'node_modules/**/*.ts', paths: ['node_modules/x/index.ts'] },
])('glob_files $pattern', async ({ pattern, paths }) => {
  const { result, rendered } = await callTool(resource, 'glob_files', { pattern });
  expect(result.value).toMatchObject({ paths, more: 0 });
  expect(rendered).toBe(paths.join('\n'));
});

test.each(['list_files', 'glob_files'])('%s shows no more characters than fit', async (tool) => {
  const files = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`${index}`.padStart(200, 'f'), '']));
  const { rendered } = await callTool(memoryFilesystem(files), tool, tool === 'glob_files' ? { pattern: '*' } : {});
  expect(rendered.length).toBeLessThan(51_000);
  expect(rendered).toMatch(/\n… 6\d\d more; /);
});

test.each(['src', '/src', 'src/'])('glob_files says that %s is a folder', async (pattern) => {
  const { result } = await callTool(resource, 'glob_files', { pattern });
  expect(result.message).toBe(`\`${pattern}\` is a folder; \`src/**\` finds the files in it.`);
});

test('glob_files finds a file whose name looks like a pattern', async () => {
  const files = memoryFilesystem({ 'app/[id]/page.tsx': '', 'app/i/page.tsx': '', 'app/[id].ts': '' });
  const find = async (pattern: string) => (await callTool(files, 'glob_files', { pattern })).rendered.split('\n');
  expect(await find('app/[id]/page.tsx')).toEqual(['app/[id]/page.tsx', 'app/i/page.tsx']);
  expect(await find('[id].ts')).toEqual(['app/[id].ts']);
});

test.each([
  { code: 'pattern.invalid', reason: 'glob', pattern: '[a' },
  { code: 'pattern.invalid', reason: 'glob', pattern: 'a\\*' },
  { code: 'pattern.invalid', reason: 'glob', pattern: '*a*a*a*b' },
  { code: 'pattern.invalid', reason: 'glob', pattern: '**/a/**/a/**/a/**' },
  { code: 'pattern.invalid', reason: 'glob', pattern: '{a,b}{a,b}{a,b}{a,b}' },
  { code: 'pattern.invalid', reason: 'glob', pattern: 'x'.repeat(501) },
  { code: 'path.invalid', reason: 'escape', pattern: '../*' },
  { code: 'path.invalid', reason: 'escape', pattern: '~/*' },
  { code: 'path.invalid', reason: 'protected', pattern: '.holdfast/**' },
])('glob_files answers $code to $pattern', async ({ code, reason, pattern }) => {
  expect((await callTool(resource, 'glob_files', { pattern })).result).toMatchObject({ success: false, code, reason });
});

test('glob_files stops when it is told to', async () => {
  const signal = AbortSignal.abort(new Error('stopped'));
  await expect(callTool(resource, 'glob_files', { pattern: '*' }, { signal })).rejects.toThrow('stopped');
});

test.each(['list_files', 'read_file', 'write_file', 'edit_file', 'delete_file', 'glob_files', 'grep_files'])(
  'filesystem.missing: %s without a filesystem',
  async (name) => {
    const input = { path: 'a', content: '', oldText: 'a', newText: 'b', pattern: 'a' };
    expect((await callTool(undefined, name, input)).result).toMatchObject({ code: 'filesystem.missing' });
  },
);
