import { expect, test } from 'vitest';
import { readPlan } from '../plan/read.ts';
import { type Extraction, extractPlan } from './extract-json.ts';

const good = '{"nodes":[{"id":0,"tool":"a","inputs":{"x":"}]\\"{"}}],"final_output_node":0}';
const other = good.replace('"a"', '"b"');
const declined = '{"status":"error","error":"There is no such tool."}';
const fence = '```';
const twice = (text: string): string => JSON.stringify(text);

function found(text: string): string | undefined {
  const extraction = extractPlan(text);
  return extraction.type === 'found' ? extraction.json : undefined;
}

function repairsOf(extraction: Extraction): readonly string[] {
  if (extraction.type !== 'found') return [extraction.type];
  expect(extraction.warnings.every(({ reason, path }) => reason === 'json.repaired' && path === '')).toBe(true);
  return extraction.warnings.map(({ message }) =>
    message.replace(/^The plan was read despite a problem: (.*)\.$/, '$1'),
  );
}

test.each([
  ['EXT-1', good],
  ['EXT-3', `Here is the plan.\n${good}\nShall I go on?`],
  ['EXT-5', `<think>{maybe}</think>${good}`],
  ['a fence', `${fence}\n${good}\n${fence}`],
  ['a fence with a language', `Sure:\n${fence}json\n${good}\n${fence}\nDone.`],
  ['a fence that is not closed', `${fence}json\n${good}`],
  ['tildes', `~~~JSON5\n${good}\n~~~`],
  ['a byte order mark', `\ufeff${good}`],
  ['non-breaking spaces around', `\u00a0${good}\u00a0`],
  ['braces in prose', `For {city} in {"cities"} and {} and {{name}}: ${good} {done}`],
  ['quotes in prose', `The "plan" isn't "{" but: ${good}`],
  ['a broken object with other quotes after line breaks before it', `{"a":\n      'x } y', "b" ['}']} ${good}`],
  ['another object before it', `Inputs such as {"city":"Paris","n":1} fit.\n${good}`],
  ['a broken object before it', `Not {"city": Paris}, and not {"a":{"b" "c"}}, but ${good}`],
  ['a broken object with braces in its texts before it', `{'a': 'x } y', b ['}']} ${good}`],
  ['an empty object before it', `{} ${good}`],
  ['a list around it', `[${good}]`],
  ['another plan after it', `${good}\nor\n${other}`],
  ['half of a plan after it', `${good}\nor\n${other.slice(0, -20)}`],
  ['reasoning with a plan in it', `<think>${other}</think>${good}`],
  ['reasoning with half a plan in it', `<thinking>{"nodes":[{"</thinking>\n${good}`],
  ['reasoning in capitals', `<REASONING>{"</REASONING>${good}`],
  ['reasoning twice', `<think>${other}</think> hm <think>${other}</think>${good}`],
  ['reasoning that starts in the prompt', `${other} no, {"nodes":[]} better: </think>${good}`],
  ['unclosed reasoning after it', `${good}<think>was that ${other}`],
  ['a bad plan before it', `{"nodes":5}\n${good}`],
])('%s: the plan is found verbatim', (_, text) => {
  const extraction = extractPlan(text);
  expect(extraction).toMatchObject({ type: 'found', warnings: [] });
  expect(found(text)).toBe(good);
});

test('a declined request counts as a plan, and the first object that reads as a plan wins', () => {
  expect(found(`No: ${declined}`)).toBe(declined);
  expect(found(`${declined}\n${good}`)).toBe(declined);
  expect(found(`${good}\n${declined}`)).toBe(good);
});

test('tags within strings of a plan are text', () => {
  const tagged = good.replace('"x":"', '"x":"<think></think></reasoning> ');
  expect(found(tagged)).toBe(tagged);
});

test('EXT-7 and other unambiguous faults are repaired and reported', () => {
  const repaired: readonly (readonly [text: string, repair: string])[] = [
    [good.replace('}}]', '},},]'), 'it had trailing commas (2)'],
    [`${good.slice(0, -1)} , /* the end */ }`, 'it had comments (1)|it had trailing commas (1)'],
    [`{ // the plan {"nodes":[]}\n${good.slice(1)}`, 'it had comments (1)'],
    [good.replace('[', '[/* " } */'), 'it had comments (1)'],
    [good.replace(':', '\u00a0:\u200b '), 'it had unusual blanks (2)'],
    [good.replace('"x":"', '"x":"one\ntwo\t\r'), 'it had line breaks and tabs in texts (3)'],
    [good.replace('"x":"', '"x":"it\\\'s '), 'it had escaped apostrophes (1)'],
    [good.replace('"a"', "'a'"), 'it had texts in other quotes (1)'],
    [good.replace('"a"', '“a”'), 'it had texts in other quotes (1)'],
    [good.replace('"x":"', '"y":True,"z":None,"w":False,"x":"'), 'it had literals of Python (3)'],
    [`{nodes${good.slice('{"nodes"'.length)}`, 'it had keys without quotes (1)'],
    [twice(good), 'it was encoded twice as JSON'],
    [`${fence}json\n${twice(`\n ${good}`)}\n${fence}`, 'it was encoded twice as JSON'],
    [`{"plan": ${good}}`, 'it was wrapped in an object with the member `plan`'],
    [`{"plan": ${twice(good)},}`, 'it had trailing commas (1)|it was wrapped in an object with the member `plan`'],
    [`<think>${good}\n${fence}`, 'the reasoning block before it was never closed'],
  ];
  for (const [text, repair] of repaired) {
    const extraction = extractPlan(text);
    expect([text, repairsOf(extraction).join('|')]).toEqual([text, repair]);
    expect(readPlan(found(text)).type).toBe('plan');
  }
});

test('a repaired plan keeps the written values', () => {
  const text = `{'nodes': [{'id': 0, "tool": 'a', inputs: {'q': 'say "no" or it\\'s', “s”: “it's”, 'n': -1.5e3, 'd': True,}, // all
    }], 'final_output_node': 0}`;
  expect(JSON.parse(found(text) ?? '')).toEqual({
    nodes: [{ id: 0, tool: 'a', inputs: { q: 'say "no" or it\'s', s: "it's", n: -1500, d: true } }],
    final_output_node: 0,
  });
});

test('the content of a plan is left to the checker', () => {
  const wrong = [
    '{"nodes":[]}',
    '{"nodes":[{"id":0,"tool":"a","tool":"b"}],"final_output_node":0}',
    '{"__proto__":{"nodes":[]},"nodes":[{"id":0,"tool":"a"}],"final_output_node":0}',
    '{"nodes":[{"id":0,"tool":"a","inputs":{"n":1e999}}],"final_output_node":0}',
    `{"nodes":[${'['.repeat(70)}${']'.repeat(70)}]}`,
    '{"tool":"a"}',
    '{}',
  ];
  for (const text of wrong) expect(found(`So: ${text}!`)).toBe(text);
  // An object that resembles a plan is preferred; among several, the first.
  expect(found('{"tool":"a"} {"nodes":5} {"nodes":6}')).toBe('{"nodes":5}');
});

test.each([
  ['EXT-9, cut off', good.slice(0, -1)],
  ['a missing comma', good.replace(',"final', ' "final')],
  ['a missing bracket', good.replace('}}]', '}}')],
  ['a missing value', good.replace(':0}', ':}')],
  ['two commas', good.replace(',"tool"', ',,"tool"')],
  ['a comma at the beginning', good.replace('[{', '[,{')],
  ['an ellipsis', good.replace('}}]', '}}, ...]')],
  ['a word that is not a value', good.replace(':0}', ':undefined}')],
  ['NaN', good.replace(':0}', ':NaN}')],
  ['a number with a plus', good.replace(':0}', ':+1}')],
  ['an escape of another language', good.replace('"x":"', '"x":"\\d')],
  ['a control character in a text', good.replace('"x":"', '"x":"\u0000')],
  ['quotes in curly quotes', good.replace('"a"', '“say "a"”')],
  ['curly quotes in curly quotes', good.replace('"a"', '“say “a””')],
  ['an escape that depends on the language', good.replace('"a"', "'a\\/b'")],
  ['a key that depends on the language', good.replace('"x":', 'None:')],
  ['an apostrophe in single quotes', good.replace('"a"', "'it's'")],
  ['an unclosed comment', `${good.slice(0, -1)} /* }`],
  ['a comment over the rest', `${good.slice(0, -1)} // }`],
  ['a plan in a node of half a plan', `{"nodes":[{"id":0,"tool":"s","inputs":{"plan":${good}}}]`],
  ['a plan in a node of a broken plan', `{"nodes":[{"id":0,"tool":"s" "inputs":{"plan":${good}}}]}`],
  ['a plan in a node of a broken plan in other quotes', `{'nodes':[{'id':0, 'text':'} ' 'plan':${good}}]}`],
  ['a plan and half a plan within reasoning', `${other} no, {"nodes":[ better: </think>${good}`],
  [
    'a plan and one cut off within a string, both within reasoning',
    `${other} no, ${other.slice(0, -9)}</think>\n${good}`,
  ],
  ['a plan behind a tag in half a plan', `{"nodes":[{"id":0,"tool":"s","inputs":{"</think>":${good}`],
  ['half a plan after reasoning', `<think>{x}</think>{"nodes"`],
  ['a plan within unclosed reasoning', `<think>perhaps ${good} or rather`],
  ['two plans within unclosed reasoning', `<think>${good} or ${other}`],
  ['half a plan with an unclosed string', `{"a": 1 2, 'x } {nodes: [{id: 0, tool: 1}], final_output_node: 0}`],
  ['another object and a broken plan', '{"city": "Paris"} {"nodes": [1 2]}'],
  ['a brace', 'I cannot do {that}'],
  ['doubly encoded JSON, cut off', twice(good).slice(0, -3)],
])('%s: malformed, and nothing is invented', (_, text) => {
  expect(extractPlan(text)).toMatchObject({
    type: 'malformed',
    violation: {
      code: 'plan.invalid',
      reason: 'json.invalid',
      path: '',
      message: expect.stringMatching(/^Cannot read a plan: ./),
    },
  });
});

test.each([
  ['EXT-13', 'I cannot do it'],
  ['nothing', ''],
  ['a list', '[1, 2]'],
  ['a text', '"no"'],
  ['braces in reasoning alone', `<think>{"nodes":[</think>It cannot be done.`],
])('%s: nothing to repair', (_, text) => {
  expect(extractPlan(text)).toMatchObject({ type: 'none' });
});

test('of several faults, the first is reported', () => {
  expect(extractPlan('{"a": 1 2} {"b"} {"c": }')).toMatchObject({
    type: 'malformed',
    violation: { message: expect.stringContaining('`,` or `}` is missing') },
  });
});

test('an object without a plan is returned unchanged, even as the member `plan`', () => {
  for (const text of ['{"plan":{"city":"Paris"}}', '{"plan":"{}"}', '{"plan":5}']) expect(found(text)).toBe(text);
  const wrapped = (times: number): string =>
    Array.from({ length: times }).reduce<string>((text) => JSON.stringify({ plan: text }), good);
  expect([found(wrapped(1)), found(wrapped(2)), found(wrapped(3))]).toEqual([good, good, wrapped(3)]);
});

test('the length of an answer is limited', () => {
  const extraction = extractPlan(`${good}${' '.repeat(33_554_432)}`);
  expect(extraction).toMatchObject({
    type: 'malformed',
    violation: { code: 'plan.invalid', reason: 'json.limit' },
    steps: 0,
  });
});

test.each([
  ...[
    '{',
    '}',
    '{"',
    '{ ',
    '{"a":',
    '{"a":"',
    '{"a":1,',
    '{a:{',
    '[{',
    '{}',
    "{'a':'",
    '{“',
    '{/*',
    '{//',
    '{/**/',
    '"{\\',
    '"   {  \\',
  ],
  ...[
    '<think>',
    '</think>',
    '<think></think>',
    '{"a":</think>',
    '{"plan":',
    '{"plan":{}}',
    '{"nodes":1}',
    '{"nodes":[',
    '"{\\"a\\":',
  ],
  ...['{"a": b}', '{"a":"\\', '\ufeff{', '```{', '{"a",', '{a', '{a b:'],
])('many repeats of `%s` are each visited a bounded number of times', (unit) => {
  const count = Math.floor(50_000 / unit.length);
  for (const text of [unit.repeat(count), `${unit.repeat(count)}${good}`, `${good}${unit.repeat(count)}`]) {
    const { steps } = extractPlan(text);
    // The last attempt may exceed the limit once, up to the end of the text.
    expect(steps).toBeLessThanOrEqual(17 * text.length + 10_000);
  }
  expect(found(`${good}${unit.repeat(count)}`)).toBe(
    unit === '</think>' || unit === '{"a":</think>' ? undefined : good,
  );
});

test('tries a hundred objects that resemble plans', () => {
  expect(found('{"nodes":1} '.repeat(99) + good)).toBe(good);
  expect(found('{"nodes":1} '.repeat(100) + good)).toBe('{"nodes":1}');
});

test('skipped parts of a broken object count as steps', () => {
  const text = `{"a" ${'[1]'.repeat(10_000)}}`;
  expect(extractPlan(text).steps).toBeGreaterThanOrEqual(text.length);
});

test('a megabyte of braces is read in one pass, in linear time', () => {
  const steps = [100_000, 1_000_000].map((count) => extractPlan('{'.repeat(count)).steps / count);
  expect(new Set(steps)).toEqual(new Set([2]));
});
