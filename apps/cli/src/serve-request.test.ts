import { isHoldfastError, type Message } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ChatRequest, readChatRequest } from './serve-request.ts';

const user = { role: 'user', content: 'Hello' };
const parameters = { type: 'object', properties: { city: { type: 'string' } } };
const weather = { type: 'function', function: { name: 'get_weather', description: 'Looks it up.', parameters } };
const clock = { type: 'function', function: { name: 'get_time' } };
const offered = [
  { name: 'get_weather', description: 'Looks it up.', inputSchema: parameters },
  { name: 'get_time', description: '', inputSchema: { type: 'object', properties: {}, additionalProperties: false } },
];

function read(fields: object): ChatRequest {
  return readChatRequest({ messages: [user], ...fields });
}

function call(id: string, name = 'get_weather', text = '{}'): object {
  return { id, type: 'function', function: { name, arguments: text } };
}

test.each<[what: string, messages: readonly object[], read: readonly Message[]]>([
  [
    'every role',
    [
      { role: 'system', content: 'You know maps.' },
      { role: 'developer', content: 'Be short.' },
      { role: 'user', content: 'Where?', name: 'anna' },
      { role: 'assistant', content: 'There.', refusal: null, annotations: [] },
      user,
    ],
    [
      { role: 'system', text: 'You know maps.' },
      { role: 'system', text: 'Be short.' },
      { role: 'user', text: 'Where?' },
      { role: 'assistant', text: 'There.', calls: [] },
      { role: 'user', text: 'Hello' },
    ],
  ],
  [
    'parts of text',
    [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'One' },
          { type: 'text', text: 'Two' },
        ],
      },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      { role: 'user', content: [] },
    ],
    [
      { role: 'user', text: 'One\nTwo' },
      { role: 'assistant', text: 'No.', calls: [] },
      { role: 'user', text: '' },
    ],
  ],
  [
    'calls and their results, in any order',
    [
      user,
      { role: 'assistant', content: null, tool_calls: [call('1', 'get_weather', '{"city":'), call('2', 'get_time')] },
      { role: 'tool', tool_call_id: '2', content: 'noon' },
      { role: 'tool', tool_call_id: '1', content: [{ type: 'text', text: 'Denied.' }] },
      { role: 'assistant', tool_calls: null },
    ],
    [
      { role: 'user', text: 'Hello' },
      {
        role: 'assistant',
        text: '',
        calls: [
          { id: '1', name: 'get_weather', arguments: '{"city":' },
          { id: '2', name: 'get_time', arguments: '{}' },
        ],
      },
      { role: 'tool', callId: '2', name: 'get_time', success: true, text: 'noon' },
      { role: 'tool', callId: '1', name: 'get_weather', success: true, text: 'Denied.' },
      { role: 'assistant', text: '', calls: [] },
    ],
  ],
])('messages: %s', (_, messages, wanted) => {
  expect(readChatRequest({ messages }).asked.messages).toEqual(wanted);
});

test('what is left out, or null', () => {
  const plain = {
    model: undefined,
    asked: { messages: [{ role: 'user', text: 'Hello' }], tools: [], output: undefined, maxTokens: undefined },
    mustCall: false,
    onlyOneCall: false,
    stream: false,
    includeUsage: false,
  };
  expect(read({})).toEqual(plain);
  const names = ['model', 'tools', 'tool_choice', 'response_format', 'stream', 'stream_options', 'max_tokens', 'stop'];
  expect(read(Object.fromEntries([...names, 'nobody_knows_it'].map((name) => [name, null])))).toEqual(plain);
});

test.each<[fields: object, read: Partial<ChatRequest['asked']>, rest: Partial<ChatRequest>]>([
  [{ tools: [weather, clock] }, { tools: offered }, { mustCall: false, onlyOneCall: false }],
  [{ tools: [weather], tool_choice: 'auto', parallel_tool_calls: true }, { tools: offered.slice(0, 1) }, {}],
  [{ tools: [weather, clock], tool_choice: 'none' }, { tools: [] }, { mustCall: false }],
  [{ tool_choice: 'none' }, { tools: [] }, { mustCall: false }],
  [{ tools: [weather, clock], tool_choice: 'required' }, { tools: offered }, { mustCall: true }],
  [
    { tools: [weather, clock], tool_choice: { type: 'function', function: { name: 'get_time' } } },
    { tools: offered.slice(1) },
    { mustCall: true },
  ],
  [{ tools: [weather], parallel_tool_calls: false }, { tools: offered.slice(0, 1) }, { onlyOneCall: true }],
  [
    { tools: [{ type: 'function', function: { name: 'a', parameters: {}, strict: true } }] },
    { tools: [{ name: 'a', description: '', inputSchema: { type: 'object' } }] },
    {},
  ],
  [{ response_format: { type: 'text' } }, { output: undefined }, {}],
  [{ response_format: { type: 'json_object' } }, { output: { type: 'object' } }, {}],
  [
    { response_format: { type: 'json_schema', json_schema: { name: 'a', strict: true, schema: parameters } } },
    { output: parameters },
    {},
  ],
  [{ max_tokens: 5 }, { maxTokens: 5 }, {}],
  [{ max_tokens: 5, max_completion_tokens: 7 }, { maxTokens: 7 }, {}],
  [{ model: 'local', stream: true }, {}, { model: 'local', stream: true, includeUsage: false }],
  [{ stream: true, stream_options: { include_usage: true } }, {}, { stream: true, includeUsage: true }],
  [{ stream: true, stream_options: { include_obfuscation: false } }, {}, { includeUsage: false }],
  [{ temperature: 0.7, top_p: 1, seed: 3, user: 'anna', metadata: { a: 'b' }, reasoning_effort: 'low' }, {}, {}],
  [{ n: 1, stop: [], logprobs: false, logit_bias: {}, modalities: ['text'], functions: [] }, {}, {}],
])('%j', (fields, asked, rest) => {
  const request = read(fields);
  expect(request).toMatchObject(rest);
  expect(request.asked).toMatchObject(asked);
});

const noSuchFunction = { type: 'function', function: { name: 'none' } };

test.each<[fields: object, param: string, part?: string]>([
  [{ messages: undefined }, 'messages', 'must be a list, got nothing'],
  [{ messages: [] }, 'messages', 'is empty'],
  [{ messages: ['Hello'] }, 'messages[0]', 'must be an object, got a string'],
  [{ messages: [user, { role: 'robot', content: 'x' }] }, 'messages[1].role'],
  [{ messages: [{ content: 'x' }] }, 'messages[0].role', 'got nothing'],
  [{ messages: [{ role: 'user' }] }, 'messages[0].content'],
  [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content', 'got a number'],
  [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages[0].content[0].text'],
  [{ messages: [{ role: 'user', content: [{ text: 'x' }] }] }, 'messages[0].content[0].type'],
  [{ messages: [{ role: 'assistant', tool_calls: {} }] }, 'messages[0].tool_calls', 'must be a list, got an object'],
  [{ messages: [{ role: 'assistant', tool_calls: [{ id: '1' }] }] }, 'messages[0].tool_calls[0].type'],
  [{ messages: [{ role: 'assistant', tool_calls: [call('')] }] }, 'messages[0].tool_calls[0].id'],
  [{ messages: [{ role: 'assistant', tool_calls: [call('1'), call('1')] }] }, 'messages[0].tool_calls[1].id'],
  [
    {
      messages: [
        { role: 'assistant', tool_calls: [{ id: '1', type: 'function', function: { name: 'a', arguments: {} } }] },
      ],
    },
    'messages[0].tool_calls[0].function.arguments',
    'must be a string, got an object',
  ],
  [{ messages: [{ role: 'assistant', tool_calls: [call('1')] }] }, 'messages', '"1"'],
  [{ messages: [{ role: 'assistant', tool_calls: [call('1')] }, user] }, 'messages[1]', 'no answer'],
  [{ messages: [user, { role: 'tool', tool_call_id: '1', content: '' }] }, 'messages[1].tool_call_id'],
  [{ messages: [{ role: 'tool', tool_call_id: 'constructor', content: '' }] }, 'messages[0].tool_call_id'],
  [{ tools: {} }, 'tools'],
  [{ tools: [{ type: 'function' }] }, 'tools[0].function'],
  [{ tools: [{ type: 'function', function: { name: 'two words' } }] }, 'tools[0].function.name'],
  [{ tools: [{ type: 'function', function: { name: '__proto__' } }] }, 'tools[0].function.name'],
  [{ tools: [{ type: 'function', function: { name: 'constructor' } }] }, 'tools[0].function.name'],
  [{ tools: [{ type: 'function', function: { name: 'a', description: 3 } }] }, 'tools[0].function.description'],
  [{ tools: [{ type: 'function', function: { name: 'a', parameters: true } }] }, 'tools[0].function.parameters'],
  [
    { tools: [{ type: 'function', function: { name: 'a', parameters: { type: 'array' } } }] },
    'tools[0].function.parameters.type',
  ],
  [{ tools: [weather, weather] }, 'tools[1].function.name', 'two functions `get_weather`'],
  [{ tool_choice: 'required' }, 'tool_choice'],
  [{ tools: [weather], tool_choice: 'sometimes' }, 'tool_choice'],
  [{ tools: [weather], tool_choice: noSuchFunction }, 'tool_choice.function.name'],
  [{ tools: [weather], tool_choice: { type: 'function' } }, 'tool_choice.function'],
  [{ parallel_tool_calls: 'no' }, 'parallel_tool_calls'],
  [{ response_format: 'json' }, 'response_format'],
  [{ response_format: { type: 'xml' } }, 'response_format.type'],
  [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
  [{ response_format: { type: 'json_schema', json_schema: {} } }, 'response_format.json_schema.schema'],
  [
    { response_format: { type: 'json_schema', json_schema: { schema: { type: 'string' } } } },
    'response_format.json_schema.schema.type',
  ],
  [{ max_tokens: 0 }, 'max_tokens'],
  [{ max_completion_tokens: 1.5 }, 'max_completion_tokens'],
  [{ stream: 'yes' }, 'stream', 'true or false'],
  [{ stream_options: {} }, 'stream_options'],
  [{ stream: true, stream_options: { include_usage: 1 } }, 'stream_options.include_usage'],
  [{ model: 5 }, 'model'],
])('`serve.request_invalid`: %j', (fields, param, part = '') => {
  expect(failureOf({ messages: [user], ...fields })).toMatchObject({
    code: 'serve.request_invalid',
    data: { param },
    message: expect.stringContaining(part),
  });
});

test.each<[body: unknown]>([[null], [[]], ['text'], [5]])('`serve.request_invalid`: the body is %j', (body) => {
  expect(failureOf(body)).toMatchObject({ code: 'serve.request_invalid', data: { param: 'body' } });
});

test.each<[fields: object, param: string]>([
  [{ messages: [{ role: 'function', name: 'a', content: 'x' }] }, 'messages[0].role'],
  [{ messages: [{ role: 'assistant', function_call: { name: 'a' } }] }, 'messages[0].function_call'],
  [{ messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }, 'messages[0].content[0].type'],
  [{ tools: [{ type: 'web_search' }] }, 'tools[0].type'],
  [{ tools: [weather], tool_choice: { type: 'allowed_tools' } }, 'tool_choice.type'],
  [{ n: 2 }, 'n'],
  [{ stop: ['\n'] }, 'stop'],
  [{ logprobs: true }, 'logprobs'],
  [{ top_logprobs: 2 }, 'top_logprobs'],
  [{ logit_bias: { 50256: -100 } }, 'logit_bias'],
  [{ modalities: ['text', 'audio'] }, 'modalities'],
  [{ audio: {} }, 'audio'],
  [{ web_search_options: {} }, 'web_search_options'],
  [{ functions: [{ name: 'a' }] }, 'functions'],
  [{ function_call: 'auto' }, 'function_call'],
])('`serve.parameter_unsupported`: %j', (fields, param) => {
  expect(failureOf({ messages: [user], ...fields })).toMatchObject({
    code: 'serve.parameter_unsupported',
    data: { param },
  });
});

test.each(['respone_format', 'constructor', 'toString', ''])('`serve.parameter_unknown`: %s', (name) => {
  const body = { messages: [user], [name]: 1 };
  expect(failureOf(body)).toMatchObject({ code: 'serve.parameter_unknown', data: { param: name } });
});

const valid = {
  messages: [
    user,
    { role: 'assistant', content: null, tool_calls: [call('1')] },
    { role: 'tool', tool_call_id: '1', content: 'x' },
  ],
  tools: [weather],
  tool_choice: 'auto',
  response_format: { type: 'json_schema', json_schema: { schema: parameters } },
  stream: true,
  stream_options: { include_usage: true },
};

/** Places of everything in a value. */
function placesIn(value: unknown): readonly (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [[]];
  return [[], ...Object.entries(value).flatMap(([key, item]) => placesIn(item).map((place) => [key, ...place]))];
}

function put(value: unknown, [key, ...rest]: readonly (string | number)[], other: unknown): unknown {
  if (key === undefined) return other;
  const copy: Record<string | number, unknown> = Object.assign(Array.isArray(value) ? [] : {}, value);
  copy[key] = put(copy[key], rest, other);
  return Array.isArray(value) ? Object.values(copy) : copy;
}

test('whatever stands anywhere in a body, it is read or refused', () => {
  expect(failureOf(valid)).toBeUndefined();
  const json = fc.jsonValue({ noUnicodeString: false });
  const body = fc.tuple(fc.constantFrom(...placesIn(valid)), json).map(([place, other]) => put(valid, place, other));
  fc.assert(
    fc.property(fc.oneof(json, body), (given) => {
      const failure = failureOf(given);
      expect(failure === undefined || /^serve\.(?:request|parameter)_/.test(failure.code)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

function failureOf(body: unknown) {
  try {
    readChatRequest(body);
  } catch (thrown) {
    if (isHoldfastError(thrown)) return thrown;
    throw thrown;
  }
  return undefined;
}
