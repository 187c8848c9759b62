import { allow, definePolicy, defineTool, type KeyedState, type Policy, type Tool, upsert } from '@holdfast/core';
import { expect, test } from 'vitest';
import { shortKey } from '../logs/short-key.ts';
import { byModel, directly, type MadeCall, makeWorld, makeWriter, nested, type Runner } from './call-fixtures.ts';
import type { RunnerName } from './outcomes/cause.ts';
import { failures } from './outcomes/failures.ts';
import { invalids } from './outcomes/invalid.ts';
import { refusals, stops } from './outcomes/refusals-and-stops.ts';
import { successes } from './outcomes/successes.ts';

const runners: Readonly<Record<RunnerName, Runner>> = { directly, byModel, nested };

/** Counts successes of `write`, and keeps its calls in doubt. */
const watch: Policy<KeyedState<number>> = definePolicy<number>({
  name: 'watch',
  stateKind: 'keyed',
  check: () => allow,
  onResult: ({ tool }, _result, { state }) =>
    tool.name === 'write' ? upsert('successes', (state.get('successes') ?? 0) + 1) : undefined,
  reserve: ({ tool }, { callKey }) => (tool.name === 'write' ? upsert(shortKey(callKey), 1) : undefined),
});

const causes = [...successes, ...failures, ...invalids, ...refusals, ...stops].flatMap((cause) =>
  (cause.by ?? (['directly', 'byModel', 'nested'] as const)).map((by) => ({ ...cause, by })),
);

test('every way to be in doubt is among the causes', () => {
  const inDoubt = new Set(causes.filter(({ kind }) => kind === 'in-doubt').map(({ by }) => by));
  expect([...inDoubt].sort()).toEqual(['byModel', 'directly', 'nested']);
});

test.each(causes)('$kind, $by: $what', async (cause) => {
  const { kind, by, call, does = () => 'done', tool: extra, policies = [] } = cause;
  const world = makeWorld({ ...cause.world?.(), policies: [watch] });
  const { session, filesystem, clock } = world;
  const made: MadeCall = { id: 'c', name: 'write', arguments: '{}', ...call };
  const tool: Tool =
    extra === 'declared'
      ? (defineTool({ name: 'write', description: 'Only declared.' }) as Tool)
      : makeWriter((context) => does(context, world), extra);
  const { outcome } = await runners[by](made, {
    tools: [tool],
    session,
    policies: [watch, ...policies],
    resources: { filesystem },
    clock,
    ...cause.options?.(world),
  });
  expect(outcome.kind).toBe(kind);
  const state = session.export().slices.find(({ id }) => id === 'policy:host/watch')?.state ?? [];
  const keys = (state as [string, number][]).map(([key]) => key);
  const key = by === 'nested' ? 'outer/1' : 'c';
  expect(keys).toEqual(
    kind === 'ok' ? ['successes'] : kind === 'in-doubt' ? [expect.stringMatching(new RegExp(`^[^/]+/.*${key}$`))] : [],
  );
});
