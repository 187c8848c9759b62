import { expect, test } from 'vitest';
import { formatTextReference, parseText } from '../plan/text-references.ts';
import type { InputTree } from '../plan/types.ts';
import { formatPath, parsePath } from '../plan/value-path.ts';
import { brief, check, planOf } from './test-plans.ts';

const reference = (from: number | string, path: readonly (string | number)[] = [], fallback?: unknown): unknown => ({
  from,
  path,
  ...(fallback === undefined ? {} : { default: fallback }),
});

test.each([
  { text: '{{STEPS.0.response}}', parts: [reference(0, ['response'])] },
  { text: '{{steps.0.response}}', parts: [reference(0, ['response'])] },
  { text: '{{ STEPS.0.response }}', parts: [reference(0, ['response'])] },
  { text: '{{STEPS[0].response}}', parts: [reference(0, ['response'])] },
  { text: '{{STEPS.0}}', parts: [reference(0)] },
  { text: '{{STEPS.news_2.a.b[0].c}}', parts: [reference('news_2', ['a', 'b', 0, 'c'])] },
  { text: '{{STEPS.0.items.5.t}}', parts: [reference(0, ['items', 5, 't'])] },
  { text: '{{STEPS.0["a key}} | \\"x\\""][3]}}', parts: [reference(0, ['a key}} | "x"', 3])] },
  { text: '{{STEPS.0.größe}}', parts: [reference(0, ['größe'])] },
  { text: '{{STEPS.0.20260101123456}}', parts: [reference(0, ['20260101123456'])] },
  { text: '{{STEPS.0 | default: "none"}}', parts: [reference(0, [], 'none')] },
  { text: "{{STEPS.0.response | default: 'none'}}", parts: [reference(0, ['response'], 'none')] },
  { text: "{{STEPS.0|default:''}}", parts: [reference(0, [], '')] },
  { text: String.raw`{{STEPS.0|default:'}} it\'s "so" \u0041\\'}}`, parts: [reference(0, [], '}} it\'s "so" A\\')] },
  { text: '{{STEPS.0.a|default:"}} \\u0041"}}', parts: [reference(0, ['a'], '}} A')] },
  { text: '{{STEPS.0.a | default: -1.5e3}}', parts: [reference(0, ['a'], -1500)] },
  { text: '{{STEPS.0.a | default: null }}', parts: [reference(0, ['a'], null)] },
  { text: 'x {{STEPS.0.a}}{{STEPS.1.b}} y', parts: ['x ', reference(0, ['a']), reference(1, ['b']), ' y'] },
  { text: '{{{STEPS.0}}}', parts: ['{', reference(0), '}'] },
  { text: '{{{{STEPS.0}}', parts: ['{{', reference(0)] },
  { text: '{{ {{STEPS.0}}', parts: ['{{ ', reference(0)] },
])('read: $text', ({ text, parts }) => {
  expect(parseText(text)).toEqual({ parts, problems: [] });
});

test.each([
  '',
  'plain',
  '{{',
  '{{name}}',
  '{{STEP.0}}',
  '{{STEPSTONE.0}}',
  '{{STEPS_0}}',
  '{{steps and more}}',
  '{STEPS.0}',
  '{ {STEPS.0}}',
  '{{\u0405TEPS.0}}', // A Cyrillic letter.
  '｛｛STEPS.0｝｝',
])('a literal text: %s', (text) => {
  expect(parseText(text)).toEqual({ parts: text === '' ? [] : [text], problems: [] });
});

test.each([
  '{{STEPS}}',
  '{{STEPS.}}',
  '{{STEPS..0}}',
  '{{STEPS.-1}}',
  '{{STEPS.00}}',
  '{{STEPS.0',
  '{{STEPS.0.a',
  '{{STEPS.0.a}',
  '{{STEPS.0.a b}}',
  '{{STEPS.0.}}',
  '{{STEPS.0.a..b}}',
  '{{STEPS.0[}}',
  '{{STEPS.0[-1]}}',
  '{{STEPS.0[1.5]}}',
  '{{STEPS.0[1}}',
  '{{STEPS.0["a}}',
  "{{STEPS.0['a']}}",
  '{{STEPS.0[99999999999999999999]}}',
  '{{STEPS.99999999999999999999}}',
  '{{STEPS.0.__proto__}}',
  '{{STEPS.0["__proto__"]}}',
  '{{STEPS.__proto__.a}}',
  '{{STEPS.constructor.a}}',
  '{{STEPS.0|}}',
  '{{STEPS.0|upper}}',
  '{{STEPS.0|default}}',
  '{{STEPS.0|default:}}',
  "{{STEPS.0|default:'x}}",
  "{{STEPS.0|default:'{{STEPS.1}}'}}",
  '{{STEPS.0|default:"x}}',
  '{{STEPS.0|default:x}}',
  '{{STEPS.0|default:1e999}}',
  '{{STEPS.0|default:[1]}}',
  '{{STEPS.0|default:"x" y}}',
  '{{STEPS.0|default:"{{STEPS.1}}"}}',
  `{{STEPS.0${'.a'.repeat(65)}}}`,
])('an invalid reference: %s', (text) => {
  expect(parseText(text).problems.length).toBeGreaterThan(0);
});

test.each([
  { path: '', steps: [], written: '' },
  { path: 'a.b[0]', steps: ['a', 'b', 0], written: 'a.b[0]' },
  { path: '[0][1]', steps: [0, 1], written: '[0][1]' },
  { path: 'a.0', steps: ['a', 0], written: 'a[0]' },
  { path: '["a.b"]', steps: ['a.b'], written: '["a.b"]' },
  { path: '["0"]', steps: ['0'], written: '["0"]' },
  { path: '[""]', steps: [''], written: '[""]' },
  { path: '["plain"]', steps: ['plain'], written: 'plain' },
])('reads the path $path', ({ path, steps, written }) => {
  expect(parsePath(path)).toMatchObject({ ok: true, path: steps });
  expect(formatPath(steps)).toBe(written);
  expect(parsePath(written)).toMatchObject({ ok: true, path: steps });
});

test('a text reference has one normal form', () => {
  for (const text of ['{{ steps[0].a["b"][1] | default: "x" }}', '{{STEPS.0.a.b.1|default:"x"}}']) {
    const [part] = parseText(text).parts;
    if (typeof part !== 'object') throw new Error('Expected a reference.');
    expect(formatTextReference(part)).toBe('{{STEPS.0.a.b[1] | default: "x"}}');
  }
});

test('adversarial texts are read in linear time', () => {
  for (const unit of [
    '{{',
    '{{ ',
    '{{STEPS.',
    '{{STEPS.0["',
    '{{STEPS.0["\\',
    '{{STEPS.0|default:"',
    '{{STEPS.0',
    '{{STEPS.0}}',
    ' ',
  ]) {
    const { parts, problems } = parseText(`{{${unit.repeat(50_000)}`);
    expect(parts.length + problems.length).toBeGreaterThan(0);
  }
});

/** The input tree of the last node. */
async function treeOf(tool: string, inputs: object): Promise<InputTree | undefined> {
  const found = await check(
    planOf({ id: 0, tool: 'typed' }, { id: 1, tool, inputs: JSON.parse(JSON.stringify(inputs)) }),
  );
  if (found.type !== 'valid') throw new Error(JSON.stringify(found));
  return found.checked.inputs.at(-1);
}

test('inputs become a tree in which only parts with references are split', async () => {
  const untouched = { deep: ['{{name}}'] };
  const tree = await treeOf('a', {
    x: [{ $from: 0, path: 'items[0].t', default: null }, untouched],
    y: 'a {{STEPS.0.text}}',
  });
  expect(tree).toEqual({
    type: 'object',
    members: [
      [
        'x',
        {
          type: 'list',
          items: [
            { type: 'reference', reference: reference(0, ['items', 0, 't'], null) },
            { type: 'value', value: untouched },
          ],
        },
      ],
      ['y', { type: 'text', parts: ['a ', reference(0, ['text'])], keepsType: false }],
    ],
  });
  expect(await treeOf('a', { x: untouched })).toEqual({ type: 'value', value: { x: untouched } });
});

test.each([
  { tool: 'a', inputs: { x: '{{STEPS.0.count}}' }, key: 'x', keepsType: true },
  { tool: 'q', inputs: { q: '{{STEPS.0.count}}' }, key: 'q', keepsType: false },
  { tool: 'q', inputs: { q: 'x', n: '{{STEPS.0.count}}' }, key: 'n', keepsType: true },
  { tool: 'a', inputs: { x: ' {{STEPS.0.count}}' }, key: 'x', keepsType: false },
])(
  'a text that is a single reference keeps the type if no string is required: $tool $key',
  async ({ tool, inputs, key, keepsType }) => {
    const tree = await treeOf(tool, inputs);
    expect(tree?.type === 'object' && tree.members.find(([name]) => name === key)?.[1]).toMatchObject({ keepsType });
  },
);

test.each([
  { what: 'deep lists', inputs: '['.repeat(100_000) },
  { what: 'deep closed lists', inputs: `${'['.repeat(100_000)}${']'.repeat(100_000)}` },
  { what: 'deep objects', inputs: `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}` },
  { what: 'a nested __proto__', inputs: '{"x": {"__proto__": {"tool": "a"}}}' },
  { what: 'a number that is infinite', inputs: '{"x": 1e999}' },
  { what: 'a nested duplicate key', inputs: '{"x": {"k": 1, "k": 2}}' },
])('hostile JSON is rejected before it is read: $what', async ({ inputs }) => {
  const found = await check(`{"nodes": [{"id": 0, "tool": "a", "inputs": ${inputs}}], "final_output_node": 0}`);
  if (found.type !== 'invalid') throw new Error('Expected an invalid plan.');
  expect(brief(found.violations)).toEqual([expect.stringMatching(/^plan\.invalid: json\.(?:invalid|limit)$/)]);
});

test('getters, proxies and other surprising values are rejected or read once', async () => {
  const cycle: Record<string, unknown> = { id: 0, tool: 'a' };
  cycle['inputs'] = { x: cycle };
  let reads = 0;
  const changing = {
    get nodes() {
      reads += 1;
      return reads === 1 ? [{ id: 0, tool: 'a' }] : [{ id: 0, tool: 'nope' }];
    },
    final_output_node: 0,
  };
  const throwing = {
    get nodes(): unknown {
      throw new Error('no');
    },
  };
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  for (const source of [{ nodes: [cycle] }, throwing, proxy, new Date(), undefined, () => null, 1n, Symbol('x')]) {
    const found = await check(source);
    if (found.type !== 'invalid') throw new Error('Expected an invalid plan.');
    expect(brief(found.violations)).toEqual([expect.stringMatching(/^plan\.invalid: json\.(?:invalid|limit)$/)]);
  }
  expect(await check(changing)).toMatchObject({ type: 'valid', checked: { plan: { nodes: [{ tool: 'a' }] } } });
  expect(reads).toBe(1);
});

test('the messages about a hostile plan stay short', async () => {
  const key = 'k'.repeat(1_000_000);
  const found = await check({
    nodes: [{ id: 0, tool: key, [key]: { [key]: 1 }, inputs: { [key]: '{{STEPS.9}}' } }],
    [key]: key,
  });
  if (found.type !== 'invalid') throw new Error('Expected an invalid plan.');
  expect(found.violations.length).toBeGreaterThan(3);
  expect(JSON.stringify(found).length).toBeLessThan(5_000);
});
