import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Filesystem, Tool, ToolContext } from '@holdfast/core';
import { memoryFilesystem } from '@holdfast/filesystem';
import { loadTools } from '@holdfast/loader';
import { compileSchema } from '@holdfast/schema';
import { expect, test } from 'vitest';

const examples = fileURLToPath(new URL('../../examples/', import.meta.url));
const loaded = await loadTools(join(examples, 'plugins'), { strict: true, isolation: 'in-process' });
const forPlans = await loadTools(join(examples, 'plan-tools'), { strict: true, isolation: 'in-process' });

function open(files: Readonly<Record<string, string | Uint8Array>>): Filesystem {
  return memoryFilesystem(files).begin('call-1').view;
}

async function call(name: string, input: unknown, filesystem: Filesystem, { tools } = loaded): Promise<unknown> {
  const tool = tools.find((one: Tool) => one.name === name);
  if (tool?.inputSchema === undefined) throw new Error(`There is no \`${name}\`.`);
  const checked = compileSchema(tool.inputSchema).validate(input);
  if (!checked.ok) throw new Error(JSON.stringify(checked.issues));
  const context = { callId: 'call-1', filesystem, signal: new AbortController().signal, begin: async () => undefined };
  // Nothing else of it is used.
  const result = await tool.execute?.(checked.value, context as unknown as ToolContext);
  expect(JSON.parse(JSON.stringify(result))).toEqual(result);
  return result;
}

function sampleProject(): Record<string, string> {
  const folder = join(examples, 'sample-project');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1), readFileSync(path, 'utf8')];
    }),
  );
}

test('all six load without a warning, even under strict', () => {
  expect(loaded.diagnostics).toEqual([]);
  expect(loaded.tools.map(({ name, dangerous, effects }: Tool) => ({ name, dangerous, effects }))).toEqual([
    { name: 'count_words', dangerous: false, effects: 'none' },
    { name: 'delete_files', dangerous: true, effects: 'state' },
    { name: 'list_todos', dangerous: false, effects: 'none' },
    { name: 'query_json', dangerous: false, effects: 'none' },
    { name: 'search_text', dangerous: false, effects: 'none' },
    { name: 'summarize_csv', dangerous: false, effects: 'none' },
  ]);
});

test('search_text finds lines, says what it skipped, and stops at the limit', async () => {
  const files = open({ 'a.txt': 'one\r\nTwo x\nthree two', 'b/c.md': 'two', 'd.png': new Uint8Array([0xff, 0xd8]) });
  expect(await call('search_text', { text: 'two' }, files)).toMatchObject({
    matches: [
      { file: 'a.txt', line: 2, text: 'Two x' },
      { file: 'a.txt', line: 3, text: 'three two' },
      { file: 'b/c.md', line: 1, text: 'two' },
    ],
    total: 3,
    files_searched: 2,
    files_skipped: 1,
    skipped: [{ file: 'd.png' }],
  });
  expect(await call('search_text', { text: 'two', match_case: true, ending: '.txt' }, files)).toMatchObject({
    total: 1,
  });
  expect(await call('search_text', { text: 'two', limit: 1, folder: 'b' }, files)).toMatchObject({
    total: 1,
    files_searched: 1,
  });
  expect(await call('search_text', { text: 't', limit: 1 }, files)).toMatchObject({ matches: [{ line: 2 }], total: 3 });
});

test('list_todos lists the comments of the sample project and none of its texts', async () => {
  const result = await call('list_todos', {}, open(sampleProject()));
  expect(result).toMatchObject({ total: 10, by_tag: { TODO: 6, FIXME: 2, HACK: 1, XXX: 1 }, files_looked_at: 8 });
  expect(result).toMatchObject({
    todos: expect.arrayContaining([
      { file: 'src/price.ts', line: 6, tag: 'TODO', owner: 'mara', text: 'read the tax rate from config/shop.json' },
      { file: 'src/stock.ts', line: 17, tag: 'FIXME', text: 'two orders at the same moment can' },
      { file: 'scripts/import_orders.py', line: 14, tag: 'XXX', text: 'order numbers start again every January' },
      { file: 'src/style.css', line: 1, tag: 'TODO', text: 'print styles for the report' },
    ]),
  });
  expect(await call('list_todos', { tags: ['FIXME'], folder: 'src', limit: 1 }, open(sampleProject()))).toMatchObject({
    todos: [{ tag: 'FIXME' }],
    total: 2,
  });
});

test.each([
  ['a.ts', 'const a = "// TODO no";\nconst b = `\n// TODO no\n`; // TODO yes', 4],
  ['a.ts', "const quote = '\\''; // TODO yes", 1],
  ['a.py', '"""\nTODO no\n"""\nx = 1  # TODO yes', 4],
  ['a.html', '<p>TODO no</p>\n<!-- a\nTODO yes -->', 3],
  ['a.sql', "select '-- TODO no'; -- TODO yes", 1],
  ['a.css', 'a { b: url(//TODO-no) }\n/* TODO: yes */', 2],
  ['a.js', '/**\n * TODO yes\n */\n// METODO, TODOS and TODO-list are other words', 2],
])('list_todos in %s knows %j', async (file, content, line) => {
  expect(await call('list_todos', {}, open({ [file]: content }))).toMatchObject({ todos: [{ line }], total: 1 });
});

test('list_todos says which files it passed over', async () => {
  const files = open({ 'a.txt': 'TODO', 'b.js': new Uint8Array([0xff, 0xfe]), 'c.js': '' });
  expect(await call('list_todos', {}, files)).toMatchObject({ total: 0, files_looked_at: 1, files_passed_over: 2 });
});

test('count_words counts one file, or all with an ending', async () => {
  const files = open({
    'a.md': "Don't stop.\nGrüße 👩‍👩‍👧 2\n",
    'b.md': '',
    'c.txt': 'x',
    'd.md': new Uint8Array([0xff]),
  });
  expect(await call('count_words', { file: 'a.md' }, files)).toEqual({
    file: 'a.md',
    words: 4,
    lines: 2,
    characters: 22,
  });
  expect(await call('count_words', { ending: '*.md' }, files)).toMatchObject({
    files_counted: 2,
    files_skipped: 1,
    words: 4,
    lines: 2,
  });
  await expect(call('count_words', { file: 'none.md' }, files)).rejects.toMatchObject({ code: 'file.missing' });
});

test.each([
  { text: "Don't stop: `local-models.md`, node_modules and 3.5 of README.md\n" },
  { text: readFileSync(join(examples, '..', 'README.md'), 'utf8') },
])('what it counts as a word is what the tool of plans counts as one', async ({ text }) => {
  const files = open({ 'a.md': text });
  const { words } = Object(await call('count_words', { text }, files, forPlans));
  expect(await call('count_words', { file: 'a.md' }, files)).toMatchObject({ words });
});

test('summarize_csv describes the orders of the sample project', async () => {
  expect(await call('summarize_csv', { file: 'data/orders.csv' }, open(sampleProject()))).toMatchObject({
    rows: 16,
    columns: 7,
    separator: ',',
    summary: [
      { name: 'order_id', type: 'integer', min: 1001, max: 1016, missing: 0, different: 16 },
      { name: 'date', type: 'date', first: '2025-05-02', last: '2025-05-26' },
      { name: 'customer', type: 'text', most_frequent: [{ value: 'Ada Berg', count: 3 }, {}, {}, {}, {}] },
      { name: 'product', type: 'text', different: 5 },
      { name: 'quantity', type: 'integer', min: 1, max: 24, sum: 71, mean: 4.4375 },
      { name: 'unit_price', type: 'number', min: 7.25, max: 49.9, missing: 1 },
      {
        name: 'status',
        type: 'text',
        missing: 1,
        most_frequent: [{ value: 'shipped', count: 10 }, { value: 'open', count: 4 }, {}],
      },
    ],
  });
});

test('summarize_csv: other separators, one column, uneven rows, and what it refuses', async () => {
  const files = open({ 'a.csv': '\ufeffa;b;c\n1;true;x\n2.5;no\n', 'empty.csv': '' });
  const all = await call('summarize_csv', { file: 'a.csv', separator: ';' }, files);
  expect(all).toMatchObject({
    rows: 2,
    rows_of_another_length: 1,
    summary: [{ type: 'number', mean: 1.75 }, { type: 'boolean', true: 1 }, { missing: 1 }],
  });
  expect(await call('summarize_csv', { file: 'a.csv', column: 'b' }, files)).toMatchObject({
    summary: [{ name: 'b' }],
  });
  await expect(call('summarize_csv', { file: 'a.csv', column: 'z' }, files)).rejects.toThrow('Its columns: a, b, c.');
  await expect(call('summarize_csv', { file: 'empty.csv' }, files)).rejects.toThrow('has no rows');
});

test.each([
  ['', 'an object', expect.objectContaining({ name: 'Corner Shop' })],
  ['server.ports[0]', 'a number', 8080],
  ['$.server.ports[-1]', 'a number', 8443],
  ['opening_hours[1]["day"]', 'a text', 'Saturday'],
  ['server.tls', 'true or false', false],
])('query_json finds %j', async (query, type, value) => {
  expect(await call('query_json', { file: 'config/shop.json', query }, open(sampleProject()))).toMatchObject({
    query,
    type,
    value,
  });
});

test.each([
  ['server.port', '`server` has no `port`: it has the keys host, ports, tls.'],
  ['server.ports[2]', '`server.ports` has no `2`: it has the indexes 0 to 1.'],
  ['name.first', '`name` is a text, so it has no `first`.'],
  ['constructor', 'has no `constructor`'],
  ['server.ports.length', 'has no `length`'],
  ['a..b', 'is invalid at character 2'],
])('query_json refuses %j and says what there is', async (query, message) => {
  await expect(call('query_json', { file: 'config/shop.json', query }, open(sampleProject()))).rejects.toThrow(message);
});

test('query_json refuses text that is not JSON, and files that are too large', async () => {
  const files = open({ 'a.json': '{', 'big.json': JSON.stringify({ list: Array(20_000).fill(1) }) });
  await expect(call('query_json', { file: 'a.json' }, files)).rejects.toThrow('`a.json` is not JSON');
  await expect(call('query_json', { file: 'big.json' }, files)).rejects.toThrow('{"keys":["list"]}');
});

test.each([
  ['*.log', ['a.log', 'logs/b.log', 'logs/old/c.log']],
  ['logs/*', ['logs/b.log', 'logs/d.txt']],
  ['logs/', ['logs/b.log', 'logs/d.txt', 'logs/old/c.log']],
  ['logs/**/c.log', ['logs/old/c.log']],
  ['**/**/old/*', ['logs/old/c.log']],
  ['./a.log', ['a.log']],
  ['*b*l*g', ['logs/b.log']],
  ['nothing', []],
])('delete_files %s deletes %j', async (pattern, deleted) => {
  const paths = ['a.log', 'logs/b.log', 'logs/d.txt', 'logs/old/c.log', 'keep.txt'];
  const files = open(Object.fromEntries(paths.map((path) => [path, 'x'])));
  expect(await call('delete_files', { pattern }, files)).toEqual({ pattern, deleted, count: deleted.length });
  const left = await Promise.all(paths.map(async (path) => ((await files.stat(path)) === undefined ? [] : [path])));
  expect(left.flat()).toEqual(paths.filter((path) => !deleted.includes(path)));
});

test('delete_files deletes nothing when more match than the limit', async () => {
  const files = open({ a: '', b: '' });
  await expect(call('delete_files', { pattern: '*', limit: 1 }, files)).rejects.toThrow('nothing was deleted');
  expect(await files.stat('a')).toBeDefined();
});

const image = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0xff, 0xfe]);

test.each([
  { name: 'count_words', input: { file: 'image.png' } },
  { name: 'query_json', input: { file: 'image.png' } },
  { name: 'summarize_csv', input: { file: 'image.png' } },
])('$name says that a binary file is none', async ({ name, input }) => {
  await expect(call(name, input, open({ 'image.png': image }))).rejects.toMatchObject({
    code: 'file.invalid',
    reason: 'binary',
    message: expect.stringContaining('`image.png`'),
  });
});

test.each([
  { name: 'list_todos', input: {} },
  { name: 'search_text', input: { text: 'TODO' } },
  { name: 'delete_files', input: { pattern: '*.log' } },
])('$name passes over a binary file, or takes it as it is', async ({ name, input }) => {
  const files = open({ 'a.js': '// TODO: x', 'image.png': image, 'old.log': image });
  expect(await call(name, input, files)).toBeTypeOf('object');
  expect((await files.list('')).map((entry) => entry.name)).toEqual(
    name === 'delete_files' ? ['a.js', 'image.png'] : ['a.js', 'image.png', 'old.log'],
  );
});
