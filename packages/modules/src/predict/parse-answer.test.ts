import type { JsonObject } from '@holdfast/core';
import { jsonSchema } from '@holdfast/schema/json';
import { expect, test } from 'vitest';
import { defineSignature, type SignatureField } from '../signature/signature.ts';
import { type ParsedAnswer, parseAnswer } from './parse-answer.ts';

function outputs(
  properties: JsonObject,
  required: readonly string[] = Object.keys(properties),
  definitions: JsonObject = {},
): readonly SignatureField[] {
  return defineSignature({
    name: 'test',
    inputSchema: jsonSchema({ type: 'object', properties: {} }),
    outputSchema: jsonSchema({ type: 'object', properties, required, $defs: definitions }),
  }).outputs;
}

const text = { type: 'string' };
/** The fields of section 15 of the cases. */
const chat = outputs({ a: { type: 'integer' }, b: { type: 'boolean' }, c: { type: 'array', items: text }, d: text });
const answer = outputs({ answer: text });
const scored = outputs({ answer: text, score: { type: 'integer' } });
const optional = outputs({ answer: text, score: { type: 'integer' }, note: text }, ['answer']);
const nullable = outputs({ answer: { anyOf: [text, { type: 'null' }] } });
const reasoned = outputs({ reasoning: text, next_tool_name: text });
const merchant = outputs(
  {
    response: text,
    tool_call: {
      type: 'object',
      properties: { name: text, args: { type: 'object', additionalProperties: true } },
      required: ['name'],
    },
  },
  ['response'],
);
const town = outputs({ town: { $ref: '#/$defs/town' } }, ['town'], {
  town: { type: 'object', properties: { name: text, twin: { $ref: '#/$defs/town' } }, required: ['name'] },
});
const fence = '```';
const end = '[[ ## completed ## ]]';

/** The expected result: values, and everything else. */
type Expected = { readonly [field: string]: unknown };

interface Row {
  readonly what: string;
  readonly fields: readonly SignatureField[];
  readonly text: string;
  readonly values: Expected;
  readonly missing?: readonly string[];
  readonly problems?: readonly string[];
}

const headers: readonly Row[] = [
  {
    what: 'all fields in order',
    fields: chat,
    text: `[[ ## a ## ]]\n1\n\n[[ ## b ## ]]\ntrue\n\n[[ ## c ## ]]\n["x", "y"]\n\n[[ ## d ## ]]\nsome text\n\n${end}`,
    values: { a: 1, b: true, c: ['x', 'y'], d: 'some text' },
  },
  {
    what: 'no end marker (CHT-2)',
    fields: scored,
    text: '[[ ## answer ## ]]\nParis\n\n[[ ## score ## ]]\n5',
    values: { answer: 'Paris', score: 5 },
  },
  {
    what: 'text before the first header, an unknown field (CHT-4)',
    fields: scored,
    text: `Sure, here you go.\n\n[[ ## answer ## ]]\nParis\n\n[[ ## confidence ## ]]\nvery high\n\n[[ ## score ## ]]\n5\n${end}`,
    values: { answer: 'Paris', score: 5 },
  },
  {
    what: 'yes and 1.0 (CHT-6)',
    fields: chat,
    text: '[[ ## a ## ]]\n1.0\n[[ ## b ## ]]\nyes\n[[ ## c ## ]]\n[]\n[[ ## d ## ]]\nd',
    values: { a: 1, b: true, c: [], d: 'd' },
  },
  {
    what: 'a missing field (CHT-8)',
    fields: chat,
    text: `[[ ## a ## ]]\n1\n[[ ## d ## ]]\nd\n${end}`,
    values: { a: 1, d: 'd' },
    missing: ['b', 'c'],
  },
  { what: 'null (CHT-10)', fields: nullable, text: `[[ ## answer ## ]]\nnull\n\n${end}`, values: { answer: null } },
  { what: 'None for null', fields: nullable, text: `[[ ## answer ## ]]\nNone\n\n${end}`, values: { answer: null } },
  { what: 'null for text', fields: answer, text: `[[ ## answer ## ]]\nnull\n\n${end}`, values: { answer: 'null' } },
  {
    what: 'another order',
    fields: scored,
    text: '[[ ## score ## ]]\n5\n[[ ## answer ## ]]\nParis',
    values: { answer: 'Paris', score: 5 },
  },
  {
    what: 'less space in the brackets',
    fields: scored,
    text: '[[##answer##]]\nParis\n[[ ##score## ]]\n5',
    values: { answer: 'Paris', score: 5 },
  },
  {
    what: 'more space and other signs',
    fields: scored,
    text: '  [[  #  answer  #  ]]\nParis\n\t[[ ### score ### ]]\n5',
    values: { answer: 'Paris', score: 5 },
  },
  {
    what: 'names in another case, the end too',
    fields: scored,
    text: '[[ ## Answer ## ]]\nParis\n[[ ## SCORE ## ]]\n5\n[[ ## COMPLETED ## ]]',
    values: { answer: 'Paris', score: 5 },
  },
  {
    what: 'spaces in place of underscores',
    fields: reasoned,
    text: '[[ ## Reasoning ## ]]\nr\n[[ ## Next Tool Name ## ]]\nfinish',
    values: { reasoning: 'r', next_tool_name: 'finish' },
  },
  {
    what: 'bold headers',
    fields: scored,
    text: '**[[ ## answer ## ]]**\nParis\n\n**[[ ## score ## ]]:**\n5\n\n**[[ ## completed ## ]]**',
    values: { answer: 'Paris', score: 5 },
  },
  {
    what: 'headings and code',
    fields: scored,
    text: '### [[ ## answer ## ]]\nParis\n`[[ ## score ## ]]`\n5',
    values: { answer: 'Paris', score: 5 },
  },
  {
    what: 'names in backticks',
    fields: scored,
    text: '[[ ## `answer` ## ]]\nParis\n[[ ## **score** ## ]]\n5',
    values: { answer: 'Paris', score: 5 },
  },
  {
    what: 'missing brackets and signs',
    fields: scored,
    text: '[ ## answer ## ]\nParis [[score]]\n[score]\n[[ score ]]\n5\n[[ completed ]]\nHope this helps!',
    values: { answer: 'Paris [[score]]\n[score]', score: 5 },
  },
  {
    what: 'signs on one side',
    fields: scored,
    text: '[[ ## answer ]]\n[see](x)\n[[note]]\n**[[ score ## ]]**\n5\n**[[completed]]**',
    values: { answer: '[see](x)\n[[note]]', score: 5 },
  },
  {
    what: 'headers mentioned in prose first',
    fields: scored,
    text: '`[[ ## answer ## ]]` will be the city.\n[[ ## answer ## ]]\nParis\n[[ ## score ## ]]\n5',
    values: { answer: 'Paris', score: 5 },
  },
  {
    what: 'the request, repeated first',
    fields: scored,
    text: `[[ ## answer ## ]]\n{answer}\n\n[[ ## score ## ]]\n{score}\n\n[[ ## answer ## ]]\nParis\n\n[[ ## score ## ]]\n5\n${end}`,
    values: { answer: 'Paris', score: 5 },
  },
  {
    what: 'values on the lines of the headers',
    fields: scored,
    text: `[[ ## answer ## ]] Paris\n[[ ## score ## ]]: 5\n${end}`,
    values: { answer: 'Paris', score: 5 },
  },
  {
    what: 'a value that begins with a colon',
    fields: answer,
    text: '[[ ## answer ## ]] :)',
    values: { answer: ':)' },
  },
  {
    what: 'the end glued to the last value',
    fields: scored,
    text: `[[ ## answer ## ]]\nParis\n[[ ## score ## ]]\n5${end}`,
    values: { answer: 'Paris', score: 5 },
  },
  {
    what: 'the end marker within a line, followed by prose',
    fields: answer,
    text: `[[ ## answer ## ]]\nParis ${end} Hope this helps!`,
    values: { answer: 'Paris' },
  },
  {
    what: 'an invented next turn after the end',
    fields: scored,
    text: `[[ ## answer ## ]]\nParis\n${end}\n\n[[ ## question ## ]]\nAnd Rome?\n[[ ## score ## ]]\n7`,
    values: { answer: 'Paris' },
    missing: ['score'],
  },
  {
    what: 'the end marker mentioned in prose first',
    fields: answer,
    text: `I will end with ${end}.\n[[ ## answer ## ]]\nParis\n${end}`,
    values: { answer: 'Paris' },
  },
  {
    what: 'headers in a fence',
    fields: scored,
    text: `Here:\n${fence}\n[[ ## answer ## ]]\nParis\n\n[[ ## score ## ]]\n5\n${fence}\n`,
    values: { answer: 'Paris', score: 5 },
  },
  {
    what: 'headers in a fence with a mark, with their end',
    fields: answer,
    text: `${fence}text\n[[ ## answer ## ]]\nParis\n${end}\n${fence}`,
    values: { answer: 'Paris' },
  },
  {
    what: 'a fence in a fence',
    fields: answer,
    text: `${fence}\n[[ ## answer ## ]]\n${fence}ts\nx\n${fence}\n${fence}\nDone.`,
    values: { answer: `${fence}ts\nx\n${fence}` },
  },
  {
    what: 'a value in a fence',
    fields: chat,
    text: `[[ ## a ## ]]\n${fence}\n1\n${fence}\n[[ ## b ## ]]\n\`false\`\n[[ ## c ## ]]\n${fence}json\n["x"]\n${fence}\n[[ ## d ## ]]\n${fence}\ncode\n${fence}`,
    values: { a: 1, b: false, c: ['x'], d: `${fence}\ncode\n${fence}` },
  },
  {
    what: 'a value of several lines with blank ones',
    fields: scored,
    text: '[[ ## answer ## ]]\n\nfirst\n\n  second\n\n\nthird\n\n[[ ## score ## ]]\n5',
    values: { answer: 'first\n\n  second\n\n\nthird', score: 5 },
  },
  {
    what: 'a value with lines that look like others',
    fields: scored,
    text: '[[ ## answer ## ]]\nscore: 3\n{"score": 4}\nsee [[ ## score ## ]] below\n[[ ## score ## ]]\n5',
    values: { answer: 'score: 3\n{"score": 4}\nsee [[ ## score ## ]] below', score: 5 },
  },
  {
    what: 'a repeated field',
    fields: scored,
    text: '[[ ## answer ## ]]\nParis\n[[ ## score ## ]]\n5\n[[ ## answer ## ]]\nRome',
    values: { answer: 'Paris', score: 5 },
  },
  {
    what: 'the first of two is wrong',
    fields: scored,
    text: '[[ ## score ## ]]\nmany\n[[ ## score ## ]]\n5\n[[ ## answer ## ]]\nParis',
    values: { answer: 'Paris' },
    problems: ['score'],
  },
  {
    what: 'Windows line endings and a byte order mark',
    fields: scored,
    text: `\ufeff[[ ## answer ## ]]\r\nParis\r\nFrance\r\n\r\n**[[ ## score ## ]]**\r\n5\r\n\r\n${end}\r\n`,
    values: { answer: 'Paris\r\nFrance', score: 5 },
  },
  {
    what: 'an empty text',
    fields: scored,
    text: '[[ ## answer ## ]]\n\n[[ ## score ## ]]\n5',
    values: { answer: '', score: 5 },
  },
  {
    what: 'an empty text at the end',
    fields: answer,
    text: `[[ ## answer ## ]]\n\n${end}`,
    values: { answer: '' },
  },
  { what: 'a truncated answer', fields: answer, text: '[[ ## answer ## ]]\n', values: {}, missing: ['answer'] },
  {
    what: 'an empty value',
    fields: chat,
    text: `[[ ## a ## ]]\n\n[[ ## b ## ]]\n[[ ## c ## ]]\n\n[[ ## d ## ]]\n${end}`,
    values: { d: '' },
    missing: ['a', 'b', 'c'],
  },
  {
    what: 'optional fields left out',
    fields: optional,
    text: '[[ ## answer ## ]]\nParis',
    values: { answer: 'Paris' },
  },
  {
    what: 'optional fields with a word for nothing',
    fields: optional,
    text: `[[ ## answer ## ]]\nParis\n[[ ## score ## ]]\nNone\n[[ ## note ## ]]\nnull\n${end}`,
    values: { answer: 'Paris' },
  },
  {
    what: 'optional fields with nothing',
    fields: optional,
    text: `[[ ## answer ## ]]\nParis\n[[ ## score ## ]]\n\n[[ ## note ## ]]\n\n${end}`,
    values: { answer: 'Paris', note: '' },
  },
  {
    what: 'an invalid optional field',
    fields: optional,
    text: '[[ ## answer ## ]]\nParis\n[[ ## score ## ]]\nhigh',
    values: { answer: 'Paris' },
    problems: ['score'],
  },
  {
    what: 'None as an enum text',
    fields: outputs({ answer: text, kind: { enum: ['None', 'Some'] } }, ['answer']),
    text: '[[ ## answer ## ]]\nx\n[[ ## kind ## ]]\nNone',
    values: { answer: 'x', kind: 'None' },
  },
  {
    what: 'all on one line',
    fields: scored,
    text: `[[ ## answer ## ]] Paris [[ ## score ## ]] 5 ${end}`,
    values: { answer: 'Paris [[ ## score ## ]] 5' },
    missing: ['score'],
  },
  {
    what: 'values that are not JSON',
    fields: chat,
    text: '[[ ## a ## ]]\n1,000\n[[ ## b ## ]]\n1\n[[ ## c ## ]]\nx, y\n[[ ## d ## ]]\nd',
    values: { d: 'd' },
    problems: ['a', 'b', 'c'],
  },
];

const thoughts: readonly Row[] = [
  {
    what: 'reasoning first',
    fields: answer,
    text: '<think>\nIt may be\n[[ ## answer ## ]]\nRome\n</think>\n\n[[ ## answer ## ]]\nParis',
    values: { answer: 'Paris' },
  },
  {
    what: 'reasoning without an opening tag',
    fields: answer,
    text: 'It may be\n[[ ## answer ## ]]\nRome?\n</think>\n\n[[ ## answer ## ]]\nParis',
    values: { answer: 'Paris' },
  },
  {
    what: 'unclosed reasoning',
    fields: answer,
    text: '<think>\n[[ ## answer ## ]]\nRome',
    values: {},
    missing: ['answer'],
  },
  {
    what: 'reasoning, then JSON',
    fields: answer,
    text: '<Thinking>{"answer":"Rome"}</Thinking>{"answer":"Paris"}',
    values: { answer: 'Paris' },
  },
  {
    what: 'tags in the answer',
    fields: answer,
    text: '[[ ## answer ## ]]\n<think>\nthis\n</think>\nis a tag',
    values: { answer: '<think>\nthis\n</think>\nis a tag' },
  },
];

const json: readonly Row[] = [
  { what: 'JSON', fields: scored, text: '{"answer":"Paris","score":5}', values: { answer: 'Paris', score: 5 } },
  {
    what: 'JSON in a fence',
    fields: chat,
    text: `${fence}json\n{\n  "a": 1,\n  "b": true,\n  "c": ["x"],\n  "d": "a\\nb"\n}\n${fence}`,
    values: { a: 1, b: true, c: ['x'], d: 'a\nb' },
  },
  {
    what: 'JSON with text around it',
    fields: scored,
    text: 'Here is the answer: {"answer":"Paris","score":5}. I hope {it} helps.',
    values: { answer: 'Paris', score: 5 },
  },
  {
    what: 'JSON in a fence with text around it',
    fields: scored,
    text: `Answer:\n\n${fence}json\n{"answer":"Paris","score":5}\n${fence}\n\nDone.`,
    values: { answer: 'Paris', score: 5 },
  },
  {
    what: 'a literal of Python',
    fields: chat,
    text: "{'a': 1, 'b': True, 'c': ['it\\'s', \"b's\",], 'd': 'd'}",
    values: { a: 1, b: true, c: ["it's", "b's"], d: 'd' },
  },
  {
    what: 'unknown members, and other spellings',
    fields: scored,
    text: '{"thought":"x","Answer":"Paris","SCORE":"5"}',
    values: { answer: 'Paris', score: 5 },
  },
  {
    what: 'JSON with wrong types',
    fields: chat,
    text: '{"a":null,"b":1,"c":"x","d":5}',
    values: {},
    problems: ['a', 'b', 'c', 'd'],
  },
  { what: 'JSON with a null', fields: nullable, text: '{"answer":null}', values: { answer: null } },
  { what: 'JSON with the text null', fields: nullable, text: '{"answer":"null"}', values: { answer: 'null' } },
  {
    what: 'JSON with null for an optional field',
    fields: optional,
    text: '{"answer":"Paris","score":null,"note":null}',
    values: { answer: 'Paris' },
  },
  {
    what: 'JSON without a field',
    fields: scored,
    text: '{"score":5}',
    values: { score: 5 },
    missing: ['answer'],
  },
  { what: 'a list', fields: answer, text: '["Paris"]', values: {}, missing: ['answer'] },
  { what: 'JSON of something else', fields: answer, text: '{"city":"Paris"}', values: {}, missing: ['answer'] },
  { what: 'JSON in a list', fields: answer, text: '[{"answer":"Paris"}]', values: {}, missing: ['answer'] },
  {
    what: 'a reference to a definition',
    fields: town,
    text: '{"town":{"name":"Bonn","twin":{"name":"Oxford"}}}',
    values: { town: { name: 'Bonn', twin: { name: 'Oxford' } } },
  },
  {
    what: 'a reference, and a value that does not match it',
    fields: town,
    text: '[[ ## town ## ]]\n{"name":"Bonn","twin":{"title":"Oxford"}}',
    values: {},
    problems: ['town'],
  },
];

const lines: readonly Row[] = [
  {
    what: 'name: value (LOOP-6)',
    fields: merchant,
    text: 'response: hi\ntool_call: null',
    values: { response: 'hi' },
  },
  {
    what: 'a value of several lines (LOOP-8)',
    fields: merchant,
    text: 'response: Well met.\n\nGold: I have none, and\n  - no goods\n\ntool_call: null',
    values: { response: 'Well met.\n\nGold: I have none, and\n  - no goods' },
  },
  {
    what: 'an object after a name',
    fields: merchant,
    text: 'response: wait\ntool_call: {"name":"get_gold","args":{"response":"no"}}',
    values: { response: 'wait', tool_call: { name: 'get_gold', args: { response: 'no' } } },
  },
  {
    what: 'a fenced object after a name',
    fields: merchant,
    text: `Response: wait\nTool Call:\n${fence}json\n{"name":"get_gold"}\n${fence}`,
    values: { response: 'wait', tool_call: { name: 'get_gold' } },
  },
  {
    what: 'an object whose members are named like fields',
    fields: outputs({ name: text, tool_call: { type: 'object', additionalProperties: true } }, ['name']),
    text: 'name: Bob\ntool_call: {"name":"get_gold","args":{}}',
    values: { name: 'Bob', tool_call: { name: 'get_gold', args: {} } },
  },
  {
    what: 'bold names in another case',
    fields: scored,
    text: 'Sure!\n\n**Answer:** Paris\n**Score**: 5',
    values: { answer: 'Paris', score: 5 },
  },
  {
    what: 'names with spaces',
    fields: reasoned,
    text: 'Reasoning: r\nNext Tool Name: finish',
    values: { reasoning: 'r', next_tool_name: 'finish' },
  },
  {
    what: 'lines in a fence, with an end',
    fields: scored,
    text: `${fence}yaml\nanswer: Paris\nscore: 5\n${fence}`,
    values: { answer: 'Paris', score: 5 },
  },
  {
    what: 'lines with the marker of headers',
    fields: answer,
    text: `answer: Paris\n\n${end}`,
    values: { answer: 'Paris' },
  },
  {
    what: 'items that look like lines',
    fields: scored,
    text: 'answer: two\n- score: 1\n    score: 2\nscore: 5',
    values: { answer: 'two\n- score: 1\n    score: 2', score: 5 },
  },
  {
    what: 'keys in invalid JSON',
    fields: scored,
    text: '{\n  answer: "Paris"\n  score: 5\n}',
    values: {},
    missing: ['answer', 'score'],
  },
  {
    what: 'keys without quotes',
    fields: scored,
    text: '{\n  answer: "Paris", // sure\n  score: 5\n}',
    values: { answer: 'Paris', score: 5 },
  },
  {
    what: 'keys in invalid JSON, further down',
    fields: scored,
    text: "Sure:\n{\n  'thought': x,\n  answer: 'Paris',\n  score: 5\n}",
    values: {},
    missing: ['answer', 'score'],
  },
  { what: 'an unknown name', fields: answer, text: 'reply: hi', values: {}, missing: ['answer'] },
  { what: 'unclosed bold text', fields: answer, text: '**answer: Paris**', values: {}, missing: ['answer'] },
];

const none: readonly Row[] = [
  { what: 'nothing (LOOP-10)', fields: merchant, text: '', values: {}, missing: ['response'] },
  { what: 'prose (LOOP-10)', fields: answer, text: 'It is Paris.', values: {}, missing: ['answer'] },
  { what: 'only space', fields: chat, text: ' \n\r\n\t', values: {}, missing: ['a', 'b', 'c', 'd'] },
  { what: 'only the end', fields: answer, text: end, values: {}, missing: ['answer'] },
  { what: 'only headers of others', fields: answer, text: '[[ ## x ## ]]\ny', values: {}, missing: ['answer'] },
  { what: 'an empty object', fields: answer, text: '{}', values: {}, missing: ['answer'] },
];

test.each([...headers, ...thoughts, ...json, ...lines, ...none])(
  '$what',
  ({ fields, text: written, values, missing = [], problems = [] }) => {
    const parsed = parseAnswer(written, fields);
    expect(parsed.values).toEqual(values);
    expect(parsed.missing).toEqual(missing);
    expect(parsed.problems.map(({ field }) => field)).toEqual(problems);
  },
);

test('each invalid field has a message', () => {
  expect(parseAnswer('[[ ## a ## ]]\n1,000\n[[ ## b ## ]]\nperhaps\n[[ ## c ## ]]\n["x"', chat)).toEqual<ParsedAnswer>({
    values: {},
    missing: ['d'],
    problems: [
      { field: 'a', message: 'must be a number, got `1,000`' },
      { field: 'b', message: 'must be true or false, got `perhaps`' },
      { field: 'c', message: expect.stringMatching(/^must be a list as JSON, got `\["x"`: it is not JSON: /) },
    ],
  });
});

test.each([
  ['{"answer":"Paris"', 'its JSON is incomplete'],
  ['So: {"answer":"Paris"', 'its JSON is incomplete'],
  ['{"answer":"Paris","answer":"Rome"}', 'it has a key twice in one object'],
  [`${fence}json\n{"answer":Paris}\n${fence}`, 'it is not JSON: '],
  [`{"answer":${'['.repeat(100)}${']'.repeat(100)}}`, 'it is nested deeper than 64 levels'],
  ['{"__proto__":{"answer":"Paris"}}', '`__proto__` is not accepted as a key'],
])('the reason why %j cannot be read', (written, note) => {
  const parsed = parseAnswer(written, answer);
  expect(parsed).toMatchObject({ values: {}, missing: ['answer'], problems: [] });
  expect(parsed.note).toContain(note);
});

test('a field may be named like a property of every object', () => {
  const fields = outputs({ toString: text, constructor: text });
  const { values } = parseAnswer('[[ ## constructor ## ]]\nc\n[[ ## toString ## ]]\np', fields);
  expect(Object.entries(values)).toEqual([
    ['toString', 'p'],
    ['constructor', 'c'],
  ]);
  expect(parseAnswer('constructor: c\ntoString: p', fields).values).toEqual(values);
  expect(parseAnswer('[[ ## __proto__ ## ]]\nx\ntoString: y\nanswer: Paris', answer).values).toEqual({
    answer: 'Paris',
  });
});

test('names that differ only in case must match exactly', () => {
  const fields = outputs({ city: text, City: text });
  expect(parseAnswer('[[ ## City ## ]]\nA\n[[ ## city ## ]]\nb', fields).values).toEqual({ city: 'b', City: 'A' });
  expect(parseAnswer('[[ ## CITY ## ]]\nA', fields)).toMatchObject({ values: {}, missing: ['city', 'City'] });
});

test('a lone surrogate in a value is kept', () => {
  expect(parseAnswer('[[ ## answer ## ]]\n\ud83d', answer).values).toEqual({ answer: '\ud83d' });
});
