import { expect, test } from 'vitest';
import { createColors } from '../terminal/colors.ts';
import { endedNode, nodeTrace, planTrace } from '../testing/test-plan-events.ts';
import { describeTraceFor, formatTraceTable } from './trace-view.ts';

const style = { colors: createColors(false), columns: 80 };

test('of ten thousand nodes only failures are shown, and the others counted', () => {
  const ok = Array.from({ length: 9998 }, (_, at) => endedNode(at));
  const bad = endedNode('bad', { kind: 'failed', message: 'It broke.', code: 'tool.failed' });
  const skipped = nodeTrace('skipped', { kind: 'skipped', code: 'plan.dependency.failed', because: ['bad'] });
  const lines = formatTraceTable(planTrace([...ok, bad, skipped]), { ...style, columns: 120 });
  expect(lines).toHaveLength(4);
  expect(lines[1]).toMatch(/^bad +fetch +failed +1 +100 ms +It broke\. \(tool\.failed\)$/);
  expect(lines.at(-1)).toBe('… and 9,998 more nodes; use `--json`');
  expect(formatTraceTable(planTrace(ok), style)).toEqual(['… and 9,998 more nodes; use `--json`']);
});

test('a trace from any log is printable, including the request', () => {
  const node = endedNode('a', { kind: 'failed', message: '\x1b[2J', tool: '\x1b[1mtool' });
  const lines = describeTraceFor(planTrace([node], { request: 'Do\x1b]0;it\n', status: 'failed' }), style);
  expect(lines.join('\n')).not.toContain('\x1b');
  expect(lines[1]).toBe('Request: Do\\x1b]0;it\\n');
});
