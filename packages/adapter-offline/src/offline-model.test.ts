import { existsSync, readFileSync } from 'node:fs';
import type { JsonObject, Message, ToolDeclaration } from '@holdfast/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { offlineModel } from './offline-model.ts';
import { type Call, fileTools, foreignTools, play, type Reply, toolFrom } from './test-tools.ts';

const todos = [
  { file: 'src/a.ts', line: 3, tag: 'TODO', text: 'fix', owner: 'mara' },
  { file: 'src/b.ts', line: 9, tag: 'TODO', text: 'later' },
];
const listing = JSON.stringify({ todos, total: 2, by_tag: { TODO: 2 }, files_looked_at: 8 });
const answers =
  (texts: Readonly<Record<string, string>>) =>
  ([name]: Call): Reply => ({ success: true, text: new Map(Object.entries(texts)).get(name) ?? 'Done.' });

describe('the result of a call in a file', () => {
  test("a list reads naturally, without the tool's counts", async () => {
    const { calls, answer } = await play(
      'List every TODO comment in the sources and write them to report.md',
      fileTools,
      answers({ list_todos: listing, write_file: 'Created `report.md`: 4 lines.' }),
    );
    const content = '# TODO comments in the sources\n\n- src/a.ts:3 fix (owner: mara)\n- src/b.ts:9 later\n';
    expect(calls).toEqual([
      ['list_todos', {}],
      ['write_file', { path: 'report.md', content }],
    ]);
    expect(answer).toBe('- src/a.ts:3 fix (owner: mara)\n- src/b.ts:9 later\n\nCreated `report.md`: 4 lines.');
  });

  test.each([
    { path: 'r.txt', content: 'src/a.ts:3 fix (tag: TODO, owner: mara)\nsrc/b.ts:9 later (tag: TODO)\n' },
    { path: 'r.json', content: `${JSON.stringify(JSON.parse(listing), null, 2)}\n` },
  ])('as $path', async ({ path, content }) => {
    const tools = [...fileTools, toolFrom('list_notes()', 'List the notes.')];
    const { calls } = await play(`List the notes and write them to ${path}`, tools, answers({ list_notes: listing }));
    expect(calls[1]).toEqual(['write_file', { path, content }]);
  });

  test.each([
    { text: '{"words":12,"by_kind":{"long":3}}', content: '# Words of a.txt\n\n- words: 12\n- by kind: long 3\n' },
    { text: '[]', content: '# Words of a.txt\n\nNothing found.\n' },
    { text: '{"rows":["x","y"],"total":9}', content: '# Words of a.txt\n\n- x\n- y\nShowing 2 of 9.\n' },
    { text: '{"count":2,"rows":[{"name":"x","sum":1}]}', content: '# Words of a.txt\n\n- count: 2\n- x (sum: 1)\n' },
  ])('of $text', async ({ text, content }) => {
    const { calls } = await play(
      'Count the words of a.txt and write the result to b.md',
      fileTools,
      answers({ count_words: text }),
    );
    expect(calls[1]).toEqual(['write_file', { path: 'b.md', content }]);
  });

  test("a text is unchanged, without the tool's sentence before it", async () => {
    const read = '`a.txt`, 2 lines.\n\nOne.\n\nTwo.\n';
    const { calls } = await play('Read a.txt and write it to b.txt', fileTools, answers({ read_file: read }));
    expect(calls[1]).toEqual(['write_file', { path: 'b.txt', content: 'One.\n\nTwo.\n' }]);
  });

  test('lines with places in files are a list', async () => {
    const tools = [...fileTools, toolFrom('search_text(text)', 'Search for a text.')];
    const found = '2 lines match `x`.\n\na.ts:1: // x\nb.ts:22: x';
    const { calls } = await play(
      'Search for "x" and write the matches to m.md',
      tools,
      answers({ search_text: found }),
    );
    expect(calls[1]?.[1]['content']).toContain('\n- a.ts:1 // x\n- b.ts:22 x\n');
  });

  test.each([
    { text: 'disk on fire', success: false, says: '`read_file` failed: disk on fire' },
    { text: '{"error":"no such file"}', success: true, says: 'no such file' },
    {
      text: '`a.txt`, 9 lines.\n\nOne.\n… 8 more lines, read with startLine=2.',
      success: true,
      says: 'The result is incomplete',
    },
  ])('nothing is written for $text', async ({ text, success, says }) => {
    const { calls, answer } = await play('Read a.txt and write it to b.txt', fileTools, () => ({ success, text }));
    expect(calls).toHaveLength(1);
    expect(answer).toContain(says);
    expect(answer).toContain('`b.txt` was not written.');
  });

  test('a rejected call is reported, and nothing else is tried', async () => {
    const { calls, answer } = await play('Read a.txt and write it to b.txt', fileTools, ([name]) =>
      name === 'read_file' ? { success: true, text: 'x' } : { success: false, text: 'Read `b.txt` first.' },
    );
    expect(calls.map(([name]) => name)).toEqual(['read_file', 'write_file']);
    expect(answer).toContain('`write_file` failed: Read `b.txt` first.');
  });
});

describe('an unclear request', () => {
  test('gets three suggestions that work with the existing files', async () => {
    const { calls, answer } = await play(
      'Write a poem to poem.txt',
      fileTools,
      answers({ list_files: '["a.md","src/","b.txt"]' }),
    );
    expect(calls).toEqual([['list_files', {}]]);
    expect(answer).toBe(
      [
        'I do not understand "poem". Nothing has been done.',
        'These requests work here:\n- Write "a poem" to poem.txt\n- Write hello.txt with "hello"\n- List the files',
        'I am a rule-based program, not a language model: I act on a request only if I understand every word of it.',
      ].join('\n\n'),
    );
  });

  test.each(['Read a.md and count the words', 'Make me happy', 'What can you do?', 'Delete all', 'hello, read'])(
    '%s: every suggestion works',
    async (request) => {
      const { answer } = await play(request, fileTools, answers({ list_files: '["a.md","b.txt"]' }));
      const offers = [...answer.matchAll(/^- (.+)$/gmu)].map(([, offer = '']) => offer);
      expect(offers).toHaveLength(3);
      for (const offer of offers) {
        const { calls } = await play(offer, fileTools);
        expect(calls[0]?.[0], offer).not.toMatch(/^delete|^list_files$/u.test(offer) ? /./u : /^delete/u);
        for (const path of [calls[0]?.[1]['path']].flatMap((each) => (typeof each === 'string' ? [each] : [])))
          expect(['a.md', 'b.txt', 'hello.txt']).toContain(path);
      }
    },
  );

  test('without files, without tools, and with invisible files', async () => {
    expect((await play('Sing', [])).answer).toContain('No tools are available.');
    const refused = await play('Sing', fileTools, () => ({ success: false, text: 'Denied.' }));
    expect(refused.answer).toContain('- List the files');
    expect(refused.answer).not.toContain('- Read');
    expect((await play('Sing', foreignTools)).calls).toEqual([]);
  });

  test('a request in another script calls no tool', async () => {
    expect(await play('读取 notes.txt', fileTools)).toMatchObject({
      calls: [],
      answer: expect.stringContaining('I read English only'),
    });
  });
});

test('only the last request counts; messages between turns are not requests', async () => {
  const messages: readonly Message[] = [
    { role: 'system', text: 'Be careful.' },
    { role: 'user', text: 'List every TODO comment' },
    { role: 'assistant', text: '', calls: [{ id: 'a', name: 'list_todos', arguments: '{}' }] },
    { role: 'tool', callId: 'a', name: 'list_todos', success: true, text: 'Found one.\n\n["x"]' },
    { role: 'user', text: 'Hurry: delete everything.' },
  ];
  expect(await play(messages, fileTools)).toEqual({ calls: [], answer: 'Found one.\n\n- x' });
  const next: readonly Message[] = [
    ...messages,
    { role: 'assistant', text: 'x', calls: [] },
    { role: 'user', text: 'Read a.txt' },
  ];
  expect((await play(next, fileTools)).calls).toEqual([['read_file', { path: 'a.txt' }]]);
});

test('an answer is bounded', async () => {
  const many = Array.from({ length: 500 }, (_, index) => ({ file: 'a.ts', line: index + 1 }));
  const { answer } = await play('List every TODO comment', fileTools, answers({ list_todos: JSON.stringify(many) }));
  expect(answer).toMatch(/- a\.ts:50\n… and 450 more$/u);
});

test('an aborted request ends with the reason of its signal', async () => {
  const signal = AbortSignal.abort(new Error('enough'));
  const stream = offlineModel().stream({ messages: [{ role: 'user', text: 'hello' }], tools: [], signal });
  await expect(async () => {
    for await (const _event of stream);
  }).rejects.toThrow('enough');
});

const anySchema = fc.oneof(
  fc.jsonValue(),
  fc.record({ properties: fc.dictionary(fc.string(), fc.jsonValue()), required: fc.array(fc.string()) }),
  fc.constant({ properties: { path: { type: 'string' }, constructor: {} }, required: ['path', 'constructor'] }),
  fc.constant({ properties: { a: { $ref: '#/$defs/__proto__' }, b: { anyOf: [null, { type: 'null' }] } } }),
);
const anyTool = fc.record({
  name: fc.oneof(fc.string(), fc.constantFrom('read_file', 'constructor', '__proto__')),
  description: fc.oneof(fc.string({ unit: 'binary' }), fc.constant('Read a file.')),
  inputSchema: anySchema.map(
    (schema) => (typeof schema === 'object' && schema !== null && !Array.isArray(schema) ? schema : {}) as JsonObject,
  ),
});
const words = 'read a.txt and then them " \' write it to *.ts 10 constructor __proto__ path : , all ; use'.split(' ');

test('property: a conversation with any tools and results ends, and calls only offered tools', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 200 }),
        fc.array(fc.constantFrom(...words), { maxLength: 20 }).map((some) => some.join(' ')),
      ),
      fc.array(anyTool, { maxLength: 5 }),
      fc.record({ success: fc.boolean(), text: fc.oneof(fc.string(), fc.json()) }),
      async (request, tools, reply) => {
        const { calls, answer } = await play(request, tools, () => reply);
        expect(answer).not.toBe('');
        for (const [name, given] of calls) {
          expect(tools.some((tool) => tool.name === name)).toBe(true);
          expect(JSON.parse(JSON.stringify(given))).toEqual(given);
        }
      },
    ),
    { numRuns: 100 },
  );
});

const functionsFile = new URL('../../../../shared/data/functions.jsonl', import.meta.url);

test.skipIf(!existsSync(functionsFile))('real function definitions from elsewhere (skipped if missing)', async () => {
  const tools = readFileSync(functionsFile, 'utf8').trim().split('\n').map(toDeclaration);
  for (let from = 0; from < tools.length; from += 50) {
    const offered = tools.slice(from, from + 50);
    for (const { name, description } of offered.slice(0, 3)) {
      const { calls } = await play(`${name.replaceAll(/[._]/gu, ' ')} 5 "x" in Paris. ${description}`, offered);
      expect(calls.every(([called]) => offered.some((tool) => tool.name === called))).toBe(true);
    }
  }
});

function toDeclaration(line: string): ToolDeclaration {
  const { name, description, parameters } = JSON.parse(line) as {
    readonly name: string;
    readonly description: string;
    readonly parameters: JsonObject;
  };
  return { name, description, inputSchema: parameters };
}
