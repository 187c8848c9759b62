import { defineTool, type Tool } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { createRunFacts } from './facts.ts';

const inputSchema = jsonSchema({ type: 'object', additionalProperties: true });
const toTool = (name: string): Tool => defineTool({ name, description: 'Acts.', inputSchema });

test.each([
  { name: 'read_file', input: { path: 'a.md' }, facts: { reads: ['/a.md'] } },
  { name: 'read_file', input: { path: '/a.md' }, facts: { reads: ['/a.md'] } },
  { name: 'write_file', input: { path: 'b/c.md', content: '' }, facts: { writes: ['/b/c.md'] } },
  { name: 'edit_file', input: { path: 'a.md' }, facts: { reads: ['/a.md'], writes: ['/a.md'] } },
  { name: 'delete_file', input: { path: 'a.md' }, facts: { deletes: ['/a.md'] } },
  { name: 'grep_files', input: { pattern: 'x' }, facts: { reads: [''] } },
  { name: 'glob_files', input: { pattern: '*' }, facts: {} },
  { name: 'list_files', input: {}, facts: {} },
  { name: 'bash', input: { command: 'cat a.md' }, facts: { reads: ['/a.md'] } },
])('$name with $input', async ({ name, input, facts }) => {
  await using folder = await createFolder({ 'a.md': 'A' });
  const source = createRunFacts(folder.path);
  const made = source.describe({ id: 'c', tool: toTool(name), input }, source.view);
  const found = Object.fromEntries(
    (['reads', 'writes', 'deletes'] as const).map((use) => [use, made[use].map(({ path }) => path)]),
  );
  const expected = { reads: [], writes: [], deletes: [], ...facts };
  const paths = Object.entries(expected).map(([use, list]) => [use, list.map((path) => folder.path + path)]);
  expect(found).toEqual(Object.fromEntries(paths));
  expect(made.unclear).toEqual([]);
  expect([...made.reads, ...made.writes, ...made.deletes].every(({ inside }) => inside)).toBe(true);
});

test('`grep_files` also reads files ignored by Git, limited to the given files', async () => {
  await using folder = await createFolder();
  const source = createRunFacts(folder.path);
  const describe = (input: object) =>
    source.describe({ id: 'c', tool: toTool('grep_files'), input: { pattern: 'x', ...input } }, source.view).reads;
  const recursive = { skips: [], except: ['.git', 'node_modules'] };
  expect(describe({})).toMatchObject([{ recursive }]);
  expect(describe({ glob: '*.ts' })).toMatchObject([{ recursive: { ...recursive, only: ['*.ts'] } }]);
});

test('an unknown tool is unclear, and a foreign file tool uses paths unchanged', async () => {
  await using folder = await createFolder();
  const source = createRunFacts(folder.path);
  const describe = (name: string, input: object) =>
    source.describe({ id: 'c', tool: toTool(name), input: input as never }, source.view);
  expect(describe('push', {}).unclear).toMatchObject([{ kind: 'tool' }]);
  expect(describe('read_text_file', { path: '/etc/passwd' }).reads).toEqual([{ path: '/etc/passwd', inside: false }]);
});
