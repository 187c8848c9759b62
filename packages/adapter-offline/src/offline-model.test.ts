import type { Message, ToolDeclaration } from '@holdfast/core';
import { expect, test } from 'vitest';
import {
  type Call,
  allTools as everything,
  fileTools,
  foreignTools,
  play,
  succeed,
  toolFrom,
  workspaceTools as workspace,
} from './fixtures.ts';
import { offlineModel } from './offline-model.ts';

test.each<[string, readonly ToolDeclaration[]]>([
  ['Tell me a joke', everything],
  ['hello', everything],
  ['Weather in Rome?', workspace],
  ['Book a table for two tomorrow', everything],
  ['copy notes.txt to backup.txt', workspace],
  ['what is the meaning of life?', everything],
  ['Delete the weather', everything],
  ['the file old.log', [toolFrom('delete_file(path)', 'Delete a file.')]],
  ['Do not delete old.txt', everything],
  ["Please don't write anything to a.txt", everything],
  ['never remove *.log', everything],
  ['How do I send a mail?', foreignTools],
  ['Anything at all', []],
])('no tool fits: %s', async (request, tools) => {
  const { calls, answer } = await play(request, tools, succeed);
  expect(calls).toEqual([]);
  expect(answer).toMatch(/no tool for that|nothing that I could do/u);
  expect(answer).toContain(tools[0]?.name ?? 'No tools are offered');
});

test.each<[string, string]>([
  ['Email bob@example.com', '`subject` and `body`'],
  ['Convert 250 to USD', '`from`'],
  ['Write a haiku to poem.txt', '`content`'],
  ['Create an event called Lunch', '`date`'],
  ['Create an event called Lunch tomorrow', '`date`'],
  ['Create an event called Lunch on April 27', '`date`'],
  ['Switch the light in the kitchen', '`on`'],
  ['Delete a file', '`path`'],
])('a missing argument is asked for and never invented: %s', async (request, missing) => {
  const { calls, answer } = await play(request, everything, succeed);
  expect(calls).toEqual([]);
  expect(answer).toContain(missing);
});

const write: Call = ['write_file', { path: 'a.md', content: 'x' }];

test('a write that is refused because the file was not read: reads it and tries once more', async () => {
  const { calls, answer } = await play('Write "x" to a.md', workspace, (_call, made) =>
    made === 0 ? { success: false, text: 'Denied: read `a.md` before you write it.' } : { success: true, text: 'ok' },
  );
  expect(calls).toEqual([write, ['read_file', { path: 'a.md' }], write]);
  expect(answer).toContain('`write_file` succeeded for `a.md`');
});

test('a refusal that names another tool: calls that one first', async () => {
  const tools = [
    toolFrom('publish_page(page)', 'Publish a page.'),
    toolFrom('check_links(page)', 'Check the links of a page.'),
  ];
  const { calls } = await play('Publish the page "home"', tools, (_call, made) =>
    made === 0
      ? { success: false, text: '`publish_page` needs a successful `check_links` first.' }
      : { success: true, text: 'ok' },
  );
  expect(calls.map(([name]) => name)).toEqual(['publish_page', 'check_links', 'publish_page']);
  expect(calls[1]?.[1]).toEqual({ page: 'home' });
});

test('a call that stays denied is made no third time, and the answer says why', async () => {
  const { calls, answer } = await play('Write "x" to a.md', workspace, ([name]) =>
    name === 'read_file'
      ? { success: true, text: 'old' }
      : { success: false, text: 'Read the file before you write it.' },
  );
  expect(calls).toEqual([write, ['read_file', { path: 'a.md' }], write]);
  expect(answer).toContain('`write_file` did not work: Read the file before you write it.');
  expect(answer).not.toContain('succeeded');
});

test('a denial that names no remedy is final', async () => {
  const { calls, answer } = await play('Delete all .tmp files', workspace, () => ({
    success: false,
    text: 'A person denied this call.',
  }));
  expect(calls).toHaveLength(1);
  expect(answer).toContain('`delete_files` did not work: A person denied this call.');
});

test('nothing is written from findings that were never made', async () => {
  const { calls, answer } = await play('List every TODO comment and write them to report.md', workspace, () => ({
    success: false,
    text: 'disk on fire',
  }));
  expect(calls).toEqual([['list_todos', {}]]);
  expect(answer).toContain('disk on fire');
  expect(answer).toContain('Not done');
});

test('a text result in front of which the tool says something is stored without that sentence', async () => {
  const { calls } = await play('Read notes.txt and write it to copy.txt', workspace, () => ({
    success: true,
    text: '`notes.txt`, 2 lines.\n\nOne.\n\nTwo.\n',
  }));
  expect(calls[1]).toEqual(['write_file', { path: 'copy.txt', content: 'One.\n\nTwo.\n' }]);
});

test('lines with places in files are a table when they are stored as one', async () => {
  const { calls } = await play('Search for TODO and write the matches to found.csv', fileTools, () => ({
    success: true,
    text: '2 lines match `TODO` in 3 files.\n\na.ts:1: // TODO x, y\nb.ts:22: TODO',
  }));
  expect(calls[1]?.[1]['content']).toBe('file,line,text\na.ts,1,"// TODO x, y"\nb.ts,22,TODO\n');
});

test('counts that stand beside a list are words in the document, not JSON', async () => {
  const found = '{"total":2,"by_tag":{"TODO":1,"FIXME":1},"todos":[{"file":"a.ts","line":3,"text":"fix"}]}';
  const { calls } = await play('List the todos and write them to r.md', everything, (_call, made) => ({
    success: true,
    text: made === 0 ? found : 'ok',
  }));
  expect(calls[1]?.[1]).toMatchObject({
    path: 'r.md',
    content: expect.stringContaining('- **by_tag**: TODO: 1, FIXME: 1\n'),
  });
});

test('a result that is nothing but an error is a failure', async () => {
  const { answer } = await play('Open a.txt', workspace, () => ({ success: true, text: '{"error":"no such file"}' }));
  expect(answer).toBe('`read_file` did not work: no such file.');
});

test('the answer is bounded and the file is whole', async () => {
  const todos = Array.from({ length: 500 }, (_, index) => ({ file: 'a.ts', line: index + 1, text: 'TODO' }));
  const { calls, answer } = await play('List every TODO comment and write them to report.md', workspace, ([name]) => ({
    success: true,
    text: name === 'list_todos' ? JSON.stringify(todos) : 'Wrote 500 lines.',
  }));
  expect(answer).toContain('… and 490 more');
  expect(answer.length).toBeLessThan(2000);
  expect(String(calls[1]?.[1]['content']).match(/^- a\.ts:\d+ TODO$/gmu)).toHaveLength(500);
});

test('at most 8 calls are made for one request', async () => {
  const paths = Array.from({ length: 30 }, (_, index) => `f${index}.md`);
  const { calls, answer } = await play('List the files, then read them; then delete old.txt', fileTools, ([name]) => ({
    success: true,
    text: name === 'list_files' ? JSON.stringify(paths) : 'text',
  }));
  expect(calls).toHaveLength(8);
  expect(answer).toContain('8 calls were made already');
});

test('files that are left over when the calls are used up are said to be', async () => {
  const paths = Array.from({ length: 30 }, (_, index) => `f${index}.md`);
  const { calls, answer } = await play('List the files, then read them', fileTools, ([name]) => ({
    success: true,
    text: name === 'list_files' ? JSON.stringify(paths) : 'text',
  }));
  expect(calls).toHaveLength(8);
  expect(answer).toContain('Not done, because 8 calls were made already: "read them"');
});

test('what was read is never stored over where it came from', async () => {
  const { calls, answer } = await play('Read a.txt and save it', workspace, succeed);
  expect(calls).toEqual([['read_file', { path: 'a.txt' }]]);
  expect(answer).toContain('`path`');
});

test('a request can speak of what an earlier one found', async () => {
  const conversation: readonly Message[] = [
    { role: 'system', text: 'Be careful.' },
    { role: 'user', text: 'List every TODO comment' },
    { role: 'assistant', text: '', calls: [{ id: 'a', name: 'list_todos', arguments: '{}' }] },
    {
      role: 'tool',
      callId: 'a',
      name: 'list_todos',
      success: true,
      text: 'Found one.\n\n[{"file":"a.ts","line":1,"text":"TODO"}]',
    },
    { role: 'assistant', text: 'There is one.', calls: [] },
    { role: 'user', text: 'Save them to todo.txt' },
  ];
  const { calls } = await play(conversation, workspace, succeed);
  expect(calls).toEqual([['write_file', { path: 'todo.txt', content: 'a.ts:1 TODO\n' }]]);
});

test('values reach nested objects', async () => {
  const tool: ToolDeclaration = {
    name: 'book_room',
    description: 'Book a room.',
    inputSchema: {
      type: 'object',
      properties: {
        guest: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        nights: { type: 'integer' },
      },
      required: ['guest', 'nights'],
    },
  };
  const { calls } = await play('Book a room for Ann for 3 nights', [tool], succeed);
  expect(calls).toEqual([['book_room', { guest: { name: 'Ann' }, nights: 3 }]]);
});

test('an aborted request ends with the reason of its signal', async () => {
  const signal = AbortSignal.abort(new Error('enough'));
  const stream = offlineModel().stream({ messages: [{ role: 'user', text: 'hello' }], tools: [], signal });
  await expect(async () => {
    for await (const _event of stream);
  }).rejects.toThrow('enough');
});
