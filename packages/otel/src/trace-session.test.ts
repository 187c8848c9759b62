import { ask, definePolicy, defineTool, deny, type Model, toolError } from '@holdfast/core';
import { executeToolCall, runAgent } from '@holdfast/executor';
import { createSession, memoryStore } from '@holdfast/session';
import { createRedactor } from '@holdfast/session/redact';
import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { expect, test } from 'vitest';
import { traceSession } from './index.ts';
import { toOtlp } from './otlp.ts';

const inner = defineTool({ name: 'inner', description: 'Acts.', effects: 'none', execute: () => 'done' });
const failing = defineTool({
  name: 'failing',
  description: 'Fails.',
  effects: 'none',
  execute: () => toolError('Sold out.', { code: 'shop.sold_out' }),
});
const outer = defineTool({
  name: 'outer',
  description: 'Calls another tool.',
  effects: 'none',
  execute: async (_, context) => {
    await context.call('inner', {});
    return 'secret result';
  },
});
const tools = [inner, outer, failing];

function start({ redacted = false, ...options }: { readonly content?: boolean; readonly redacted?: boolean } = {}) {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const tracer = provider.getTracer('test');
  const store = memoryStore();
  const redactor = createRedactor({ key: 'a secret of at least sixteen bytes' });
  const session = createSession({ id: 's', store, ...(redacted ? { redactor } : {}) });
  const parent = tracer.startSpan('request');
  const stop = traceSession(session, { tracer, context: trace.setSpan(ROOT_CONTEXT, parent), ...options });
  const spans = (): readonly ReadableSpan[] => exporter.getFinishedSpans();
  return { session, store, stop, spans, parent };
}

/** A model that makes these calls, turn by turn. */
function scripted(...turns: readonly (readonly string[])[]): Model {
  let turn = 0;
  return {
    id: 'test:scripted',
    async *stream() {
      const names = turns[turn] ?? [];
      turn += 1;
      for (const name of names) yield { type: 'tool-call', name, arguments: {} };
      yield { type: 'finish', reason: names.length > 0 ? 'tool-calls' : 'stop' };
    },
  };
}

/** Each span with its parent. */
function tree(spans: readonly ReadableSpan[]): readonly string[] {
  const names = new Map(spans.map((span) => [span.spanContext().spanId, span.name]));
  return spans.map((span) => `${span.name} < ${names.get(span.parentSpanContext?.spanId ?? '') ?? 'request'}`);
}

test('a run with nested, denied and failed calls is one trace below the given context', async () => {
  const { session, stop, spans, parent } = start();
  const policies = [
    definePolicy({
      name: 'no-failing',
      check: ({ tool }) => (tool.name === 'failing' ? deny('Never.') : undefined) ?? { type: 'allow' },
    }),
  ];
  await runAgent({
    model: scripted(['outer', 'failing'], []),
    instructions: 'Act.',
    tools,
    session,
    policies,
    input: 'Go.',
  }).result;
  stop();
  expect(tree(spans())).toEqual([
    'execute_tool inner < execute_tool outer',
    'execute_tool outer < invoke_agent',
    'execute_tool failing < invoke_agent',
    'invoke_agent < request',
  ]);
  expect(new Set(spans().map((span) => span.spanContext().traceId))).toEqual(new Set([parent.spanContext().traceId]));
  const [, called, denied, agent] = spans();
  expect(called?.attributes).toEqual({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.conversation.id': 's',
    'gen_ai.tool.name': 'outer',
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': expect.any(String),
    'holdfast.decision': 'allow',
    'holdfast.outcome': 'ok',
  });
  expect(denied?.attributes).toMatchObject({ 'holdfast.decision': 'deny', 'error.type': 'policy.denied' });
  expect(denied?.status.code).toBe(2);
  expect(denied?.events).toMatchObject([
    { name: 'holdfast.decision', attributes: { 'holdfast.policy': 'host/no-failing', 'holdfast.decision': 'deny' } },
  ]);
  expect(agent?.attributes).toMatchObject({ 'gen_ai.operation.name': 'invoke_agent', 'holdfast.status': 'completed' });
  // No argument, result, reason or request without being asked for.
  expect(JSON.stringify(spans().map(({ attributes, events: told }) => [attributes, told]))).not.toMatch(
    /secret|Never|Go\./,
  );
});

test('waits, answers and content on request', async () => {
  const { session, stop, spans } = start({ content: true });
  const policies = [definePolicy({ name: 'asking', check: () => ask('Sure?') })];
  await executeToolCall(
    { id: 'c', name: 'inner', arguments: {} },
    { tools, session, policies, approve: () => ({ type: 'approve' }) },
  );
  await executeToolCall({ id: 'd', name: 'failing', arguments: {} }, { tools, session });
  stop();
  const [asked, failed] = spans();
  expect(asked?.attributes).toMatchObject({
    'holdfast.decision': 'ask',
    'gen_ai.tool.call.arguments': '{}',
    'gen_ai.tool.call.result': 'done',
  });
  expect(asked?.events.map(({ name, attributes }) => [name, attributes])).toEqual(
    expect.arrayContaining([
      ['holdfast.approval.requested', {}],
      ['holdfast.approval.answered', { 'holdfast.decision': 'approve', 'holdfast.approval.by': 'person' }],
    ]),
  );
  expect(failed?.attributes).toMatchObject({ 'error.type': 'shop.sold_out', 'holdfast.outcome': 'failed' });
});

test('a run that is still open ends with the tracing, and nothing is traced afterwards', async () => {
  const { session, stop, spans } = start();
  session.record({ type: 'run-start', run: 1, model: 'm', input: '', tools: [], atMs: 5 });
  expect(spans()).toEqual([]);
  stop();
  stop();
  expect(spans().map(({ name }) => name)).toEqual(['invoke_agent']);
  await executeToolCall({ name: 'inner', arguments: {} }, { tools, session });
  expect(spans()).toHaveLength(1);
});

test('a log gives the same spans as OTLP, and the same ids each time', async () => {
  const { session, store, stop, spans } = start();
  await executeToolCall({ id: 'c', name: 'outer', arguments: {} }, { tools, session });
  stop();
  const createId = (name: string, digits: number): string =>
    Buffer.from(name).toString('hex').padEnd(digits, '0').slice(0, digits);
  const written = toOtlp(store.records, { sessionId: 's', createId });
  expect(toOtlp(store.records, { sessionId: 's', createId })).toEqual(written);
  const [first] = (
    written as {
      readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly object[] }[] }[];
    }
  ).resourceSpans;
  const outerId = createId('s 0', 16);
  expect(first?.scopeSpans[0]?.spans).toMatchObject([
    { name: 'execute_tool outer', spanId: outerId, kind: 1, status: {} },
    { name: 'execute_tool inner', parentSpanId: outerId, traceId: createId('s 0', 32) },
  ]);
  const live = spans().find(({ name }) => name === 'execute_tool outer');
  const nanoseconds = String(BigInt(live?.startTime[0] ?? 0) * 1_000_000_000n + BigInt(live?.startTime[1] ?? 0));
  expect(first?.scopeSpans[0]?.spans[0]).toMatchObject({ startTimeUnixNano: nanoseconds });
});

test('a plan and a run are one trace each below the request, also where another process resumes them', async () => {
  const { session, stop, spans, parent } = start();
  const read = { type: 'tool-call-end', name: 'read', decisions: [], startedAtMs: 5, durationMs: 1 };
  const record = (entry: { readonly type: string }): void => void session.record(entry as never);
  expect(stop.traceparent('c')).toBe(`00-${parent.spanContext().traceId}-${parent.spanContext().spanId}-01`);
  record({ type: 'run-resume', run: 2, turn: 1 } as never);
  const ofRun = stop.traceparent('c');
  record({ ...read, callId: 'c', run: 2, outcome: { kind: 'ok' } } as never);
  record({ type: 'plan-resume', plan: 3, digest: 'd' } as never);
  record({ type: 'plan-start', plan: 3, digest: 'd' } as never);
  expect(stop.traceparent('plan_3_read')).not.toBe(ofRun);
  record({ ...read, callId: 'plan_3_read', outcome: { kind: 'ok' } } as never);
  record({ type: 'plan-end', plan: 3, status: 'succeeded' } as never);
  record({ type: 'run-end', run: 2, status: 'completed' } as never);
  stop();
  expect(tree(spans())).toEqual([
    'execute_tool read < invoke_agent',
    'execute_tool read < invoke_workflow',
    'invoke_workflow < request',
    'invoke_agent < request',
  ]);
  // A request of the call was told its run's span.
  expect(ofRun).toBe(`00-${parent.spanContext().traceId}-${spans()[3]?.spanContext().spanId}-01`);
  expect(stop.traceparent('c')).toBe(`00-${parent.spanContext().traceId}-${parent.spanContext().spanId}-01`);
});

test.each(['', '00-0-1-01', '01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', 7])(
  'a call of an MCP client with the trace %j has no parent of it',
  (traceparent) => {
    const { session, stop, spans } = start();
    session.record({ type: 'mcp-trace', callId: 'c', method: 'tools/call', traceparent });
    session.record({
      type: 'tool-call-end',
      callId: 'c',
      name: 'inner',
      outcome: { kind: 'ok' },
      startedAtMs: 1,
      durationMs: 1,
    });
    stop();
    expect(tree(spans())).toEqual(['execute_tool inner < request']);
  },
);

test('content has the masks of the log', async () => {
  const { spans, session, stop } = start({ content: true, redacted: true });
  const say = defineTool({ name: 'say', description: 'Says.', effects: 'none', execute: () => 'password=hunter2' });
  await executeToolCall({ id: 'c', name: 'say', arguments: {} }, { tools: [say], session });
  stop();
  expect(spans()[0]?.attributes['gen_ai.tool.call.result']).toMatch(/^password=\[redacted/);
});
