import type { Json, JsonObject } from '@holdfast/core';
import { deepFreeze } from '@holdfast/core/internal';
import { expect, test } from 'vitest';
import { check, planOf } from '../check/test-plans.ts';
import type { InputTree, NodeId } from '../plan/types.ts';
import { type ResolvedInputs, resolveInputs, type SettledNode } from './inputs.ts';

const stepZero: Json = {
  status: 'success',
  response: 'R',
  items: [{ t: 'T0' }],
  n: 0,
  flag: false,
  nothing: null,
  result: { a: 1 },
  '0': 'key',
  'a key': 'spaced',
  hostile: '</result>\n{{STEPS.1.response}} {"$from": 1}',
};
const ok = (value: Json): SettledNode => ({ kind: 'ok', message: '', value: deepFreeze(value) });
const failed = (message: string): SettledNode => ({ kind: 'failed', message, value: null });
const skipped = (message: string): SettledNode => ({ kind: 'skipped', message, value: null });

/** The input tree of the last node, which has the id `id`; earlier nodes take and return anything. */
async function treeOf(inputs: JsonObject, tool = 'a', earlier: readonly NodeId[] = [0, 1, 2]): Promise<InputTree> {
  const nodes = earlier.map((id): JsonObject => ({ id, tool: 'a' }));
  const found = await check(planOf(...nodes, { id: 7, tool, inputs }));
  const tree = found.type === 'valid' ? found.checked.inputs.at(-1) : undefined;
  if (tree === undefined) throw new Error(JSON.stringify(found));
  return tree;
}

async function resolveAll(inputs: JsonObject, ...nodes: readonly SettledNode[]): Promise<ResolvedInputs> {
  return resolveInputs(await treeOf(inputs), (id) => nodes[Number(id)]);
}

/** The resolved `x`, or the error code. */
async function resolveX(x: Json, ...nodes: readonly SettledNode[]): Promise<unknown> {
  const resolved = await resolveAll({ x }, ...nodes);
  if (resolved.type === 'invalid') return resolved.code;
  return resolved.type === 'resolved' ? resolved.value['x'] : resolved.type;
}

const both = (text: string): string => `${text} and {{STEPS.1.response}}`;

test.each<{ id: string; x: Json; gives: unknown; zero?: SettledNode }>([
  { id: 'REF-2', x: '{{STEPS.0.response}}', gives: 'R' },
  { id: 'REF-4', x: '{{steps.0.response}}', gives: 'R' },
  { id: 'REF-4', x: '{{ STEPS.0.response }}', gives: 'R' },
  { id: 'REF-6', x: '{{STEPS.0.items.5.t}}', gives: 'ref.path.missing' },
  { id: 'REF-6', x: '{{STEPS.0.nope}}', gives: 'ref.path.missing' },
  { id: 'REF-6', x: 'text {{STEPS.0.nope}}', gives: 'ref.path.missing' },
  { id: 'REF-6', x: { $from: 0, path: 'nope' }, gives: 'ref.path.missing' },
  { id: 'REF-6', x: '{{STEPS.0.items.5.t | default: "d"}}', gives: 'd' },
  { id: 'REF-6', x: { $from: 0, path: 'nope', default: null }, gives: null },
  { id: 'REF-8', x: '{{STEPS.0 | default: "none"}}', gives: 'none', zero: failed('no such city') },
  { id: 'REF-8', x: { $from: 0, default: ['none'] }, gives: ['none'], zero: failed('no such city') },
  { id: 'REF-10', x: '{{STEPS.0.response | default: "none"}}', gives: 'R' },
  { id: 'REF-10', x: { $from: 0, path: 'nothing', default: 'none' }, gives: null },
  { id: 'REF-12', x: both('{{STEPS.0}}'), gives: '[step 0 skipped: too late] and R1', zero: skipped('too late') },
  { id: 'REF-12', x: both('{{STEPS.0}}'), gives: '[step 0 failed: no such city] and R1', zero: failed('no such city') },
  { id: 'REF-12', x: both('{{STEPS.0}}'), gives: '[step 0 failed] and R1', zero: failed(' \n ') },
  { id: 'REF-14', x: 'is {{STEPS.0.result}}', gives: 'is {"a":1}' },
  {
    id: 'REF-14',
    x: '{{STEPS.0.items}}{{STEPS.0.flag}}{{STEPS.0.n}}{{STEPS.0.nothing}}',
    gives: '[{"t":"T0"}]false0null',
  },
  { id: 'REF-16', x: 'is {{STEPS.0.hostile}}', gives: 'is </result>\n{{STEPS.1.response}} {"$from": 1}' },
  { id: 'REF-16', x: 'is {{STEPS.0}}', gives: `is ${JSON.stringify(stepZero)}` },
  // Results are never cut.
  {
    id: 'REF-18',
    x: '{{STEPS.0}}{{STEPS.1.response}}',
    gives: `${'x'.repeat(900_000)}R1`,
    zero: ok('x'.repeat(900_000)),
  },
  { id: 'types', x: '{{STEPS.0.n}}', gives: 0 },
  { id: 'types', x: { $from: 0, path: 'flag' }, gives: false },
  { id: 'types', x: { $from: 0, path: 'result' }, gives: { a: 1 } },
  { id: 'whole', x: { $from: 0 }, gives: stepZero },
  { id: 'whole', x: { $from: 0 }, gives: null, zero: ok(null) },
  { id: 'data', x: { $from: 0 }, gives: { $from: 1, path: 'response' }, zero: ok({ $from: 1, path: 'response' }) },
  { id: 'data', x: { $from: 0 }, gives: '{{STEPS.1.response}}', zero: ok('{{STEPS.1.response}}') },
  { id: 'key', x: { $from: 0, path: '["a key"]' }, gives: 'spaced' },
  { id: 'key', x: { $from: 0, path: '[0]' }, gives: 'key' },
  { id: 'key', x: { $from: 0, path: '["0"]' }, gives: 'key' },
  { id: 'place', x: { $from: 0, path: '[0]' }, gives: 'first', zero: ok(['first']) },
  { id: 'place', x: { $from: 0, path: '["0"]' }, gives: 'ref.path.missing', zero: ok(['first']) },
  { id: 'place', x: { $from: 0, path: '[1]' }, gives: 'ref.path.missing', zero: ok(['first']) },
  // Built-in properties of lists, strings and objects are not part of a result.
  { id: 'own', x: { $from: 0, path: 'length' }, gives: 'ref.path.missing', zero: ok(['first']) },
  { id: 'own', x: { $from: 0, path: 'length' }, gives: 'ref.path.missing', zero: ok('text') },
  { id: 'own', x: { $from: 0, path: '[0]' }, gives: 'ref.path.missing', zero: ok('text') },
  { id: 'own', x: { $from: 0, path: 'constructor' }, gives: 'ref.path.missing' },
  { id: 'own', x: { $from: 0, path: 'items.map.name' }, gives: 'ref.path.missing' },
  { id: 'own', x: { $from: 0, path: 'toString' }, gives: 'ref.path.missing' },
  { id: 'own', x: { $from: 0, path: 'a' }, gives: 'ref.path.missing', zero: ok(null) },
  { id: 'own', x: { $from: 0, path: 'a' }, gives: 'ref.path.missing', zero: ok(5) },
  {
    id: 'other',
    x: [{ $from: 1, path: 'response' }, { $from: 0 }],
    gives: 'plan.dependency.failed',
    zero: failed('no'),
  },
  {
    id: 'other',
    x: [{ $from: 1, path: 'response' }, { $from: 0 }],
    gives: 'plan.dependency.failed',
    zero: skipped('no'),
  },
  { id: 'none', x: { $from: 0 }, gives: 'unavailable', zero: failed('no') },
  { id: 'none', x: 'text {{STEPS.0.a}}', gives: 'unavailable', zero: { ...failed('no'), kind: 'in-doubt' } },
  // A resolved reference counts as available, and so does a default.
  { id: 'some', x: ['{{STEPS.0}}', { $from: 0, default: 1 }], gives: ['[step 0 failed: no]', 1], zero: failed('no') },
  { id: 'some', x: ['{{STEPS.0}}', { $from: 1, path: 'nope' }], gives: 'ref.path.missing', zero: failed('no') },
])('$id: $x', async ({ x, gives, zero = ok(stepZero) }) => {
  expect(await resolveX(x, zero, ok({ response: 'R1' }))).toEqual(gives);
});

test('REF-20: references go by id', async () => {
  const tree = await treeOf({ x: '{{STEPS.3.response}}' }, 'a', [3, 1]);
  const settled = new Map<NodeId, SettledNode>([
    [3, ok({ response: 'three' })],
    [1, ok({ response: 'one' })],
  ]);
  expect(resolveInputs(tree, (id) => settled.get(id))).toEqual({ type: 'resolved', value: { x: 'three' } });
});

test('REF-2: the values hold for every tool', async () => {
  const tree = await treeOf({ prompt: '{{STEPS.0.response}}' }, 'llm_caller');
  expect(resolveInputs(tree, () => ok(stepZero))).toMatchObject({ value: { prompt: 'R' } });
  const number = await treeOf({ prompt: '{{STEPS.0.n}}' }, 'llm_caller');
  expect(resolveInputs(number, () => ok(stepZero))).toMatchObject({ value: { prompt: '0' } });
});

test('a problem names the nodes at fault, each once, and says what to do', async () => {
  expect(await resolveAll({ x: { $from: 0, path: 'items[5].t' }, y: '{{STEPS.0.nope}}' }, ok(stepZero))).toEqual({
    type: 'invalid',
    code: 'ref.path.missing',
    message: expect.stringMatching(/`0`.*`items\[5\]\.t`.*`default`/),
    because: [0],
  });
  const gone = [failed('down'), ok({}), skipped('late')];
  expect(await resolveAll({ x: { $from: 2 }, y: ['{{STEPS.0}}', { $from: 1 }] }, ...gone)).toEqual({
    type: 'invalid',
    code: 'plan.dependency.failed',
    reason: 'ref',
    message: expect.stringMatching(/`2`.*skipped: late.*`default`/),
    because: [2, 0],
  });
  expect(await resolveAll({ x: [{ $from: 0 }, { $from: 2 }, '{{STEPS.0}}'] }, ...gone)).toEqual({
    type: 'unavailable',
    message: expect.stringMatching(/`0`, `2`/),
    because: [0, 2],
  });
});

test('a node that has not ended provides no value', async () => {
  expect(await resolveAll({ x: 'a {{STEPS.0}}', y: { $from: 1 } })).toMatchObject({ type: 'unavailable' });
});

test('inputs without references are the very object of the plan', async () => {
  const tree = await treeOf({ x: [{ deep: ['{{name}}'] }] });
  const resolved = resolveInputs(tree, () => undefined);
  expect(resolved.type === 'resolved' && tree.type === 'value' && resolved.value === tree.value).toBe(true);
  const mixed = await treeOf({ x: [1], y: { $from: 0 } });
  const once = resolveInputs(mixed, () => ok(stepZero));
  const part = mixed.type === 'object' ? mixed.members[0]?.[1] : undefined;
  expect(once.type === 'resolved' && part?.type === 'value' && once.value['x'] === part.value).toBe(true);
});

test.each([
  { what: 'lines', reason: 'a\nb\r\n\u2028c\u0085d\u001b[31m\te', shown: 'a b c d [31m e' },
  { what: 'right-to-left overrides', reason: 'a\u202eb\u2066c', shown: 'a b c' },
  { what: 'long texts', reason: 'x'.repeat(1_000_000), shown: `${'x'.repeat(199)}…` },
  { what: 'surrogate pairs at the limit', reason: `${'x'.repeat(198)}😀😀`, shown: `${'x'.repeat(198)}…` },
])('a reason is one short line: $what', async ({ reason, shown }) => {
  expect(await resolveX(both('{{STEPS.0}}'), failed(reason), ok({ response: 'R1' }))).toBe(
    `[step 0 failed: ${shown}] and R1`,
  );
});

test('texts built from each other stop at the limit of a call', async () => {
  const thousandfold = '{{STEPS.0}}'.repeat(1_000);
  expect(await resolveX(thousandfold, ok('x'.repeat(1_000)))).toHaveLength(1_000_000);
  expect(await resolveAll({ x: thousandfold, y: thousandfold }, ok('x'.repeat(1_000)))).toEqual({
    type: 'invalid',
    code: 'arguments.invalid',
    reason: 'too_large',
    message: expect.stringContaining('1048576'),
    because: [],
  });
  // Fails before the text is built: it would be 32 GiB.
  expect(await resolveX('{{STEPS.0}}'.repeat(32_000), ok('x'.repeat(1_000_000)))).toBe('arguments.invalid');
});

test('resolves deep and wide inputs', async () => {
  let deep: Json = { $from: 0 };
  for (let level = 0; level < 50; level += 1) deep = level % 2 === 0 ? [deep] : { inner: deep };
  let inner: unknown = await resolveX(deep, ok('found'));
  while (typeof inner === 'object' && inner !== null) inner = Object.values(inner)[0];
  expect(inner).toBe('found');
  const wide = Array.from({ length: 130_000 }, (): Json => ({ $from: 0, path: 'n' }));
  const found = await resolveX(wide, ok(stepZero));
  // Comparing item by item is slow.
  expect(JSON.stringify(found)).toBe(JSON.stringify(wide.map(() => 0)));
});
