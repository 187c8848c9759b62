import type { NodeTrace } from '@holdfast/orchestrator';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { endedNode, nodeTrace, planStart } from '../testing/test-plan-events.ts';
import { PlanProgress } from './progress.ts';
import { estimateLeftMs } from './time-left.ts';

function estimate(nodes: readonly NodeTrace[], places = 10, nowMs = 0): number | undefined {
  const progress = new PlanProgress();
  progress.apply(planStart(nodes));
  return estimateLeftMs(progress.nodes, { places, nowMs });
}

const slow = { tool: 'slow', durationMs: 4000 };

test.each([
  { name: 'nothing has ended', nodes: [nodeTrace(1)], left: undefined },
  { name: 'a tool that is still to run has never ended', nodes: [endedNode(1), nodeTrace(2, slow)], left: undefined },
  {
    name: 'its only end was none of its own',
    nodes: [nodeTrace(1, { kind: 'skipped' }), nodeTrace(2)],
    left: undefined,
  },
  { name: 'a person is waited for', nodes: [endedNode(1), nodeTrace(2, { kind: 'suspended' })], left: undefined },
  { name: 'nothing is left', nodes: [endedNode(1)], left: 0 },
  { name: 'one like it is left', nodes: [endedNode(1), nodeTrace(2)], left: 100 },
  {
    name: 'those of a tool took differently long',
    nodes: [endedNode(1), endedNode(2, { durationMs: 300 }), nodeTrace(3)],
    left: 200,
  },
  { name: 'two that need not wait for each other', nodes: [endedNode(1), nodeTrace(2), nodeTrace(3)], left: 100 },
  {
    name: 'two that do',
    nodes: [endedNode(1), nodeTrace(2), nodeTrace(3, { dependsOn: [2] })],
    left: 200,
  },
  {
    name: 'what is needed stands behind',
    nodes: [endedNode(1), nodeTrace(3, { dependsOn: [2] }), nodeTrace(2)],
    left: 200,
  },
  {
    name: 'one that runs since 60 ms',
    nodes: [endedNode(1), nodeTrace(2, { kind: 'running', startedAtMs: 940 })],
    nowMs: 1000,
    left: 40,
  },
  {
    name: 'one that takes longer than any before',
    nodes: [endedNode(1), nodeTrace(2, { kind: 'running', startedAtMs: 0 })],
    nowMs: 1000,
    left: 0,
  },
])('$name: $left ms', ({ nodes, left, nowMs }) => {
  expect(estimate(nodes, 10, nowMs)).toBe(left);
});

test('few places: all that is left, one after the other', () => {
  const nodes = [endedNode(0), ...[1, 2, 3, 4, 5, 6].map((id) => nodeTrace(id))];
  expect(estimate(nodes, 1)).toBe(600);
  expect(estimate(nodes, 2)).toBe(300);
  expect(estimate(nodes, 100)).toBe(100);
});

test('a chain as long as a plan can be overflows nothing', () => {
  const nodes = [endedNode(0), ...Array.from({ length: 9999 }, (_, at) => nodeTrace(at + 1, { dependsOn: [at] }))];
  expect(estimate(nodes)).toBe(999_900);
  // As bad, from behind.
  expect(estimate(nodes.toReversed())).toBe(999_900);
});

test('it is never less than the longest chain, nor than the work shared out, and never more than all of it', () => {
  const plans = fc.array(fc.array(fc.nat(), { maxLength: 3 }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(plans, fc.integer({ min: 1, max: 8 }), (shape, places) => {
      const needs = shape.map((picks, at) => (at === 0 ? [] : [...new Set(picks.map((pick) => pick % at))]));
      const depths: number[] = [];
      for (const [at, before] of needs.entries())
        depths[at] = 1 + Math.max(0, ...before.map((one) => depths[one] ?? 0));
      const nodes = needs.map((before, at) => nodeTrace(at, { dependsOn: before }));
      const left = estimate([endedNode('done'), ...nodes], places) ?? Number.NaN;
      expect(left).toBe(Math.max(100 * Math.max(...depths), (100 * nodes.length) / places));
    }),
  );
});
