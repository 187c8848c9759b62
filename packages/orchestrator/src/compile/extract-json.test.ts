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
  expect(extraction.warnings.every(({ code, path }) => code === 'plan.json.repaired' && path === '')).toBe(true);
  return extraction.warnings.map(({ message }) => message.replace(/^The plan was read, although (.*)\.$/, '$1'));
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
  ['an object that is no plan before it', `Inputs such as {"city":"Paris","n":1} fit.\n${good}`],
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
  ['reasoning whose beginning is in the prompt', `${other} no, {"nodes":[]} better: </think>${good}`],
  ['reasoning after it that does not end', `${good}<think>was that ${other}`],
  ['a bad plan before it', `{"nodes":5}\n${good}`],
])('%s: the plan is found as it was written', (_, text) => {
  const extraction = extractPlan(text);
  expect(extraction).toMatchObject({ type: 'found', warnings: [] });
  expect(found(text)).toBe(good);
});

test('a plan that says that there is none is one, and the first that reads as a plan wins', () => {
  expect(found(`No: ${declined}`)).toBe(declined);
  expect(found(`${declined}\n${good}`)).toBe(declined);
  expect(found(`${good}\n${declined}`)).toBe(good);
});

test('tags in the texts of a plan are texts', () => {
  const tagged = good.replace('"x":"', '"x":"<think></think></reasoning> ');
  expect(found(tagged)).toBe(tagged);
});

test('EXT-7 and what else can be read in one way only is repaired, and told', () => {
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
    [twice(good), 'it was JSON in a JSON text'],
    [`${fence}json\n${twice(`\n ${good}`)}\n${fence}`, 'it was JSON in a JSON text'],
    [`{"plan": ${good}}`, 'it was the member `plan` of an object'],
    [`{"plan": ${twice(good)},}`, 'it had trailing commas (1)|it was the member `plan` of an object'],
    [`<think>${good}\n${fence}`, 'a reasoning block before it was never closed'],
  ];
  for (const [text, repair] of repaired) {
    const extraction = extractPlan(text);
    expect([text, repairsOf(extraction).join('|')]).toEqual([text, repair]);
    expect(readPlan(found(text)).type).toBe('plan');
  }
});

test('what is repaired says what was written', () => {
  const text = `{'nodes': [{'id': 0, "tool": 'a', inputs: {'q': 'say "no" or it\\'s', “s”: “it's”, 'n': -1.5e3, 'd': True,}, // all
    }], 'final_output_node': 0}`;
  expect(JSON.parse(found(text) ?? '')).toEqual({
    nodes: [{ id: 0, tool: 'a', inputs: { q: 'say "no" or it\'s', s: "it's", n: -1500, d: true } }],
    final_output_node: 0,
  });
});

test('what is wrong with a plan is left for who checks it', () => {
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
  // One that is meant to be a plan is told of before one that is not, and the first of those.
  expect(found('{"tool":"a"} {"nodes":5} {"nodes":6}')).toBe('{"nodes":5}');
});

test.each([
  ['EXT-9, cut off', good.slice(0, -1)],
  ['a comma is missing', good.replace(',"final', ' "final')],
  ['a bracket is missing', good.replace('}}]', '}}')],
  ['a value is missing', good.replace(':0}', ':}')],
  ['two commas', good.replace(',"tool"', ',,"tool"')],
  ['a comma at the beginning', good.replace('[{', '[,{')],
  ['an ellipsis', good.replace('}}]', '}}, ...]')],
  ['a word that is no value', good.replace(':0}', ':undefined}')],
  ['no number', good.replace(':0}', ':NaN}')],
  ['a number with a plus', good.replace(':0}', ':+1}')],
  ['an escape of another language', good.replace('"x":"', '"x":"\\d')],
  ['a control character in a text', good.replace('"x":"', '"x":"\u0000')],
  ['quotes in curly quotes', good.replace('"a"', '“say "a"”')],
  ['curly quotes in curly quotes', good.replace('"a"', '“say “a””')],
  ['an escape that depends on the language', good.replace('"a"', "'a\\/b'")],
  ['a key that depends on the language', good.replace('"x":', 'None:')],
  ['an apostrophe in single quotes', good.replace('"a"', "'it's'")],
  ['a comment that does not end', `${good.slice(0, -1)} /* }`],
  ['a comment that takes the rest', `${good.slice(0, -1)} // }`],
  ['a plan in a node of half a plan', `{"nodes":[{"id":0,"tool":"s","inputs":{"plan":${good}}}]`],
  ['a plan in a node of a broken plan', `{"nodes":[{"id":0,"tool":"s" "inputs":{"plan":${good}}}]}`],
  ['a plan in a node of a broken plan in other quotes', `{'nodes':[{'id':0, 'text':'} ' 'plan':${good}}]}`],
  ['a plan, and half a plan, that were thought', `${other} no, {"nodes":[ better: </think>${good}`],
  [
    'a plan, and one that breaks off in a text, that were thought',
    `${other} no, ${other.slice(0, -9)}</think>\n${good}`,
  ],
  ['a plan behind a tag in half a plan', `{"nodes":[{"id":0,"tool":"s","inputs":{"</think>":${good}`],
  ['nothing but a plan in reasoning', `<think>{x}</think>{"nodes"`],
  ['a plan within reasoning that does not end', `<think>perhaps ${good} or rather`],
  ['two plans within reasoning that does not end', `<think>${good} or ${other}`],
  ['half a plan with a text that does not end', `{"a": 1 2, 'x } {nodes: [{id: 0, tool: 1}], final_output_node: 0}`],
  ['an object that is no plan, and a broken one', '{"city": "Paris"} {"nodes": [1 2]}'],
  ['a brace', 'I cannot do {that}'],
  ['JSON in a text, cut off', twice(good).slice(0, -3)],
])('%s: malformed, and nothing is made up', (_, text) => {
  expect(extractPlan(text)).toMatchObject({
    type: 'malformed',
    violation: { code: 'plan.json.invalid', path: '', message: expect.stringMatching(/^No plan can be read: ./) },
  });
});

test.each([
  ['EXT-13', 'I cannot do it'],
  ['nothing', ''],
  ['a list', '[1, 2]'],
  ['a text', '"no"'],
  ['braces in reasoning alone', `<think>{"nodes":[</think>It cannot be done.`],
])('%s: there is nothing to repair', (_, text) => {
  expect(extractPlan(text)).toMatchObject({ type: 'none' });
});

test('of several faults the first is told', () => {
  expect(extractPlan('{"a": 1 2} {"b"} {"c": }')).toMatchObject({
    type: 'malformed',
    violation: { message: expect.stringContaining('`,` or `}` is missing') },
  });
});

test('an object that holds no plan is handed on as it is, also under the name of one', () => {
  for (const text of ['{"plan":{"city":"Paris"}}', '{"plan":"{}"}', '{"plan":5}']) expect(found(text)).toBe(text);
  const wrapped = (times: number): string =>
    Array.from({ length: times }).reduce<string>((text) => JSON.stringify({ plan: text }), good);
  expect([found(wrapped(1)), found(wrapped(2)), found(wrapped(3))]).toEqual([good, good, wrapped(3)]);
});

test('the text of an answer has a limit', () => {
  const extraction = extractPlan(`${good}${' '.repeat(33_554_432)}`);
  expect(extraction).toMatchObject({ type: 'malformed', violation: { code: 'plan.json.limit' }, steps: 0 });
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
])('many of `%s` are looked at a bounded number of times each', (unit) => {
  const count = Math.floor(50_000 / unit.length);
  for (const text of [unit.repeat(count), `${unit.repeat(count)}${good}`, `${good}${unit.repeat(count)}`]) {
    const { steps } = extractPlan(text);
    // The last look may go over the limit once, and to the end of the text.
    expect(steps).toBeLessThanOrEqual(17 * text.length + 10_000);
  }
  expect(found(`${good}${unit.repeat(count)}`)).toBe(
    unit === '</think>' || unit === '{"a":</think>' ? undefined : good,
  );
});

test('a hundred objects that could be plans are tried', () => {
  expect(found('{"nodes":1} '.repeat(99) + good)).toBe(good);
  expect(found('{"nodes":1} '.repeat(100) + good)).toBe('{"nodes":1}');
});

test('what is passed over in a broken object is counted, too', () => {
  const text = `{"a" ${'[1]'.repeat(10_000)}}`;
  expect(extractPlan(text).steps).toBeGreaterThanOrEqual(text.length);
});

test('a megabyte of braces is read once, and costs no more than their number', () => {
  const steps = [100_000, 1_000_000].map((count) => extractPlan('{'.repeat(count)).steps / count);
  expect(new Set(steps)).toEqual(new Set([2]));
});
