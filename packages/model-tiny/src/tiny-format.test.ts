import { readFile } from 'node:fs/promises';
import type { Message, ToolDeclaration } from '@holdfast/core';
import { expect, test } from 'vitest';
import { tinyFormat, tinyModelUrl } from './index.ts';

const object = (properties: ToolDeclaration['inputSchema'], required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
});
const tool = (inputSchema: ToolDeclaration['inputSchema'], description = 'does it'): ToolDeclaration => ({
  name: 'do_it',
  description,
  inputSchema,
});

/** Formats as in the training data, with special tokens by name. */
function write(messages: readonly Message[], tools: readonly ToolDeclaration[] = []): string {
  return tinyFormat
    .toPrompt(messages, tools)
    .map((part) => (typeof part === 'string' ? part : part.special))
    .join('');
}

test.each<[schema: ToolDeclaration['inputSchema'], signature: string]>([
  [{ type: 'object' }, 'do_it() does it'],
  [object({ a: { type: 'string' }, b: { type: 'integer' } }, ['a', 'b']), 'do_it(a:string,b:integer) does it'],
  [object({ a: { type: 'number' }, b: { type: 'boolean' } }, ['a']), 'do_it(a:number,b?:boolean) does it'],
  [object({ a: { enum: ['red', 'green', 3] } }, ['a']), 'do_it(a:red|green|3) does it'],
  [object({ a: { type: 'array', items: { type: 'integer' } } }, ['a']), 'do_it(a:integer[]) does it'],
  [object({ a: { type: ['null', 'integer'] }, b: { const: 'x' } }), 'do_it(a?:integer,b?:x) does it'],
  [
    object({ a: true, b: { type: 'array' }, c: { type: 'object' } }, ['a', 'b', 'c']),
    'do_it(a:string,b:string[],c:object) does it',
  ],
])('the signature of %j is `%s`', (schema, signature) => {
  expect(write([], [tool(schema)])).toBe(`<s><|hf_tools|>0 ${signature}`);
});

test('a description is one line that never looks like the next tool', () => {
  expect(write([], [tool({ type: 'object' }, ' Looks\nit up; slowly. '), tool({ type: 'object' })])).toBe(
    '<s><|hf_tools|>0 do_it() looks it up slowly; 0 do_it() does it',
  );
});

test.each([
  ['Reads a file. Long files come in parts.', 'reads a file'],
  [
    'Finds files by a pattern such as *.md or src/**/*.ts. Skips .git.',
    'finds files by a pattern such as *.md or src/**/*.ts',
  ],
  ['Really? Yes!', 'really'],
  ['Adds numbers, e.g. two of them, or 1.5 and 2.', 'adds numbers, e.g. two of them, or 1.5 and 2'],
  ['PDF to text.', 'PDF to text'],
  ['No end', 'no end'],
  ['', ''],
])('of the description %j, the model sees only the first sentence', (description, seen) => {
  expect(write([], [tool({ type: 'object' }, description)])).toBe(`<s><|hf_tools|>0 do_it() ${seen}`);
});

test('the tools stand between the two copies of the request, the highest-ranked first', () => {
  const named = (name: string, description: string): ToolDeclaration => ({
    ...tool({ type: 'object' }, description),
    name,
  });
  const tools = [named('stop', 'Halts.'), named('draw_map', 'Draws a map.'), named('readMap', 'Reads.')];
  expect(
    write(
      [
        { role: 'user', text: 'stop' },
        { role: 'assistant', text: 'Why?', calls: [] },
        { role: 'user', text: ' Draw the map. ' },
      ],
      tools,
    ),
  ).toBe(
    '<s><|hf_user|>stop<|hf_say|>Why?<|hf_end|><|hf_user|>Draw the map.' +
      '<|hf_tools|>3 draw_map() draws a map; 1 readMap() reads; 0 stop() halts<|hf_user|>Draw the map.',
  );
});

test('a conversation of several steps', () => {
  const call = (id: string, given: unknown) => ({ id, name: 'do_it', arguments: given });
  const result = (callId: string, text: string, success = true): Message => ({
    role: 'tool',
    callId,
    name: 'do_it',
    success,
    text,
  });
  expect(
    write([
      { role: 'system', text: 'You know maps.' },
      { role: 'user', text: 'Do it.\n' },
      { role: 'assistant', text: '', calls: [call('1', '{ "a": 1 }')] },
      result('1', '{ "owner": "k327" }'),
      { role: 'assistant', text: '', calls: [call('2', { b: [true] })] },
      result('2', 'Denied: not today. Ask again tomorrow.', false),
      { role: 'assistant', text: 'That did not work.', calls: [] },
      { role: 'user', text: 'Again' },
      { role: 'assistant', text: 'Yes.', calls: [call('3', 'broken')] },
      result('3', 'plain text'),
      result('4', '[1]'),
      result('5', '7'),
      result('6', '"told"'),
      result('7', 'null'),
    ]),
  ).toBe(
    '<s><|hf_user|>Do it.<|hf_call|>{"name":"do_it","arguments":{"a":1}}<|hf_end|><|hf_result|>{"owner":"k327"}' +
      '<|hf_call|>{"name":"do_it","arguments":{"b":[true]}}<|hf_end|><|hf_result|>{"error":"Denied: not today"}' +
      '<|hf_say|>That did not work.<|hf_end|><|hf_user|>Again<|hf_tools|><|hf_user|>Again' +
      '<|hf_say|>Yes.<|hf_end|><|hf_call|>{"name":"do_it","arguments":"broken"}<|hf_end|>' +
      '<|hf_result|>{"text":"plain text"}<|hf_result|>{"items":[1]}<|hf_result|>{"result":7}<|hf_result|>{"text":"told"}' +
      '<|hf_result|>{"result":null}',
  );
});

test.each([
  ['x'.repeat(401), true, `{"text":"${'x'.repeat(400)}..."}`],
  ['x'.repeat(400), true, `{"text":"${'x'.repeat(400)}"}`],
  [`{"a":"${'x'.repeat(400)}"}`, true, `{"text":"{\\"a\\":\\"${'x'.repeat(394)}..."}`],
  [`${'x'.repeat(399)}😀`, false, `{"error":"${'x'.repeat(399)}\ufffd..."}`],
])('a long result is cut: %s', (text, success, written) => {
  expect(write([{ role: 'tool', callId: '1', name: 'do_it', success, text }])).toBe(
    `<s><|hf_tools|><|hf_result|>${written}`,
  );
});

test('text that looks like a special token stays text', () => {
  expect(tinyFormat.toPrompt([{ role: 'user', text: '<|hf_call|>' }], [])[2]).toBe('<|hf_call|>');
});

test('values are quoted from people and tools, not from the model', () => {
  const messages = [
    { role: 'user', text: ' Where is Ann? ' },
    { role: 'assistant', text: 'Somewhere.', calls: [{ id: '1', name: 'find', arguments: '{}' }] },
    { role: 'tool', callId: '1', name: 'find', text: 'room 4', success: true },
  ] as const;
  expect(tinyFormat.quotedTexts?.(messages)).toEqual(['Where is Ann?', '{"text":"room 4"}']);
});

test.each<[text: string, call: ReturnType<typeof tinyFormat.readCall>]>([
  ['{"name":"do_it","arguments":{"a":1}}', { name: 'do_it', arguments: '{"a":1}' }],
  [' { "name" : "do_it" , "arguments" : {} } ', { name: 'do_it', arguments: '{} ' }],
  ['{"name":"do_it","arguments":{"a":', { name: 'do_it', arguments: '{"a":' }],
  ['{"name":"do_it"}', undefined],
  ['{"arguments":{},"name":"do_it"}', undefined],
  ['I have no tool for that.', undefined],
  ['', undefined],
])('`%s` is read as a call: %j', (text, call) => {
  expect(tinyFormat.readCall(text)).toEqual(call);
});

test('a call is written as its name, then its arguments', () => {
  const schema = tinyFormat.toCallSchema(tool({ type: 'object' }));
  expect(schema).toEqual({
    type: 'object',
    properties: { name: { const: 'do_it' }, arguments: { type: 'object' } },
    required: ['name', 'arguments'],
    additionalProperties: false,
  });
  expect(Object.keys(schema['properties'] ?? {})).toEqual(['name', 'arguments']);
});

test('the weights are a GGUF file of a few megabytes', async () => {
  const file = await readFile(tinyModelUrl);
  expect(file.subarray(0, 4).toString()).toBe('GGUF');
  expect(file.length).toBeLessThan(16 * 1024 * 1024);
});
