import type { Json } from '@holdfast/core';
import { checkPlan, type PlanTrace, readTrace, reportTrace, runPlan } from '@holdfast/orchestrator';
import { createSession } from '@holdfast/session';
import { manualClock } from '@holdfast/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { functionsOf, ownPlans, standIns } from './test-real-plans.ts';
import { type Doing, passTime } from './test-run.ts';

type Container = Json[] | Record<string, Json>;

/** One change of what is somewhere in a document. */
interface Change {
  readonly where: number;
  readonly how: 'drop' | 'set' | 'double' | 'add';
  readonly key: string;
  readonly value: Json;
}

const values: readonly Json[] = [
  ...[null, true, 0, 1, 2, 3, -1, 1.5, 60, '', '0', 'continue', 'skip_dependents', 'writer', 'page_search'],
  ...['{{STEPS.0.response}}', '{{STEPS.2}}', '{{STEPS.3.a[0]}}', 'and {{STEPS.1 | default: "x"}}', '{{STEPS.0'],
  ...[[], {}, [0], [1, 0], { $from: 0 }, { $from: 3, path: 'a' }, { $from: 1, default: null }],
];
const keys = ['x', 'depends_on', 'on_fail', 'retry', 'inputs', 'args', 'timeout', 'id', 'prompt', 'constructor'];
const changes: fc.Arbitrary<readonly Change[]> = fc.array(
  fc.record({
    where: fc.nat(),
    how: fc.constantFrom<Change['how']>('drop', 'set', 'set', 'double', 'add'),
    key: fc.constantFrom(...keys),
    value: fc.constantFrom(...values),
  }),
  { maxLength: 3 },
);

function change(document: Json, { where, how, key, value }: Change): void {
  const places: { readonly holder: Container; readonly at: string }[] = [];
  const walk = (holder: Container): void => {
    for (const [at, inner] of Object.entries(holder)) {
      places.push({ holder, at });
      if (typeof inner === 'object' && inner !== null) walk(inner as Container);
    }
  };
  walk(document as Container);
  const place = places[where % places.length];
  if (place === undefined) return;
  const { holder, at } = place;
  if (Array.isArray(holder)) {
    const index = Number(at);
    if (how === 'drop') holder.splice(index, 1);
    else if (how === 'set') holder[index] = structuredClone(value);
    else holder.splice(index, 0, structuredClone(how === 'add' ? value : (holder[index] ?? null)));
  } else if (how === 'drop') delete holder[at];
  else holder[how === 'add' ? key : at] = structuredClone(value);
}

const ended: readonly PlanTrace['status'][] = ['succeeded', 'partial', 'failed'];

test('a real plan, broken in up to three places, is refused or runs to its end, and says the same as text and from its log', async () => {
  const counts = { refused: 0, run: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('comparison', 'news'),
      changes,
      fc.infiniteStream(
        fc.constantFrom<Json>('throw', null, { response: 'text {{STEPS.1.response}}' }, { response: [1] }),
      ),
      async (which, made, results) => {
        const source = JSON.parse(ownPlans[which as 'comparison' | 'news']) as Json;
        for (const one of made) change(source, one);
        const doing: Doing = () => {
          const result = results.next().value;
          if (result === 'throw') throw new Error('{{STEPS.0}}');
          return result;
        };
        const tools = standIns(ownPlans, new Map(ownPlans.registry.map(({ name }) => [name, doing])));
        const options = { tools, functions: functionsOf(ownPlans) };
        const found = await checkPlan(source, options);
        const asText = await checkPlan(JSON.stringify(source), options);
        expect(JSON.stringify(asText)).toBe(JSON.stringify(found));
        if (found.type !== 'valid') {
          counts.refused += 1;
          if (found.type === 'invalid') expect(found.violations.length).toBeGreaterThan(0);
          return;
        }
        counts.run += 1;
        const { plan, digest } = found.checked;
        expect(await checkPlan(plan, options)).toMatchObject({ type: 'valid', checked: { digest } });
        const clock = manualClock();
        const session = createSession({ id: 's', clock });
        const trace = await passTime(clock, runPlan(found.checked, { tools, session, clock, random: () => 0 }).result);
        expect(ended).toContain(trace.status);
        expect(trace.nodes.filter(({ kind }) => kind === 'waiting' || kind === 'running')).toEqual([]);
        expect(readTrace(session.records())).toEqual(trace);
        expect(session.openWork()).toEqual({ runs: [], plans: [], calls: [] });
        expect(reportTrace(trace).summary).toContain(`${trace.status}: `);
      },
    ),
    { numRuns: 75 },
  );
  expect(Math.min(counts.refused, counts.run)).toBeGreaterThan(10);
});
