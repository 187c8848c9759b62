import type { Model } from '@holdfast/core';
import { runAgent } from '@holdfast/executor';
import { keepOpen, type McpTools, type McpToolsOptions, mcpTools, type ServedTools, serveMcp } from '@holdfast/mcp';
import { traceSession } from '@holdfast/otel';
import { toOtlp } from '@holdfast/otel/otlp';
import { createSession, memoryStore, type Session } from '@holdfast/session';
import { Client, InMemoryTransport, type Transport } from '@modelcontextprotocol/client';
import { Server } from '@modelcontextprotocol/server';
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { expect, onTestFinished, test } from 'vitest';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';
const trace = { traceparent: `00-${traceId}-${spanId}-01`, tracestate: 'vendor=a,other=b' };

/** A session whose spans are kept. */
function traced() {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const store = memoryStore();
  const session = createSession({ id: 's', store });
  const stop = traceSession(session, { tracer: provider.getTracer('test') });
  return { session, store, stop, spans: (): readonly ReadableSpan[] => exporter.getFinishedSpans() };
}

/** A server, by the SDK, that keeps the trace of each call. */
function openServer(): { readonly transport: () => Transport; readonly seen: object[] } {
  const seen: object[] = [];
  const transport = (): Transport => {
    const [near, far] = InMemoryTransport.createLinkedPair();
    const server = new Server({ name: 'shop', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({ tools: [{ name: 'look', inputSchema: { type: 'object' } }] }));
    server.setRequestHandler('tools/call', (_, { mcpReq }) => {
      const { traceparent, tracestate, baggage } = mcpReq._meta ?? {};
      seen.push({ traceparent, tracestate, baggage });
      return { content: [{ type: 'text', text: 'seen' }] };
    });
    void server.connect(far);
    return near;
  };
  return { transport, seen };
}

async function importFrom(transport: () => Transport, options: Partial<McpToolsOptions> = {}): Promise<McpTools> {
  const imported = await mcpTools({ name: 'shop', transport, dangerous: false, era: 'legacy', ...options });
  onTestFinished(() => imported.close());
  return imported;
}

function serve(served: ServedTools, session: Session): () => Transport {
  const serving = serveMcp(served, { sessions: keepOpen(session) });
  onTestFinished(() => serving.close());
  return () => {
    const [near, far] = InMemoryTransport.createLinkedPair();
    serving.stdio(far);
    return near;
  };
}

async function connect(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

test("a client's trace goes through the proxy to the server; the call is a span of it, live and from the log", async () => {
  const { transport, seen } = openServer();
  const proxy = traced();
  const client = await connect(serve(await importFrom(transport), proxy.session)());
  await client.callTool({ name: 'look', arguments: {}, _meta: { ...trace, baggage: 'user=anna' } });
  await client.callTool({ name: 'look', arguments: {}, _meta: { traceparent: `00-${'0'.repeat(32)}-${spanId}-01` } });
  proxy.stop();
  // Baggage may hold anything about a user.
  expect(seen).toEqual([
    { ...trace, baggage: undefined },
    { traceparent: undefined, tracestate: undefined, baggage: undefined },
  ]);
  const [span, other] = proxy.spans();
  expect(span).toMatchObject({
    name: 'execute_tool shop_look',
    kind: 1,
    parentSpanContext: { traceId, spanId, isRemote: true },
    attributes: { 'mcp.method.name': 'tools/call', 'gen_ai.operation.name': 'execute_tool', 'holdfast.outcome': 'ok' },
  });
  expect(span?.spanContext().traceState?.serialize()).toBe(trace.tracestate);
  expect(other?.parentSpanContext).toBeUndefined();
  expect(other?.attributes).not.toHaveProperty('mcp.method.name');
  const written = toOtlp(proxy.store.records, { sessionId: 's', createId: (_, digits) => 'a'.repeat(digits) });
  expect(written).toMatchObject({
    resourceSpans: [
      {
        scopeSpans: [
          { spans: [{ traceId, parentSpanId: spanId, traceState: trace.tracestate, kind: 2 }, { kind: 1 }] },
        ],
      },
    ],
  });
});

test('a run, the call of a proxy and that of the server behind it are one trace', async () => {
  const { transport, seen } = openServer();
  const proxy = traced();
  const agent = traced();
  const { traceparent } = agent.stop;
  const tools = await importFrom(serve(await importFrom(transport), proxy.session), { traceparent });
  await runAgent({ ...agent, model: onceCalling('shop_look'), instructions: 'Act.', tools: tools.tools, input: 'Go.' })
    .result;
  agent.stop();
  proxy.stop();
  const [call, run] = agent.spans();
  expect(run?.name).toBe('invoke_agent');
  expect(call?.parentSpanContext?.spanId).toBe(run?.spanContext().spanId);
  const [served] = proxy.spans();
  expect(served?.parentSpanContext).toMatchObject({ ...ids(run), isRemote: true });
  expect(seen).toMatchObject([{ traceparent: `00-${ids(run).traceId}-${ids(run).spanId}-01` }]);
});

function ids(span: ReadableSpan | undefined): { readonly traceId: string; readonly spanId: string } {
  const { traceId: ofTrace = '', spanId: ofSpan = '' } = span?.spanContext() ?? {};
  return { traceId: ofTrace, spanId: ofSpan };
}

function onceCalling(name: string): Model {
  let turn = 0;
  return {
    id: 'test:scripted',
    async *stream() {
      turn += 1;
      if (turn === 1) yield { type: 'tool-call', name, arguments: {} };
      yield { type: 'finish', reason: turn === 1 ? 'tool-calls' : 'stop' };
    },
  };
}
