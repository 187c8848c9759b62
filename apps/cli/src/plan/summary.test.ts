import type { PlanEvent, PlanTrace } from '@holdfast/orchestrator';
import { expect, test } from 'vitest';
import { createColors } from '../terminal/colors.ts';
import { callEnd } from '../testing/test-events.ts';
import { endedNode, nodeTrace, planTrace } from '../testing/test-plan-events.ts';
import { createPlanSummary } from './summary.ts';

const style = { colors: createColors(false), columns: 80 };

function describe(trace: PlanTrace, events: readonly PlanEvent[] = [], absence?: string): string {
  const summary = createPlanSummary([], {});
  const begun = { type: 'plan-start', sessionId: 's', run: 1, digest: 'd', nodes: [], atMs: 0 } as const;
  for (const event of [begun, ...events, { type: 'plan-end', trace, atMs: 1500 } as const]) summary.add(event);
  return summary.describe(trace, style, absence).join('\n');
}

test.each([
  { status: 'succeeded', says: 'succeeded after 1.5 s: 1 node (1 ok)' },
  { status: 'partial', says: 'partial (a succeeded, other nodes did not) after 1.5 s' },
  { status: 'failed', says: 'failed after 1.5 s' },
  { status: 'aborted', says: 'aborted (stopped, or out of time or budget) after 1.5 s' },
  { status: 'suspended', says: 'suspended (waiting for an answer) after 1.5 s' },
] as const)('$status: $says', ({ status, says }) => {
  expect(describe(planTrace([endedNode('a')], { status }))).toContain(says);
});

test('text is shown unchanged, anything else as JSON; control characters are escaped, and long output is cut', () => {
  const node = endedNode('a');
  expect(describe(planTrace([node], { output: 'Two\nlines\x1b[2J' }))).toContain(
    'Result of a\n| Two\n| lines\\x1b[2J\n',
  );
  expect(describe(planTrace([node], { output: { n: 1 } }))).toContain('Result of a\n| {\n|   "n": 1\n| }\n');
  expect(describe(planTrace([node], { output: null }))).toContain('Result of a\n| null\n');
  expect(describe(planTrace([node]))).not.toContain('Result');
  const long = describe(planTrace([node], { output: 'word '.repeat(3000) }));
  expect(long).toContain('5,000 more characters; use `holdfast trace --json`');
});

test('failures are listed with their reason, skipped nodes are counted', () => {
  const failed = Array.from({ length: 12 }, (_, at) => {
    return endedNode(`bad${at}`, { kind: 'failed', code: 'tool.failed', message: 'It broke.' });
  });
  const skipped = ['x', 'y'].map((id) => nodeTrace(id, { kind: 'skipped', because: ['bad1'] }));
  const text = describe(planTrace([...failed, ...skipped], { status: 'failed' }));
  expect(text).toContain('Failures:\n  failed  bad0  fetch\n    | It broke. (tool.failed)\n');
  expect(text).toContain('  … and 2 more\n  2 nodes were skipped as a result.');
});

test('changed files are counted once, not again for nested calls', () => {
  const write = { resource: 'filesystem', key: 'a.txt', change: 'created' } as const;
  const events = [
    callEnd('ok', { writes: [write] }),
    callEnd('ok', { parentId: 'c1', writes: [{ ...write, key: 'b.txt' }] }),
  ];
  const text = describe(planTrace([endedNode('a')]), events);
  expect(text).toContain('Changed files:\n  + created a.txt');
  expect(text).not.toContain('b.txt');
});

test('calls denied without asking are named, with the reason', () => {
  const denied = endedNode('a', { kind: 'denied', code: 'approval.unattended', tool: 'wipe' });
  const text = describe(planTrace([denied], { status: 'failed' }), [], 'no terminal');
  expect(text).toContain('Denied without asking (no terminal): wipe.');
  expect(describe(planTrace([denied], { status: 'failed' }))).not.toContain('Denied without asking');
});
