import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseScript } from './parse-script.ts';

const turns = [
  {
    text: 'Looking.',
    calls: [{ id: 'c1', name: 'echo', arguments: { q: 'hi' } }],
    usage: { inputTokens: 1, outputTokens: 2 },
  },
  { calls: [{ name: 'echo', arguments: '{"q":' }], finish: 'length' },
  { text: 'Done.' },
];

test('reads the list of turns, bare or in an object', () => {
  expect(parseScript(JSON.stringify({ turns }), 'demo.json')).toEqual(turns);
  expect(parseScript(JSON.stringify(turns), 'demo.json')).toEqual(turns);
  expect(parseScript('[]', 'demo.json')).toEqual([]);
});

test('a turn may throw', () => {
  expect(parseScript('[{ "throw": "overloaded" }]', 'demo.json')).toEqual([{ throw: new Error('overloaded') }]);
});

test.each([
  { text: '', place: 'script' },
  { text: '{ "turns": [', place: 'script' },
  { text: '7', place: 'script' },
  { text: '{}', place: 'turns' },
  { text: '{ "turns": {} }', place: 'turns' },
  { text: '{ "turns": [], "model": "x" }', place: 'script.model' },
  { text: '{ "__proto__": { "turns": [] } }', place: 'script.__proto__' },
  { text: '["hello"]', place: 'turns[0]' },
  { text: '[{ "txt": "hello" }]', place: 'turns[0].txt' },
  { text: '[{}, { "text": 1 }]', place: 'turns[1].text' },
  { text: '[{ "text": null }]', place: 'turns[0].text' },
  { text: '[{ "calls": "echo" }]', place: 'turns[0].calls' },
  { text: '[{ "calls": [{ "arguments": {} }] }]', place: 'turns[0].calls[0].name' },
  { text: '[{ "calls": [{ "name": "echo" }] }]', place: 'turns[0].calls[0].arguments' },
  { text: '[{ "calls": [{ "id": 1, "name": "echo", "arguments": {} }] }]', place: 'turns[0].calls[0].id' },
  { text: '[{ "finish": "done" }]', place: 'turns[0].finish' },
  { text: '[{ "usage": { "inputTokens": -1, "outputTokens": 0 } }]', place: 'turns[0].usage.inputTokens' },
  { text: '[{ "usage": { "inputTokens": 1 } }]', place: 'turns[0].usage.outputTokens' },
  { text: '[{ "throw": 1 }]', place: 'turns[0].throw' },
  { text: '[{ "throw": "x", "text": "y" }]', place: 'turns[0]' },
])('$text is script.invalid at $place', ({ text, place }) => {
  expect(() => parseScript(text, 'demo.json')).toThrow(
    expect.objectContaining({
      code: 'script.invalid',
      message: expect.stringContaining('demo.json'),
      data: { source: 'demo.json', place },
    }),
  );
});

test('any JSON is read unchanged, or rejected as script.invalid', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      try {
        expect(JSON.stringify(parseScript(text, 'any.json'))).toBe(JSON.stringify(JSON.parse(text)));
      } catch (error) {
        expect(error).toMatchObject({ code: 'script.invalid' });
      }
    }),
  );
});
