import type { JsonObject } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatTextReference, parseText } from '../plan/text-references.ts';
import { formatPath, parsePath } from '../plan/value-path.ts';
import { brief, check, digestOf, planOf, testTools } from './test-plans.ts';

interface RandomNode {
  readonly id: number | string;
  readonly tool: 'a' | 'q' | 'p' | 'typed' | 'shape';
  /** Earlier nodes, as indexes modulo their number. */
  readonly needs: readonly number[];
  readonly refersTo: readonly number[];
  readonly retry: number;
  readonly on_fail: string;
}

const key = fc.string({ unit: 'grapheme', maxLength: 5 }).filter((text) => text !== '__proto__');
const path = fc.array(fc.oneof(key, fc.nat({ max: 50 }), fc.constantFrom('a', 'b c', '0', 'x.y', '}}', '"')), {
  maxLength: 4,
});

const randomNode: fc.Arbitrary<RandomNode> = fc.record({
  id: fc.oneof(fc.nat(), fc.stringMatching(/^[A-Z][a-z0-9_-]{0,6}$/)),
  tool: fc.constantFrom('a', 'q', 'p', 'typed', 'shape'),
  needs: fc.array(fc.nat(), { maxLength: 3 }),
  refersTo: fc.array(fc.nat(), { maxLength: 2 }),
  retry: fc.nat({ max: 10 }),
  on_fail: fc.constantFrom('halt', 'continue', 'skip_dependents'),
});

/** A valid plan in which dependencies come first. */
const goodPlan: fc.Arbitrary<readonly JsonObject[]> = fc
  .uniqueArray(randomNode, { selector: ({ id }) => id, minLength: 1, maxLength: 20 })
  .map((nodes) =>
    nodes.map(({ id, tool, needs, refersTo, retry, on_fail }, index) => {
      const earlier = (numbers: readonly number[]) =>
        index === 0 ? [] : numbers.map((number) => nodes[number % index]?.id ?? 0);
      const depends_on = [...new Set(earlier(needs))];
      return { id, tool, inputs: inputsOf(tool, earlier(refersTo)), depends_on, retry, on_fail };
    }),
  );

function inputsOf(tool: RandomNode['tool'], ids: readonly (number | string)[]): JsonObject {
  const text = ids.map((id) => `see {{STEPS.${id}}} `).join('');
  switch (tool) {
    case 'a':
      return { x: ids.map((id) => ({ $from: id, default: null })), y: text };
    case 'q':
      return { q: text === '' ? 'x' : text, n: 3, mode: 'fast' };
    case 'shape':
      return {
        box: { width: 1, height: 2 },
        map: Object.fromEntries(ids.map((id) => [`k${id}`, { $from: id, path: 'count', default: 1 }])),
      };
    default:
      return {};
  }
}

test('a random valid plan is accepted, and its normal form is the same plan', async () => {
  await fc.assert(
    fc.asyncProperty(goodPlan, async (nodes) => {
      const found = await check(planOf(...nodes));
      if (found.type !== 'valid') throw new Error(JSON.stringify(found));
      expect(found.warnings.every(({ reason }) => reason === 'node.unused')).toBe(true);
      expect(await digestOf(JSON.stringify(found.checked.plan))).toBe(found.checked.digest);
      const places = new Map(found.checked.plan.nodes.map(({ id }, index) => [id, index]));
      for (const [index, { depends_on }] of found.checked.plan.nodes.entries()) {
        const before = depends_on.map((id) => places.get(id) ?? -1);
        expect(before).toEqual([...before].sort((left, right) => left - right));
        expect(before.every((place) => place >= 0 && place < index)).toBe(true);
      }
    }),
  );
});

test('the same nodes in another order are also valid', async () => {
  const shuffled = goodPlan.chain((nodes) =>
    fc.tuple(fc.constant(nodes.at(-1)?.['id'] ?? 0), fc.shuffledSubarray([...nodes], { minLength: nodes.length })),
  );
  await fc.assert(
    fc.asyncProperty(shuffled, async ([final, nodes]) => {
      expect(await check({ nodes, final_output_node: final })).toMatchObject({ type: 'valid' });
    }),
  );
});

type Spoil = (
  node: JsonObject,
  nodes: readonly JsonObject[],
) => { readonly node: unknown; readonly found: readonly string[] };

/** Each puts one fault into a node and returns the expected violation; `@` stands for the node. */
const faults: Readonly<Record<string, Spoil>> = {
  tool: (node) => ({ node: { ...node, tool: 'A', inputs: {} }, found: ['plan.tool.unknown @.tool'] }),
  function: (node) => ({ node: { ...node, function: 'other' }, found: ['plan.invalid: function.unknown @.function'] }),
  key: (node) => ({ node: { ...node, deps: [] }, found: ['plan.invalid: key.unknown @.deps'] }),
  retry: (node) => ({ node: { ...node, retry: 11 }, found: ['plan.invalid: retry.limit @.retry'] }),
  timeout: (node) => ({ node: { ...node, timeout: -1 }, found: ['plan.invalid: timeout.limit @.timeout'] }),
  on_fail: (node) => ({ node: { ...node, on_fail: 'stop' }, found: ['plan.invalid: on_fail.unknown @.on_fail'] }),
  self: (node) => ({ node: { ...node, depends_on: [node['id'] ?? 0] }, found: ['plan.deps.cycle @.depends_on[0]'] }),
  unknown: (node) => ({
    node: { ...node, depends_on: ['nowhere'] },
    found: ['plan.invalid: deps.unknown @.depends_on[0]'],
  }),
  inputs: (node) => ({ node: { ...node, inputs: [] }, found: ['plan.inputs.type @.inputs'] }),
  input: (node) => {
    const more = node['tool'] === 'typed' || node['tool'] === 'p' ? {} : (node['inputs'] as JsonObject);
    return { node: { ...node, inputs: { ...more, other: 1 } }, found: ['plan.invalid: input.unknown @.inputs.other'] };
  },
  missing: (node) => ({ node: { ...node, tool: 'q', inputs: {} }, found: ['plan.input.missing @.inputs.q'] }),
  type: (node) => ({ node: { ...node, tool: 'q', inputs: { q: 'x', n: 'x' } }, found: ['plan.input.type @.inputs.n'] }),
  reference: (node) => ({
    node: { ...node, tool: 'a', inputs: { x: [{ $from: 'nowhere' }] } },
    found: ['plan.ref.unknown @.inputs.x[0]'],
  }),
  text: (node) => ({
    node: { ...node, tool: 'a', inputs: { x: '{{STEPS}}' } },
    found: ['plan.invalid: ref.invalid @.inputs.x'],
  }),
};

test('one fault in a valid plan is found at its place, and nothing else', async () => {
  const spoilt = fc.tuple(goodPlan, fc.nat(), fc.constantFrom(...Object.keys(faults)));
  await fc.assert(
    fc.asyncProperty(spoilt, async ([nodes, number, fault]) => {
      const index = number % nodes.length;
      const node = nodes[index] ?? {};
      const { node: bad, found } = faults[fault]?.(node, nodes) ?? { node, found: [] };
      const plan = { ...planOf(...nodes), nodes: nodes.with(index, bad as JsonObject) };
      const answer = await check(plan);
      expect(answer.type === 'invalid' && brief(answer.violations)).toEqual(
        found.map((line) => line.replace('@', `nodes[${index}]`)),
      );
    }),
    { numRuns: 50 },
  );
});

test('a node that depends on one of its dependents makes a cycle, the only violation', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 2, max: 30 }), fc.nat(), fc.nat(), async (length, from, to) => {
      const ids = Array.from({ length }, (_, id) => id);
      const late = 1 + (from % (length - 1));
      const early = to % late;
      const nodes = ids.map((id) => ({ id, tool: 'a', depends_on: id === 0 ? [] : [id - 1] }));
      const plan = planOf(
        ...nodes.map((node) => (node.id === early ? { ...node, depends_on: [...node.depends_on, late] } : node)),
      );
      const answer = await check(plan);
      if (answer.type !== 'invalid') throw new Error('Expected an invalid plan.');
      expect(brief(answer.violations)).toEqual([`plan.deps.cycle nodes[${early}].depends_on[${early === 0 ? 0 : 1}]`]);
    }),
  );
});

test('two writers of one lock are rejected exactly if neither depends on the other', async () => {
  const graph = fc.array(fc.tuple(fc.array(fc.nat(), { maxLength: 2 }), fc.constantFrom('db', 'log', '')), {
    minLength: 2,
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(graph, async (random) => {
      const needs = random.map(([numbers], index) =>
        index === 0 ? [] : [...new Set(numbers.map((number) => number % index))],
      );
      const nodes = random.map(([, lock], id) =>
        lock === ''
          ? { id, tool: 'a', depends_on: needs[id] ?? [] }
          : { id, tool: 'write', inputs: { name: lock }, depends_on: needs[id] ?? [] },
      );
      const waits = needs.map(() => new Set<number>());
      for (const [id, list] of needs.entries()) {
        for (const parent of list) waits[id] = new Set([...(waits[id] ?? []), parent, ...(waits[parent] ?? [])]);
      }
      const isFree = nodes.some((node, id) =>
        nodes.some(
          (other, before) =>
            before < id &&
            node.tool === 'write' &&
            JSON.stringify(node.inputs) === JSON.stringify(other.inputs) &&
            waits[id]?.has(before) !== true,
        ),
      );
      const answer = await check(planOf(...nodes));
      expect(answer.type).toBe(isFree ? 'invalid' : 'valid');
      if (answer.type === 'invalid')
        expect(new Set(answer.violations.map(describeCode))).toEqual(new Set(['plan.invalid: locks.unordered']));
    }),
    { numRuns: 30 },
  );
});

test('formatted paths and references are read back unchanged', () => {
  const reference = fc.record(
    {
      from: fc.oneof(fc.nat(), fc.constantFrom('a', 'Z-9_')),
      path,
      default: fc.oneof(
        fc.string().filter((text) => !/steps/i.test(text)),
        fc.boolean(),
        fc.constant(null),
        fc.integer(),
      ),
    },
    { requiredKeys: ['from', 'path'] },
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), reference)), (parts) => {
      const texts = parts.filter((part) => typeof part === 'string');
      fc.pre(!/steps/i.test(texts.join('')));
      const read = parseText(
        parts.map((part) => (typeof part === 'string' ? part : formatTextReference(part))).join(''),
      );
      expect(read.problems).toEqual([]);
      expect(read.parts.filter((part) => typeof part !== 'string')).toEqual(
        parts.filter((part) => typeof part !== 'string'),
      );
    }),
  );
  fc.assert(
    fc.property(path, (steps) => {
      expect(parsePath(formatPath(steps))).toMatchObject({ ok: true, path: steps });
    }),
  );
});

test('any source gives a result and never throws', async () => {
  const word = fc.constantFrom(
    'nodes',
    'id',
    'tool',
    'inputs',
    'depends_on',
    '$from',
    'path',
    'default',
    'final_output_node',
    'status',
  );
  const { json } = fc.letrec<{ readonly json: unknown }>((tie) => ({
    json: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(0, 1, -1, 'a', 'q', '{{STEPS.0.x}}', '{{STEPS', null, true, ''),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(word, tie('json'), { maxKeys: 5 }),
    ),
  }));
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(json, fc.string(), fc.record({ nodes: fc.array(json), final_output_node: json })),
      async (source) => {
        expect(['valid', 'invalid', 'declined']).toContain((await check(source)).type);
      },
    ),
    { numRuns: 80 },
  );
});

test('checks ten thousand nodes', async () => {
  const layer = 100;
  const nodes = Array.from({ length: 10_000 }, (_, id) => ({
    id,
    tool: 'write',
    inputs: { name: `lock ${id % layer}` },
    depends_on: id < layer ? [] : [id - layer, id - layer + ((id + 1) % layer) - (id % layer)],
  }));
  const last = {
    id: 'last',
    tool: 'a',
    depends_on: nodes.slice(-layer).map(({ id }) => id),
    inputs: { x: '{{STEPS.0}}' },
  };
  expect(await check(planOf(...nodes.slice(layer), last))).toMatchObject({ type: 'invalid' });
  expect(
    await check(planOf(...nodes.slice(0, -1), { ...last, depends_on: nodes.slice(-layer, -1).map(({ id }) => id) })),
  ).toMatchObject({ type: 'valid' });
});

test('rejects a hundred thousand nodes, and reports a ring of ten thousand as one cycle', async () => {
  const many = Array.from({ length: 100_000 }, (_, id) => ({ id, tool: 'a' }));
  expect(await check(planOf(...many))).toMatchObject({
    type: 'invalid',
    violations: [{ code: 'plan.invalid', reason: 'nodes.limit' }],
  });
  const wheel = Array.from({ length: 10_000 }, (_, id) => ({ id, tool: 'a', depends_on: [(id + 1) % 10_000] }));
  const answer = await check(planOf(...wheel), { tools: testTools });
  expect(answer.type === 'invalid' && brief(answer.violations)).toEqual(['plan.deps.cycle nodes[0].depends_on[0]']);
});
