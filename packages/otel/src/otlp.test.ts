import type { LogRecord } from '@holdfast/session';
import { expect, test } from 'vitest';
import { toOtlp } from './otlp.ts';

interface Written {
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceId: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: object;
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

const createId = (name: string, digits: number): string => `${name}`.replace(/\W/g, '').padStart(digits, '0');

function write(entries: readonly object[]): readonly Written[] {
  const records = entries.map((entry, seq) => ({ seq, atMs: 1_000 + seq, ...entry }) as unknown as LogRecord);
  const { resourceSpans } = toOtlp(records, { sessionId: 's', createId }) as unknown as {
    readonly resourceSpans: readonly [{ readonly scopeSpans: readonly [{ readonly spans: readonly Written[] }] }];
  };
  return resourceSpans[0].scopeSpans[0].spans;
}

function tree(spans: readonly Written[]): readonly string[] {
  const names = new Map(spans.map(({ spanId, name }) => [spanId, name]));
  return spans.map(({ name, parentSpanId }) =>
    parentSpanId === undefined ? name : `${name} < ${names.get(parentSpanId)}`,
  );
}

const end = (callId: string, name: string, more: object = {}) => ({
  type: 'tool-call-end',
  callId,
  name,
  decisions: [],
  outcome: { kind: 'ok', value: 1 },
  startedAtMs: 500,
  durationMs: 20,
  ...more,
});
const child = (entry: object, callId = 'c1') => ({ type: 'child-record', callId, sessionId: 'kid', entry });

test('calls of a plan are below it, other calls are traces of their own', () => {
  const spans = write([
    { type: 'plan-start', plan: 3, digest: 'd1' },
    end('plan_3_read', 'read', { waitedMs: 30 }),
    end('alone', 'write'),
    { type: 'plan-end', plan: 3, status: 'succeeded' },
  ]);
  expect(tree(spans)).toEqual(['invoke_workflow', 'execute_tool read < invoke_workflow', 'execute_tool write']);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(2);
  expect(spans[1]).toMatchObject({ startTimeUnixNano: '500000000', endTimeUnixNano: '550000000' });
  expect(spans[1]?.attributes).toContainEqual({ key: 'holdfast.waited_ms', value: { intValue: '30' } });
});

test.each([
  ['succeeded', {}],
  ['partial', {}],
  ['failed', { code: 2 }],
  ['aborted', { code: 2 }],
])('a plan that ends as %s has the status %j', (status, expected) => {
  const [span] = write([
    { type: 'plan-start', plan: 1, digest: 'd' },
    { type: 'plan-end', plan: 1, status },
  ]);
  expect(span?.status).toEqual(expected);
});

test('calls of a child session are below the call that opened it', () => {
  const spans = write([
    child({ type: 'run-start', run: 1, model: 'm' }),
    child(end('k2', 'innermost', { parentId: 'k1' })),
    child(end('k1', 'inner', { parentId: 'c1' })),
    child({ type: 'run-end', run: 1, status: 'completed' }),
    end('c1', 'outer'),
  ]);
  expect(tree(spans)).toEqual([
    'execute_tool outer',
    'execute_tool inner < execute_tool outer',
    'execute_tool innermost < execute_tool inner',
  ]);
});

test('a resumed run is one span in its log; in the process that resumes it, it says so', () => {
  const run = { type: 'run-start', run: 1, model: 'm' };
  const suspended = { type: 'run-end', run: 1, status: 'suspended' };
  const resumed = { type: 'run-resume', run: 1, turn: 1 };
  const done = { type: 'run-end', run: 1, status: 'completed', usage: { inputTokens: 3, outputTokens: 2 } };
  const whole = write([run, suspended, resumed, end('c', 'act', { run: 1 }), done]);
  expect(tree(whole)).toEqual(['invoke_agent', 'execute_tool act < invoke_agent']);
  expect(whole[0]?.attributes).toContainEqual({ key: 'gen_ai.usage.input_tokens', value: { intValue: '3' } });
  const rest = write([resumed, end('c', 'act', { run: 1 }), { ...done, status: 'model-error' }]);
  expect(tree(rest)).toEqual(['invoke_agent', 'execute_tool act < invoke_agent']);
  expect(rest[0]?.attributes).toContainEqual({ key: 'holdfast.resumed', value: { boolValue: true } });
  expect(rest[0]?.status).toEqual({ code: 2 });
});

test('odd records break nothing', () => {
  const spans = write([
    { type: 'tool-call-end' },
    { type: 'tool-call-end', callId: 7, outcome: 'x', decisions: [1], retries: [2], startedAtMs: -1, durationMs: 'a' },
    { type: 'child-record', callId: 1, entry: 'x' },
    { type: 'approval-request', pending: 5 },
    { type: 'approval-answer', answer: null },
    { type: 'run-end', run: 9 },
    { type: 'plan-end' },
  ]);
  expect(spans.map(({ startTimeUnixNano }) => startTimeUnixNano)).toEqual(['0', '0']);
});
