import type { NodeTrace, PlanEvent } from '@holdfast/orchestrator';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { endedNode, nodeTrace, planStart } from '../testing/test-plan-events.ts';
import { describeNode } from './node-line.ts';
import { isSettled, PlanProgress } from './progress.ts';

function follow(nodes: readonly NodeTrace[], ...events: readonly PlanEvent[]): PlanProgress {
  const progress = new PlanProgress();
  for (const event of [planStart(nodes), ...events]) progress.apply(event);
  return progress;
}

const start = (node: string | number, atMs = 5): PlanEvent => ({
  type: 'node-start',
  node,
  callId: `call_${node}`,
  atMs,
});
const end = (node: NodeTrace): PlanEvent => ({ type: 'node-end', node, atMs: 9 });

test('a node through its states', () => {
  const progress = follow([nodeTrace('a'), nodeTrace('b', { dependsOn: ['a'] })]);
  const say = (): string => describeNode(progress.find('a') ?? expect.fail('no node'), progress, 1000);
  expect(say()).toBe('waits for a place');
  expect(describeNode(progress.find('b') ?? expect.fail('no node'), progress, 0)).toBe('waits for a');
  progress.apply({ type: 'node-wait', node: 'a', wait: { type: 'locks', names: ['db', 'disk'] }, atMs: 1 });
  expect(say()).toBe('waits for the locks db, disk');
  progress.apply({ type: 'node-wait', node: 'a', wait: { type: 'rate', untilMs: 3500 }, atMs: 1 });
  expect(say()).toBe('waits for the rate limit of fetch, 2.5 s');
  progress.apply(start('a'));
  expect([say(), progress.find('a')?.attempts, progress.count('running')]).toEqual(['', 1, 1]);
  progress.apply({ type: 'tool-call-progress', callId: 'call_a', name: 'fetch', message: 'half \x1b[2J' });
  expect(say()).toBe('half \\x1b[2J');
  const inner = { type: 'tool-call-start', callId: 'c', name: 'read', rawArguments: {}, atMs: 6 } as const;
  progress.apply({ ...inner, parentId: 'call_a' });
  expect(say()).toBe('calls read');
  const child = { type: 'child-event', callId: 'c', sessionId: 's/b', event: { ...inner, name: 'write' } } as const;
  progress.apply({ type: 'child-event', callId: 'call_a', sessionId: 's/a', event: child });
  expect(say()).toBe('calls write');
  const retry = { code: 'tool.failed', message: 'no', delayMs: 2000, atMs: 6 } as const;
  progress.apply({ type: 'tool-call-retry', callId: 'call_a', name: 'fetch', attempt: 1, ...retry });
  expect([say(), progress.find('a')?.attempts]).toEqual(['attempt 1 failed, the next in 2.0 s', 2]);
  progress.apply(end(endedNode('a', { kind: 'failed', code: 'tool.failed', message: 'No\nway.' })));
  expect([say(), progress.ended]).toEqual(['No\\nway. (tool.failed)', 1]);
  // A late word changes nothing.
  progress.apply({ type: 'tool-call-progress', callId: 'call_a', name: 'fetch', message: 'late' });
  expect(say()).toBe('No\\nway. (tool.failed)');
  progress.apply(end(nodeTrace('b', { kind: 'skipped', code: 'plan.dependency.failed', because: ['a'] })));
  expect(describeNode(progress.find('b') ?? expect.fail('no node'), progress, 0)).toBe(
    'because of a (plan.dependency.failed)',
  );
  expect(progress.ended).toBe(2);
});

test('one that waits for a person has not ended, and is gone on with', () => {
  const progress = follow([nodeTrace(1)], start(1), end(nodeTrace(1, { kind: 'suspended', callId: 'call_1' })));
  expect([progress.ended, progress.count('suspended')]).toEqual([0, 1]);
  const nodes = [nodeTrace(1, { kind: 'suspended', callId: 'call_1' })];
  progress.apply({ type: 'plan-resume', sessionId: 's', run: 1, digest: 'd'.repeat(64), nodes, atMs: 50 });
  progress.apply(start(1));
  progress.apply(end(endedNode(1)));
  expect([progress.ended, progress.count('suspended'), progress.startedAtMs]).toEqual([1, 0, 0]);
});

test('what moves comes first, and of ten thousand nodes few are looked at', () => {
  const nodes = Array.from({ length: 10_000 }, (_, at) => nodeTrace(at));
  const progress = follow(nodes, end(endedNode(0)), start(7), start(9000));
  progress.apply({ type: 'node-wait', node: 5000, wait: { type: 'locks', names: ['db'] }, atMs: 1 });
  expect(progress.listOpen(3).map(({ node }) => node)).toEqual([7, 5000, 9000]);
  expect(progress.listOpen(5).map(({ node }) => node)).toEqual([7, 5000, 9000, 1, 2]);
});

test('events about nodes and calls that are not there change nothing', () => {
  const progress = follow([nodeTrace(1)], start('__proto__'), end(endedNode('constructor')));
  progress.apply({ type: 'tool-call-progress', callId: 'toString', name: 'x', message: 'm' });
  expect([...progress.counts]).toEqual([['waiting', 1]]);
});

test('counts are those of the nodes, whatever comes in whatever order', () => {
  const kinds = ['ok', 'failed', 'skipped', 'suspended', 'cancelled'] as const;
  const event = fc.oneof(
    fc.nat(7).map((node) => start(node)),
    fc.tuple(fc.nat(7), fc.constantFrom(...kinds)).map(([node, kind]) => end(endedNode(node, { kind }))),
    fc.nat(7).map((node): PlanEvent => ({ type: 'node-wait', node, wait: { type: 'rate', untilMs: 1 }, atMs: 1 })),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), fc.integer({ min: 1, max: 8 }), (events, max) => {
      const progress = follow(
        [0, 1, 2, 3, 4, 5].map((id) => nodeTrace(id)),
        ...events,
      );
      for (const [kind, count] of progress.counts)
        expect(count).toBe(progress.nodes.filter((node) => node.kind === kind).length);
      const open = progress.nodes.filter((node) => !isSettled(node));
      expect(progress.ended).toBe(6 - open.length);
      const listed = progress.listOpen(max);
      expect(listed).toHaveLength(Math.min(max, open.length));
      expect(new Set(listed).size).toBe(listed.length);
    }),
  );
});
