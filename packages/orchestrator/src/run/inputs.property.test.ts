import type { Json, JsonObject } from '@holdfast/core';
import { deepFreeze, isPlainObject } from '@holdfast/core/internal';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { check, planOf } from '../check/test-plans.ts';
import { formatPath } from '../plan/value-path.ts';
import { type ResolvedInputs, resolveInputs, type SettledNode } from './inputs.ts';

/** Includes text that looks like references, and keys of `Object.prototype`. */
const leaf = fc.oneof(
  fc.constantFrom<Json>('{{STEPS.0}}', '{{ steps.1.a | default: "x" }}', '__x__', '', null, true, 0, -1.5),
  fc.string({ maxLength: 6 }),
);
const key = fc.constantFrom('$from', 'path', 'default', 'a', 'b', 'constructor', 'toString', '0', 'length');
const { json } = fc.letrec<{ readonly json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(key, tie('json'), { maxKeys: 3 }),
  ),
}));
const result = json.map((value) => deepFreeze(structuredClone(value)));
const node: fc.Arbitrary<SettledNode> = fc.oneof(
  { weight: 3, arbitrary: result.map((value) => ({ kind: 'ok' as const, message: '', value })) },
  fc.record({
    kind: fc.constantFrom('failed', 'skipped', 'denied', 'timed-out', 'in-doubt'),
    message: fc.string(),
    value: fc.constant(null),
  }),
);

const path = fc.array(fc.oneof(key, fc.nat({ max: 3 })), { maxLength: 3 });
/** An input and its expected value, computed by a simple reference model. */
interface Sample {
  readonly input: Json;
  readonly expected: (nodes: readonly SettledNode[]) => Json | undefined;
}
const plain: fc.Arbitrary<Sample> = fc
  .constantFrom<Json>('text', 5, null, [], {}, ['{{name}}'], { from: 0 })
  .map((input) => ({ input, expected: () => input }));
const reference: fc.Arbitrary<Sample> = fc
  .tuple(fc.nat({ max: 1 }), path, fc.option(fc.constantFrom<Json>('d', null, { d: 1 }), { nil: undefined }))
  .map(([from, steps, fallback]) => ({
    input: { $from: from, path: formatPath(steps), ...(fallback === undefined ? {} : { default: fallback }) },
    expected: (nodes) => {
      const value = valueAt(nodes[from], steps);
      return value === undefined ? fallback : value;
    },
  }));
const { sample } = fc.letrec<{ readonly sample: Sample }>((tie) => ({
  sample: fc.oneof(
    { maxDepth: 2 },
    plain,
    reference,
    fc.array(tie('sample'), { maxLength: 3 }).map(
      (items): Sample => ({
        input: items.map(({ input }) => input),
        expected: (nodes) => allOf(items.map(({ expected }) => expected(nodes))),
      }),
    ),
    fc.dictionary(fc.constantFrom('p', 'q'), tie('sample'), { maxKeys: 2 }).map(
      (members): Sample => ({
        input: Object.fromEntries(Object.entries(members).map(([name, { input }]) => [name, input])),
        expected: (nodes) => {
          const entries = Object.entries(members).map(([name, { expected }]) => [name, expected(nodes)] as const);
          return allOf(entries.map(([, value]) => value)) && Object.fromEntries(entries as [string, Json][]);
        },
      }),
    ),
  ),
}));

function valueAt(settled: SettledNode | undefined, steps: readonly (string | number)[]): Json | undefined {
  if (settled?.kind !== 'ok') return undefined;
  let value: unknown = settled.value;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value) && typeof step !== 'number') return undefined;
    value = new Map(Object.entries(value)).get(String(step));
  }
  return value as Json | undefined;
}

function allOf(values: readonly (Json | undefined)[]): readonly Json[] | undefined {
  return values.includes(undefined) ? undefined : (values as readonly Json[]);
}

async function resolverOf(x: Json): Promise<(nodes: readonly SettledNode[]) => ResolvedInputs> {
  const earlier = [0, 1].map((id): JsonObject => ({ id, tool: 'a' }));
  const found = await check(planOf(...earlier, { id: 2, tool: 'a', inputs: { x } }));
  const tree = found.type === 'valid' ? found.checked.inputs.at(-1) : undefined;
  if (tree === undefined) throw new Error(JSON.stringify(found));
  return (nodes) => resolveInputs(tree, (id) => nodes[Number(id)]);
}

function isFrozenThroughout(value: unknown): boolean {
  if (!Array.isArray(value) && !isPlainObject(value)) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozenThroughout);
}

test('references are replaced by their values, and nothing else changes', async () => {
  await fc.assert(
    fc.asyncProperty(sample, fc.tuple(node, node), async ({ input, expected }, nodes) => {
      const resolve = await resolverOf(input);
      const before = JSON.stringify(nodes);
      const resolved = resolve(nodes);
      const value = expected(nodes);
      if (value === undefined) expect(resolved.type).not.toBe('resolved');
      else expect(resolved).toEqual({ type: 'resolved', value: { x: value } });
      // Repeatable, and nothing in the result is mutable.
      expect(resolve(nodes)).toEqual(resolved);
      if (resolved.type === 'resolved') expect(isFrozenThroughout(resolved.value)).toBe(true);
      expect(JSON.stringify(nodes)).toBe(before);
    }),
  );
});

test('a text contains every result verbatim, whatever it looks like', async () => {
  await fc.assert(
    fc.asyncProperty(node, node, async (first, second) => {
      const resolve = await resolverOf('<{{STEPS.0}}|{{STEPS.1}}>');
      const resolved = resolve([first, second]);
      const shown = [first, second].map(({ kind, value }, index) => {
        if (kind !== 'ok') return new RegExp(`^\\[step ${index} ${kind === 'skipped' ? 'skipped' : 'failed'}`, 'u');
        return typeof value === 'string' ? value : JSON.stringify(value);
      });
      const [one = '', two = ''] = shown;
      if (typeof one !== 'string' && typeof two !== 'string') {
        expect(resolved).toMatchObject({ type: 'unavailable', because: [0, 1] });
        return;
      }
      if (resolved.type !== 'resolved') throw new Error(resolved.message);
      const text = String(resolved.value['x']);
      if (typeof one === 'string' && typeof two === 'string') expect(text).toBe(`<${one}|${two}>`);
      else if (typeof one === 'string') expect(text.startsWith(`<${one}|[step 1 `)).toBe(true);
      else expect(text.endsWith(`|${String(two)}>`) && one.test(text.slice(1))).toBe(true);
      expect(text.includes('\n')).toBe([one, two].some((part) => typeof part === 'string' && part.includes('\n')));
    }),
  );
});
