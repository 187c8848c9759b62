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
  { status: 'partial', says: 'partial (a succeeded, and others did not) after 1.5 s' },
  { status: 'failed', says: 'failed after 1.5 s' },
  { status: 'aborted', says: 'aborted (it was stopped, or its time or budget was up) after 1.5 s' },
  { status: 'suspended', says: 'suspended (it waits for an answer) after 1.5 s' },
] as const)('$status: $says', ({ status, says }) => {
  expect(describe(planTrace([endedNode('a')], { status }))).toContain(says);
});

test('a text is shown as it is, anything else as JSON, nothing of it can act on the terminal, and a long one is cut', () => {
  const node = endedNode('a');
  expect(describe(planTrace([node], { output: 'Two\nlines\x1b[2J' }))).toContain(
    'Result of a\n| Two\n| lines\\x1b[2J\n',
  );
  expect(describe(planTrace([node], { output: { n: 1 } }))).toContain('Result of a\n| {\n|   "n": 1\n| }\n');
  expect(describe(planTrace([node], { output: null }))).toContain('Result of a\n| null\n');
  expect(describe(planTrace([node]))).not.toContain('Result');
  const long = describe(planTrace([node], { output: 'word '.repeat(3000) }));
  expect(long).toContain('5,000 more characters; `holdfast trace --json` has them');
});

test('what did not succeed is listed with its reason, what was skipped for it is counted', () => {
  const failed = Array.from({ length: 12 }, (_, at) => {
    return endedNode(`bad${at}`, { kind: 'failed', code: 'tool.failed', message: 'It broke.' });
  });
  const skipped = ['x', 'y'].map((id) => nodeTrace(id, { kind: 'skipped', because: ['bad1'] }));
  const text = describe(planTrace([...failed, ...skipped], { status: 'failed' }));
  expect(text).toContain('What did not succeed:\n  failed  bad0  fetch\n    | It broke. (tool.failed)\n');
  expect(text).toContain('  … and 2 more\n  2 nodes were skipped because of that.');
});

test('files count that calls of the plan have changed, and not once more for calls within them', () => {
  const write = { resource: 'filesystem', key: 'a.txt', change: 'created' } as const;
  const events = [
    callEnd('ok', { writes: [write] }),
    callEnd('ok', { parentId: 'c1', writes: [{ ...write, key: 'b.txt' }] }),
  ];
  const text = describe(planTrace([endedNode('a')]), events);
  expect(text).toContain('Changed in the workspace:\n  + created a.txt');
  expect(text).not.toContain('b.txt');
});

test('who was not asked is named, and why', () => {
  const denied = endedNode('a', { kind: 'denied', code: 'approval.unattended', tool: 'wipe' });
  const text = describe(planTrace([denied], { status: 'failed' }), [], 'there is no terminal to ask at');
  expect(text).toContain('Nobody was asked (there is no terminal to ask at), so wipe did not run.');
  expect(describe(planTrace([denied], { status: 'failed' }))).not.toContain('Nobody was asked');
});
