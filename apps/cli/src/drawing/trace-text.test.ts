import { type NodeTrace, type PlanTrace, reportTrace, synthesise } from '@holdfast/orchestrator';
import { describeDecision, toLine } from '@holdfast/orchestrator/text';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { begun, hostileTexts, partialTrace, randomTrace, traceFull, traceOf } from './test-traces.ts';
import { formatTime } from './text.ts';
import { traceSummary, traceTable } from './trace-text.ts';

test('a trace has a table of nodes, a summary and missing nodes', () => {
  expect(traceTable(partialTrace)).toEqual({
    head: ['node', 'tool', 'kind', 'attempts', 'took', 'why'],
    rows: [
      ['0', 'search_news', 'ok', '1', '820 ms', ''],
      ['1', 'search_news', 'failed', '3', '4.1 s', 'The server answered 503. (tool.failed)'],
      ['2', 'summarise', 'ok', '1', '1.2 s', ''],
      ['report', 'write_report', 'ok', '1', '900 ms', 'approved by ada@example.com'],
    ],
  });
  expect(traceSummary(partialTrace)).toEqual([
    'partial: 3 of 4 nodes succeeded, in 21.4 s.',
    'Output:',
    '  {',
    '    "path": "report.md",',
    '    "bytes": 1204',
    '  }',
    'Missing:',
    '  1 (search_news) failed',
  ]);
});

test('a suspended or running run is reported as such, with its questions', () => {
  const trace = traceOf([{ id: 0, kind: 'suspended' }], {
    status: 'suspended',
    pending: [
      {
        callId: 'plan_12_0',
        name: 'a',
        input: {},
        dangerous: true,
        asks: [{ policy: 'holdfast/dangerous', type: 'ask', reason: 'It deletes files.' }],
        digest: '',
        toolDigest: '',
        expiresAtMs: begun,
      },
    ],
  });
  expect(traceSummary(trace)).toEqual([
    'suspended: 0 of 1 node succeeded, in 0 ms.',
    'Waiting for 1 approval. Resume the run after answering.',
    'Missing:',
    '  0 (a) suspended',
    'Question: call `plan_12_0` of `a`, until 2026-05-17 09:30:00.000 UTC',
    '  ask by holdfast/dangerous: It deletes files.',
  ]);
  const running = traceOf([{ id: 0, kind: 'running' }], { status: 'running', endedAtMs: undefined });
  expect(traceSummary(running).slice(0, 2)).toEqual([
    'running: 0 of 1 node succeeded.',
    'Its log has no end: it is still running, or its process ended and it can be resumed.',
  ]);
});

test('a skipped node names the nodes that caused it, at most the first few', () => {
  const because = Array.from({ length: 20 }, (_, id) => id);
  const node = { id: 0, kind: 'skipped', code: 'plan.dependency', message: 'Not needed.', because } as const;
  expect(traceTable(traceOf([node])).rows[0]?.at(-1)).toBe(
    'Not needed. (plan.dependency) because of 0, 1, 2, 3, 4, 5, 6, 7 and 12 more',
  );
  const named = { ...node, message: 'The run was halted because `0` did not succeed.', because: [0] };
  expect(traceTable(traceOf([named])).rows[0]?.at(-1)).toBe(`${named.message} (plan.dependency)`);
});

test('long outputs and lists are cut, with a note', () => {
  const nodes = Array.from({ length: 30 }, (_, id) => ({ id, kind: 'failed', message: 'x'.repeat(400) }) as const);
  const trace = traceOf([...nodes, { id: 'last', value: 'y'.repeat(5_000) }]);
  const lines = traceSummary(trace);
  expect(lines).toContain('  (1,000 more characters)');
  expect(lines).toContain('  and 10 more nodes');
  expect(traceTable(trace).rows[0]?.at(-1)).toBe(`${'x'.repeat(300)}… (test.failed)`);
  expect(reportTrace(trace).missing).toHaveLength(30);
});

test.each(hostileTexts)('%j is printable, and every cell is one line', (text) => {
  const trace = traceFull(text);
  const cells = traceTable(trace).rows.flat();
  for (const line of [...cells, ...traceSummary(trace)]) expect(line).not.toMatch(/[\p{Cc}\p{Cs}\u202E\u2066]/u);
});

test('unknown kinds and states in a log are printable, too', async () => {
  const odd = 'ok\u001b[2J\n\u202e';
  const trace = traceOf([{ id: 0, kind: odd as NodeTrace['kind'] }], { status: odd as PlanTrace['status'] });
  const rows = traceTable(trace).rows.flat();
  for (const text of [[...rows, ...traceSummary(trace)].join('\n'), (await synthesise(trace)).text]) {
    expect(text).toContain('ok\\x1b[2J\\n\\u{202e}');
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\u202E]/u);
  }
});

test('the decision of an observed policy says what it would have been', () => {
  const watching = { policy: 'host/quiet', type: 'allow', observed: 'deny', reason: 'No.' } as const;
  expect(describeDecision(watching)).toBe('would deny by host/quiet: No.');
  expect(describeDecision({ policy: 'host/quiet', type: 'allow' })).toBe('allow by host/quiet');
});

test('for any trace: a deterministic report with every node once', () => {
  fc.assert(
    fc.property(randomTrace(), (trace) => {
      const ids = trace.nodes.map(({ node }) => toLine(String(node), 80));
      expect(traceTable(trace).rows.map(([id]) => id)).toEqual(ids);
      expect(traceSummary(structuredClone(trace))).toEqual(traceSummary(trace));
    }),
  );
});

test('an invalid time', () => {
  expect(formatTime(1e300)).toBe('at 1e+300 ms');
});
