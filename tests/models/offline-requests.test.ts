import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { offlineModel } from '@holdfast/adapter-offline';
import { runAgent } from '@holdfast/executor';
import { fileTools } from '@holdfast/filesystem';
import { hostFilesystem } from '@holdfast/filesystem/node';
import { loadTools } from '@holdfast/loader';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { createSession } from '@holdfast/session';
import { afterAll, beforeAll, expect, test } from 'vitest';

// Over the tools and the sample project of `npm start`: what a call of them gives is what a newcomer sees.
const examples = fileURLToPath(new URL('../../examples/', import.meta.url));
const { tools, close } = await loadTools(join(examples, 'plugins'), { isolation: 'in-process' });
const prompt = createPrompt({
  ns: 'tests',
  key: 'offline-requests',
  sections: [markdownSection({ title: 'Files', template: 'Work in the folder.', tools: [...fileTools(), ...tools] })],
});
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-requests-'));
  await cp(join(examples, 'sample-project'), folder, { recursive: true });
});

afterAll(async () => {
  await close();
  await rm(folder, { recursive: true });
});

async function ask(input: string) {
  const calls: string[] = [];
  const run = runAgent({
    model: offlineModel(),
    prompt,
    session: createSession(),
    resources: { filesystem: hostFilesystem(folder) },
    input,
    // Nothing is deleted: the project is for all requests.
    approve: () => ({ type: 'deny', reason: 'Not here.' }),
  });
  for await (const event of run)
    if (event.type === 'tool-call-end') calls.push(`${event.name} ${JSON.stringify(event.input)}`);
  const { status, text } = await run.result;
  return { status, text, calls };
}

test.each([
  ['Read README.md', 'read_file {"path":"README.md"', 'Corner Shop'],
  ['Show me what is in notes/ideas.txt', 'read_file {"path":"notes/ideas.txt"', 'cargo bikes'],
  ['What files are here?', 'list_files {"path":"."}', '- README.md'],
  ['Show me all files in the src folder', 'list_files {"path":"src"}', '- price.ts'],
  ['Count the words in notes/meeting.md', 'count_words {"file":"notes/meeting.md"', 'words: 47'],
  ['How many lines does notes/ideas.txt have?', 'count_words {"file":"notes/ideas.txt"', 'lines: 3'],
  ['Search for "helmets"', 'search_text {"text":"helmets"', 'notes/meeting.md:5'],
  ['Search for TODO in src/price.ts', 'grep_files {"pattern":"TODO"', 'src/price.ts:6'],
  ['Find all files named *.ts', 'glob_files {"pattern":"*.ts"}', '- src/stock.ts'],
  ['List the FIXME comments in src', 'list_todos {"folder":"src","tags":["FIXME"]', 'a comma inside quotes'],
  [
    'Sum the column quantity in data/orders.csv',
    'summarize_csv {"file":"data/orders.csv","column":"quantity"}',
    'sum: ',
  ],
  [
    'Get the value of currency from config/shop.json',
    'query_json {"file":"config/shop.json","query":"currency"}',
    'value: EUR',
  ],
  [
    'create hello.txt with the text hello world',
    'write_file {"path":"hello.txt","content":"hello world"}',
    'Created `hello.txt`',
  ],
  [
    'Replace "red" with "blue" in notes/ideas.txt',
    'edit_file {"path":"notes/ideas.txt","oldText":"red","newText":"blue"',
    'failed',
  ],
])('%s', async (request, call, says) => {
  const { status, text, calls } = await ask(request);
  expect(status).toBe('completed');
  expect(calls).toEqual([expect.stringContaining(call)]);
  expect(text).toContain(says);
});

test('a list that is written to a file', async () => {
  await ask('List every TODO comment in the sources and write them to report.md');
  expect((await readFile(join(folder, 'report.md'), 'utf8')).split('\n').slice(0, 5)).toEqual([
    '# TODO comments in the sources',
    '',
    '- scripts/backup.sh:3 delete archives that are older than a year',
    '- scripts/import_orders.py:8 the export is in Latin-1 since the update in May',
    '- src/price.ts:6 read the tax rate from config/shop.json (owner: mara)',
  ]);
});

test.each([
  'read README.md and count the words',
  'list all files',
  'List the files in src that match *.ts',
  'find files by name',
  'Is notes/ideas.txt a file?',
  'Show me lines with TODO',
  'How big is README.md?',
  'Show the first 10 lines of README.md',
  'Count the words',
  'Write a summary of README.md to summary.md',
  'Write the number of words in README.md to count.txt',
  'Create report.txt with a list of all files',
  'Save every TODO comment to todos.md',
  'How many TODO comments are there?',
  'Copy README.md to copy.md',
  'Rename README.md to read.md',
  'Add "x" to notes/ideas.txt',
  'Delete everything',
  'Delete the last line of notes/ideas.txt',
  'Find the biggest file',
  'List the files sorted by size',
  'Summarize README.md',
  'Translate notes/ideas.txt to German',
  'What is the total of the column quantity and of unit_price in data/orders.csv?',
])('asked back, with requests that work: %s', async (request) => {
  const { text, calls } = await ask(request);
  expect(calls).toEqual(['list_files {"path":"."}']);
  expect(text).toContain('Nothing has been done.');
  expect(text).toContain('I am a rule-based program, not a language model');
  const offers = [...text.matchAll(/^- (.+)$/gmu)].map(([, offer = '']) => offer);
  expect(offers).toHaveLength(3);
  for (const offer of offers) {
    const tried = await ask(offer);
    expect({ offer, text: tried.text }).not.toMatchObject({
      text: expect.stringMatching(/failed|Nothing has been done/u),
    });
  }
});
