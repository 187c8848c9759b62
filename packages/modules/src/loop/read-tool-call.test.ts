import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readToolCall } from './read-tool-call.ts';

const call = { name: 'get_gold', args: { of: 'player' } };
const text = JSON.stringify(call);
const one = { type: 'calls', calls: [call] };
const bare = { type: 'calls', calls: [{ name: 'get_gold', args: {} }] };
const two = { type: 'calls', calls: [call, { name: 'look', args: {} }] };

test.each<{ readonly what: string; readonly value: unknown }>([
  { what: 'nothing', value: undefined },
  { what: 'null', value: null },
  { what: 'an empty text', value: '' },
  { what: 'blanks', value: ' \n\t' },
  { what: 'the text null', value: 'null' },
  { what: 'the text null with blanks', value: ' null\n' },
  { what: 'the text None', value: 'None' },
  { what: 'the text NULL', value: 'NULL' },
  { what: 'an empty object', value: {} },
  { what: 'an empty list', value: [] },
  { what: 'the text of an empty object', value: '{}' },
  { what: 'the text of an empty list', value: '[]' },
  { what: 'the JSON text of null, twice', value: '"null"' },
  { what: 'the JSON text of an empty text', value: '""' },
  { what: 'null in a fence', value: '```json\nnull\n```' },
  { what: 'an empty list in a fence', value: '```\n[]\n```' },
  { what: 'a list of empty items', value: [null, {}, '', 'None'] },
  { what: 'no tool calls', value: { tool_calls: [] } },
  { what: 'null as tool calls', value: { tool_calls: null } },
  { what: 'the text of no tool calls', value: '{"tool_calls":[]}' },
])('$what means no call', ({ value }) => {
  expect(readToolCall(value)).toEqual({ type: 'none' });
});

const openAi = { id: 'call_9', type: 'function', function: { name: 'get_gold', arguments: '{"of":"player"}' } };
const anthropic = { type: 'tool_use', id: 'toolu_1', name: 'get_gold', input: { of: 'player' } };

test.each<{ readonly what: string; readonly value: unknown; readonly read: unknown }>([
  { what: 'an object', value: call, read: one },
  { what: '`arguments` for `args`', value: { name: 'get_gold', arguments: { of: 'player' } }, read: one },
  { what: 'JSON text', value: text, read: one },
  { what: 'JSON text with blanks', value: `\n  ${text}\n`, read: one },
  { what: 'JSON text in a fence', value: `\`\`\`json\n${text}\n\`\`\``, read: one },
  { what: 'JSON text in a fence without a language', value: `\`\`\`\n${text}\n\`\`\``, read: one },
  { what: 'JSON in a JSON string', value: JSON.stringify(text), read: one },
  { what: 'a list', value: [call, { name: 'look', args: {} }], read: two },
  { what: 'the text of a list', value: JSON.stringify([call, { name: 'look' }]), read: two },
  { what: 'a list of texts', value: [text, '{"name":"look"}'], read: two },
  { what: 'a list with some empty items', value: [null, call, {}, { name: 'look' }], read: two },
  { what: '`tool_calls`', value: { tool_calls: [call, { name: 'look' }] }, read: two },
  { what: 'the text of `tool_calls`', value: JSON.stringify({ tool_calls: [call] }), read: one },
  { what: '`tool_calls` as text', value: { tool_calls: JSON.stringify([call]) }, read: one },
  { what: '`tool_calls` as a single call', value: { tool_calls: call }, read: one },
  {
    what: 'a call of OpenAI',
    value: openAi,
    read: { type: 'calls', calls: [{ id: 'call_9', name: 'get_gold', args: '{"of":"player"}' }] },
  },
  {
    what: 'a message of OpenAI',
    value: { role: 'assistant', content: null, tool_calls: [openAi] },
    read: { type: 'calls', calls: [{ id: 'call_9', name: 'get_gold', args: '{"of":"player"}' }] },
  },
  {
    what: 'a call of OpenAI without arguments',
    value: { function: { name: 'get_gold', arguments: '' } },
    read: bare,
  },
  { what: 'a call of Anthropic', value: [anthropic], read: { type: 'calls', calls: [{ id: 'toolu_1', ...call }] } },
  { what: 'no args', value: { name: 'get_gold' }, read: bare },
  { what: 'null as args', value: { name: 'get_gold', args: null }, read: bare },
  { what: 'null as text as args', value: { name: 'get_gold', args: 'null' }, read: bare },
  { what: '`input` outside of an Anthropic call', value: { name: 'get_gold', input: { of: 'x' } }, read: bare },
  { what: 'args and arguments that are the same', value: { ...call, arguments: { of: 'player' } }, read: one },
  { what: 'args with null as arguments', value: { ...call, arguments: null }, read: one },
  { what: 'a name with blanks', value: { name: ' get_gold\n' }, read: bare },
  {
    what: 'an id',
    value: { id: 'mine', name: 'get_gold' },
    read: { type: 'calls', calls: [{ id: 'mine', name: 'get_gold', args: {} }] },
  },
  { what: 'an id that is not text', value: { id: 5, name: 'get_gold' }, read: bare },
  { what: 'an id that is too long', value: { id: 'x'.repeat(201), name: 'get_gold' }, read: bare },
  // Left to the call path.
  {
    what: 'args that are a list',
    value: { name: 'a', args: [1] },
    read: { type: 'calls', calls: [{ name: 'a', args: [1] }] },
  },
  {
    what: 'args that are text',
    value: { name: 'a', args: 'oops' },
    read: { type: 'calls', calls: [{ name: 'a', args: 'oops' }] },
  },
  {
    what: 'an unknown name',
    value: { name: '__proto__', args: {} },
    read: { type: 'calls', calls: [{ name: '__proto__', args: {} }] },
  },
])('reads $what', ({ value, read }) => {
  expect(readToolCall(value)).toEqual(read);
});

test.each<{ readonly what: string; readonly value: unknown; readonly message: RegExp }>([
  { what: 'a number', value: 5, message: /^it is a number, not an object$/ },
  { what: 'a boolean', value: true, message: /^it is a boolean/ },
  { what: 'false', value: false, message: /^it is a boolean/ },
  { what: 'a list of a number', value: [1], message: /^it is a number/ },
  { what: 'a list of lists', value: [[call]], message: /^it is a list/ },
  { what: 'the text of a number', value: '5', message: /^it is a number/ },
  { what: 'words', value: 'get_gold please', message: /^it is not JSON/ },
  { what: 'words in a fence', value: '```\nget_gold\n```', message: /^it is not JSON/ },
  { what: 'an unclosed fence', value: `\`\`\`json\n${text}`, message: /^it is not JSON/ },
  { what: 'truncated JSON', value: text.slice(0, -2), message: /^it is not JSON/ },
  { what: 'triply encoded text', value: JSON.stringify(JSON.stringify(text)), message: /encoded more than twice/ },
  { what: 'args without a name', value: { args: {} }, message: /^it has no `name`$/ },
  { what: 'null as a name', value: { name: null, args: {} }, message: /^it has no `name`$/ },
  { what: 'an empty name', value: { name: ' ' }, message: /^its `name` is empty$/ },
  { what: 'a number as a name', value: { name: 7 }, message: /^its `name` is a number, not text$/ },
  { what: 'an object as a name', value: { name: {} }, message: /^its `name` is an object/ },
  { what: 'a function without a name', value: { function: { arguments: '{}' } }, message: /no `name`/ },
  {
    what: 'args and arguments that differ',
    value: { ...call, arguments: { of: 'me' } },
    message: /^the call of `get_gold` has both `args` and `arguments`, and they differ$/,
  },
  { what: 'a duplicate key', value: '{"name":"a","name":"b"}', message: /twice/ },
  { what: '`__proto__` in text', value: '{"name":"a","args":{"__proto__":1}}', message: /`__proto__`/ },
  { what: '`__proto__` in a value', value: JSON.parse('{"name":"a","args":{"__proto__":1}}'), message: /__proto__/ },
  { what: 'a function', value: () => 1, message: /of type function/ },
  { what: 'an instance of a class', value: new Date(0), message: /not a plain object/ },
  { what: 'a number that is not JSON', value: { name: 'a', args: { n: Number.NaN } }, message: /NaN/ },
  { what: '`tool_calls` as prose', value: { tool_calls: 'soon' }, message: /^it is not JSON/ },
])('rejects $what', ({ value, message }) => {
  expect(readToolCall(value)).toEqual({ type: 'invalid', message: expect.stringMatching(message) });
});

test('valid calls are read, and the first invalid one is reported', () => {
  expect(readToolCall([call, 5, { args: {} }, { name: 'look' }])).toEqual({
    ...two,
    problem: 'it is a number, not an object',
  });
});

test('any object with a name is a call', () => {
  expect(readToolCall({ ...call, tool_calls: [1] })).toEqual(one);
});

test('quickly rejects excessive depth, length and numbers of keys', () => {
  let deep: unknown = {};
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  const many = Array.from({ length: 10_001 }, () => ({ name: 'a' }));
  for (const value of [deep, { name: 'a', args: deep }, many, JSON.stringify(many), 'x'.repeat(5_000_000)])
    expect(readToolCall(value).type).toBe('invalid');
  const calls = readToolCall(many.slice(0, 10_000));
  expect(calls).toMatchObject({ type: 'calls' });
  expect(calls.type === 'calls' && calls.calls.length).toBe(10_000);
});

test('getters and proxies are read once, and an error that they throw is an unreadable call', () => {
  let looks = 0;
  const counting = {
    get name() {
      looks += 1;
      return looks === 1 ? 'get_gold' : 'other';
    },
  };
  expect(readToolCall(counting)).toEqual(bare);
  expect(looks).toBe(1);
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  for (const value of [
    proxy,
    {
      get name() {
        throw new Error('no');
      },
    },
  ])
    expect(readToolCall(value).type).toBe('invalid');
});

test('property: never throws, names are text, and reading is idempotent', () => {
  const shape = fc.letrec((tie) => ({
    call: fc.record(
      {
        name: fc.oneof(fc.string(), fc.constantFrom('a', '__proto__', 'null'), fc.jsonValue()),
        args: fc.jsonValue(),
        arguments: fc.jsonValue(),
        input: fc.jsonValue(),
        type: fc.constantFrom('tool_use', 'function', 'text'),
        id: fc.oneof(fc.string(), fc.integer()),
        function: fc.oneof({ depthSize: 'small' }, fc.string(), tie('call')),
        tool_calls: fc.oneof({ depthSize: 'small' }, fc.string(), fc.array(tie('call'), { maxLength: 3 })),
      },
      { requiredKeys: [] },
    ),
    any: fc.oneof(
      fc.anything(),
      fc.jsonValue(),
      tie('call'),
      fc.array(tie('call'), { maxLength: 4 }),
      fc.string(),
      tie('call').map((value) => JSON.stringify(value)),
      tie('call').map((value) => `\`\`\`json\n${JSON.stringify(value)}\n\`\`\``),
      tie('call').map((value) => JSON.stringify(JSON.stringify(value))),
    ),
  }));
  fc.assert(
    fc.property(shape.any, (value) => {
      const reading = readToolCall(value);
      if (reading.type !== 'calls') return;
      expect(reading.calls.length).toBeGreaterThan(0);
      for (const { name } of reading.calls) expect(name.trim()).toBe(name);
      expect(readToolCall(reading.calls)).toEqual({ type: 'calls', calls: reading.calls });
    }),
    { numRuns: 80 },
  );
});
