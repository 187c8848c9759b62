import type { JsonObject, ToolDeclaration } from '@holdfast/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fileTools, foreignTools, toolFrom } from '../test-tools.ts';
import { readTool } from '../words/tool-words.ts';
import { understand } from './understand.ts';

const allTools = [...fileTools, ...foreignTools];

function sketch(request: string, tools: readonly ToolDeclaration[] = allTools): string {
  const understood = understand(request, tools.map(readTool));
  if (understood.type === 'unclear') return `? ${understood.why}`;
  const { match, save } = understood;
  const call = `${match.tool.tool.name} ${JSON.stringify(match.arguments)}`;
  return save === undefined ? call : `${call} > ${save.name} ${save.path}`;
}

describe('one tool accounts for every word, with arguments from the request', () => {
  test.each([
    ['Read notes.txt', 'read_file {"path":"notes.txt"}'],
    ['Could you please show me the file notes.txt?', 'read_file {"path":"notes.txt"}'],
    ['What is in notes.txt?', 'read_file {"path":"notes.txt"}'],
    ['write hello.txt with the text hello world', 'write_file {"path":"hello.txt","content":"hello world"}'],
    ['Write the text see you in court to a.txt', 'write_file {"path":"a.txt","content":"see you in court"}'],
    ['List the files in src', 'list_files {"folder":"src"}'],
    ['How many words does notes.txt have?', 'count_words {"path":"notes.txt"}'],
    ['30 degrees celsius in fahrenheit', 'convert_temperature {"value":30,"from":"celsius","to":"fahrenheit"}'],
    ['Convert 30 fahrenheit to celsius', 'convert_temperature {"value":30,"from":"fahrenheit","to":"celsius"}'],
    ['Convert 250 from EUR to USD', 'convert_currency {"amount":250,"from":"EUR","to":"USD"}'],
    ['Set a timer for 10 minutes', 'set_timer {"minutes":10}'],
    ['What is the weather in Buenos Aires?', 'weather_fetcher {"city":"Buenos Aires"}'],
    [
      'Book a flight from Berlin to Lisbon on 2026-05-01',
      'book_flight {"origin":"Berlin","destination":"Lisbon","date":"2026-05-01"}',
    ],
    [
      'Send a mail to bob@example.org with the subject "Hi" and the body "Hello"',
      'send_mail {"to":"bob@example.org","subject":"Hi","body":"Hello"}',
    ],
    ['Search the news for tulips', 'search_news {"query":"tulips"}'],
    ['Search the news for "tulips" with top 3', 'search_news {"query":"tulips","top":3}'],
    ['Fetch the page https://example.org/a.', 'fetch_page {"url":"https://example.org/a"}'],
    ['Put the tag red on the photo "cat"', 'tag_photos {"photo":"cat","tags":"red"}'],
    ['Use read_file to show notes.txt', 'read_file {"path":"notes.txt"}'],
  ])('%s', (request, expected) => {
    expect(sketch(request)).toBe(expected);
  });

  test.each([
    ['List every TODO comment and write them to todo.md', 'list_todos {} > write_file todo.md'],
    [
      'Please list the TODO comments, then save the list in a file called todo.md.',
      'list_todos {} > write_file todo.md',
    ],
    ['Count the words of a.txt and write the count to b.txt', 'count_words {"path":"a.txt"} > write_file b.txt'],
    ['Read a.txt and write it to b.txt', 'read_file {"path":"a.txt"} > write_file b.txt'],
  ])('a second step that the request names: %s', (request, expected) => {
    expect(sketch(request)).toBe(expected);
  });
});

describe('any other request is unclear', () => {
  test.each([
    // Words that no tool accounts for.
    ['Read the last 5 lines of notes.txt', '"last", "5"'],
    ['Count the unique words of notes.txt', '"unique"'],
    ['List the files sorted by size', '"sorted", "size"'],
    ['What is the weather in Rome tomorrow?', '"tomorrow"'],
    ['Set a timer for 2 hours', '"hours"'],
    ['Write a poem about spring to poem.txt', '"poem", "spring"'],
    ['Write the words of a.txt to b.txt', '"words"'],
    ['Add "x" to a.txt', 'No tool matches'],
    ['Rename a.txt to b.txt', 'No tool matches'],
    ['Read it', '"it"'],
    // Words that change the meaning.
    ["Don't delete a.txt", '"Don\'t"'],
    ['Delete a.txt unless it is new', '"unless"'],
    ['Read a.txt or b.txt', '"or"'],
    // More than one thing.
    ['Read a.txt and count the words', 'several things'],
    ['List the TODO comments and delete them', 'several things'],
    ['List the TODO comments and write only the first to a.md', 'several things'],
    ['List the TODO comments, write them to a.md and read a.md', 'several things'],
    ['Read a.txt and b.txt', '"a.txt", "b.txt"'],
    ['Write "a" and "b" to c.txt', '"a", "b"'],
    ['Convert 30 celsius fahrenheit', '"fahrenheit"'],
    // All objects for a tool that handles one.
    ['Delete all files', 'how many objects are meant'],
    ['Read every file', 'needs `path`'],
    // No object.
    ['Open the file', 'needs `path`'],
    ['Delete a file', 'needs `path`'],
    ['Write "x"', 'needs `path`'],
    ['Send a mail to bob@example.org', 'needs `subject` and `body`'],
    ['Create an event called "A"', 'needs `date`'],
    ['notes.txt', 'does not say what it is about'],
    ['What can you do?', 'does not say what it is about'],
    ['How do I send a mail?', 'do not understand'],
    ['🎉🎉', 'does not name an action'],
    ['hello', 'does not name an action'],
    ['读取 notes.txt', 'I read English only'],
    ['Read a.txt. '.repeat(1000), 'at most 8000 characters; this one has 12000'],
  ])('%s', (request, why) => {
    expect(sketch(request)).toMatch(/^\? /u);
    expect(sketch(request)).toContain(why);
  });

  test('two tools that match equally well', () => {
    const twins = [toolFrom('fetch_note(title)', 'Fetch a note.'), toolFrom('notes.fetch(title)', 'Fetch a note.')];
    expect(sketch('Fetch the note with the title "A"', twins)).toContain(
      'Several tools match: `fetch_note`, `notes.fetch`',
    );
  });

  test('a file type that the tool does not support', () => {
    const csv = { ...toolFrom('summarize_csv(file)', 'Summarize a CSV table.') };
    const schema = {
      type: 'object',
      properties: { file: { type: 'string', description: 'Path of the CSV file' } },
      required: ['file'],
    };
    expect(sketch('Summarize a.csv', [{ ...csv, inputSchema: schema }])).toBe('summarize_csv {"file":"a.csv"}');
    expect(sketch('Summarize a.md', [{ ...csv, inputSchema: schema }])).toContain('"a.md"');
  });
});

const pieces = fc.oneof(
  fc.constantFrom(
    ...'read write count list delete convert search send the a of in to from with and then file text words all every TODO it them not'.split(
      ' ',
    ),
    ...'a.txt b.md src/ *.ts .md 10 2.5 2026-01-02 red blue celsius fahrenheit EUR Rome "x y" `q` bob@example.org https://example.org/a'.split(
      ' ',
    ),
    ...'subject body title top minutes folder called saying , . ? : city amount tags photo'.split(' '),
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
);
const phrases: Readonly<Record<string, string>> = {
  path: 'a.txt',
  text: 'the text "x y"',
  query: 'for "q"',
  city: 'in Rome',
  from: 'from EUR',
  to: 'to USD',
  'amount:number': 'amount 2.5',
  'top:integer': 'top 10',
  'date:date': 'on 2026-01-02',
  'color:red|blue': 'in red',
  'on:boolean': 'on',
  'names:string[]': 'names "p" and "q"',
};
/** A tool and a request that may match it: its words, some of its arguments, and unrelated words. */
const anyCase = fc
  .record({
    verb: fc.constantFrom('read', 'write', 'count', 'list', 'delete', 'convert', 'search', 'send'),
    noun: fc.constantFrom('file', 'text', 'words', 'mail'),
    takes: fc.uniqueArray(fc.constantFrom(...Object.keys(phrases)), { maxLength: 4 }),
    isOptional: fc.boolean(),
    says: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
    noise: fc.array(pieces, { maxLength: 3 }),
    at: fc.nat({ max: 8 }),
  })
  .map(({ verb, noun, takes, isOptional, says, noise, at }) => {
    const list = takes.map((each) => (isOptional ? each.replace(/^\w+/u, '$&?') : each));
    const said = [verb, 'the', noun, ...takes.filter((_, index) => says[index]).map((each) => phrases[each] ?? '')];
    return {
      tool: toolFrom(`${verb}_${noun}(${list.join(',')})`, `${verb} a ${noun}.`),
      request: said.toSpliced(at, 0, ...noise).join(' '),
    };
  });

test('property: each argument occurs in the request', () => {
  let clear = 0;
  fc.assert(
    fc.property(anyCase, fc.array(fc.constantFrom(...allTools), { maxLength: 4 }), ({ tool, request }, others) => {
      const tools = [tool, ...others];
      const understood = understand(request, tools.map(readTool));
      if (understood.type === 'unclear') {
        expect(understood.why).not.toBe('');
        return;
      }
      clear += 1;
      const { match, save } = understood;
      expect(tools).toContain(match.tool.tool);
      expect(match.filling.missing).toEqual([]);
      expect(request).toContain(save?.path ?? '');
      for (const value of Object.values(match.arguments))
        expect(standsIn(request, value), `${JSON.stringify(value)} in ${request}`).toBe(true);
    }),
    { numRuns: 1500 },
  );
  // Ensures that the property covers calls.
  expect(clear).toBeGreaterThan(100);
});

/** As text, or as digits of a number; a switch is present by its name. */
function standsIn(request: string, value: JsonObject[string]): boolean {
  if (Array.isArray(value)) return value.every((each) => standsIn(request, each));
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return request.replaceAll(',', '').includes(String(Math.abs(value)));
  return request.toLowerCase().replaceAll(/\s+/gu, ' ').includes(String(value).toLowerCase().replaceAll(/\s+/gu, ' '));
}
