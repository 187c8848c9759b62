import type { Message, Model, ModelRequest } from '@holdfast/core';
import { expect, test } from 'vitest';
import { describeResults, printResults } from './printed-results.ts';

type ToolMessage = Extract<Message, { readonly role: 'tool' }>;

const result = (text: string, changes: Partial<ToolMessage> = {}): ToolMessage => ({
  role: 'tool',
  callId: '1',
  name: 'look',
  success: true,
  text,
  ...changes,
});

test.each<readonly [string, string, string]>([
  ['text', 'Oslo: 7 degrees\nand clear', 'Oslo: 7 degrees\nand clear'],
  ['a number', '1111', '1111'],
  ['a number of many digits', '12345678901234567891', '12345678901234567891'],
  ['a text in JSON', '"Lima"', 'Lima'],
  ['an object', '{"wind":7,"sky":"clear","rain":null}', 'wind: 7\nsky: clear\nrain:'],
  ['a list', '["a","b"]', '- a\n- b'],
  ['rows', '[{"file":"a","line":3},{"file":"b","line":4}]', '- file: a, line: 3\n- file: b, line: 4'],
  ['what is nested', '{"at":{"city":"Lima"},"days":[[1,2]]}', 'at:\n  city: Lima\ndays:\n  - - 1\n    - 2'],
  ['an empty list', '{"matches":[]}', 'matches:\n  (none)'],
  ['a sentence before a value', 'Found 2.\n\n["a","b"]', 'Found 2.\n- a\n- b'],
  ['a text of paragraphs', 'One.\n\nTwo.', 'One.\n\nTwo.'],
  ['nothing', '', '`look` succeeded without output.'],
  ['incomplete JSON', '{"a":', '{"a":'],
])('%s', (_, text, shown) => {
  expect(describeResults([result(text)])).toBe(shown);
});

test('a failure with its reason', () => {
  expect(describeResults([result('Denied: nobody was asked.', { success: false })])).toBe(
    '`look` failed: Denied: nobody was asked.',
  );
  expect(describeResults([result('', { success: false })])).toBe('`look` failed: no reason given');
});

test('several results are named', () => {
  expect(describeResults([result('7'), result('no', { name: 'wipe', success: false })])).toBe(
    '`look`:\n7\n\n`wipe` failed: no',
  );
});

test.each([
  ['lines', 'x\n'.repeat(200)],
  ['characters', 'é'.repeat(20_000)],
])('too many %s are cut, with a note', (_, text) => {
  const shown = describeResults([result(text)]);
  expect(shown).toMatch(/\n… \d+ more characters$/);
  expect(shown.length).toBeLessThan(6_100);
});

/** A model that returns the role of the last message. */
const model: Model = {
  id: 'small',
  async *stream({ messages }) {
    yield { type: 'text-delta', text: `asked after ${messages.at(-1)?.role}` };
    yield { type: 'finish', reason: 'stop' };
  },
};

async function read(messages: readonly Message[], changes: Partial<ModelRequest> = {}): Promise<string> {
  const request = { messages, tools: [], signal: new AbortController().signal, ...changes };
  const texts: string[] = [];
  for await (const event of printResults(model).stream(request))
    if (event.type === 'text-delta') texts.push(event.text);
  return texts.join('');
}

test('D14: the model is asked only for calls; results are printed without it', async () => {
  const user: Message = { role: 'user', text: 'Look.' };
  const asking: Message = { role: 'assistant', text: '', calls: [{ id: '1', name: 'look', arguments: {} }] };
  expect(await read([user])).toBe('asked after user');
  expect(await read([user, asking, result('11')])).toBe('11');
  expect(await read([user, asking, result('11'), asking, result('22')])).toBe('22');
  expect(await read([user, asking, result('11'), user])).toBe('asked after user');
  expect(await read([user, asking, result('11')], { output: { type: 'object' } })).toBe('asked after tool');
});
