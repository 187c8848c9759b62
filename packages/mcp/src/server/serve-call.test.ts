import { ask, type Clock, definePolicy, defineTool, type Tool } from '@holdfast/core';
import { answerApproval, executeToolCall, pendingApprovals } from '@holdfast/executor';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, memoryStore, replay, type Session } from '@holdfast/session';
import { createRedactor } from '@holdfast/session/redact';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { keepOpen, mcpTools, type ServeMcpOptions, serveMcp } from '../index.ts';
import { anyInput, createRawServer, createTestServer } from '../test-server.ts';
import type { ServedTools } from './declare-tools.ts';

const askAlways = definePolicy({ name: 'ask-always', check: () => ask('Money moves.') });

/** A client of `tool` without a user. */
async function connect(
  tool: Tool | ServedTools,
  options: Partial<ServeMcpOptions>,
  capabilities = {},
): Promise<Client> {
  const serving = serveMcp('tools' in tool ? tool : { tools: [tool] }, {
    sessions: keepOpen(createSession()),
    policies: [askAlways],
    ...options,
  });
  const [near, far] = InMemoryTransport.createLinkedPair();
  serving.stdio(far);
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' }, capabilities });
  await client.connect(near);
  onTestFinished(() => client.close());
  return client;
}

async function approve(session: Session, clock?: Clock): Promise<void> {
  const [pending] = pendingApprovals(session);
  if (pending === undefined) throw new Error('Nothing waits.');
  await answerApproval(session, pending, { type: 'approve' }, clock === undefined ? {} : { clock });
}

function createTool(): { tool: Tool; ran: () => number } {
  let count = 0;
  const execute = (): string => {
    count += 1;
    return 'Done.';
  };
  return { tool: defineTool({ name: 'refund', description: 'Refunds.', execute }) as Tool, ran: () => count };
}

const refund = { name: 'refund', arguments: {} };
const pending = { isError: true, _meta: { 'holdfast/outcome': { code: 'approval.pending' } } };

test.each([
  { lateMs: 599_999, runs: 1 },
  { lateMs: 600_000, runs: 0 },
])('an approval $lateMs ms ago runs the call $runs times', async ({ lateMs, runs }) => {
  let now = 1_000;
  const clock: Clock = { now: () => now, after: () => () => undefined };
  const session = createSession({ clock });
  const { tool, ran } = createTool();
  const client = await connect(tool, { sessions: keepOpen(session), clock });
  expect(await client.callTool(refund)).toMatchObject(pending);
  await approve(session, clock);
  now += lateMs;
  await client.callTool(refund);
  expect(ran()).toBe(runs);
});

test('a question that has expired is not the question of a later call', async () => {
  let now = 1_000;
  const clock: Clock = { now: () => now, after: () => () => undefined };
  const session = createSession({ clock });
  const client = await connect(createTool().tool, { sessions: keepOpen(session), clock, approvalTimeoutMs: 500 });
  const idOf = (result: unknown): unknown =>
    (result as { _meta: Record<string, { callId: string }> })._meta['holdfast/outcome']?.callId;
  const first = await client.callTool(refund);
  expect(idOf(await client.callTool(refund))).toBe(idOf(first));
  now += 500;
  const later = idOf(await client.callTool(refund));
  expect(later).toBeDefined();
  expect(later).not.toBe(idOf(first));
});

test('a session is let go of after each call, and while a call waits for a person', async () => {
  const session = createSession();
  const said: string[] = [];
  const sessions = {
    open: async () => {
      said.push('open');
      return session;
    },
    release: async (_principal: string, waiting: boolean) => void said.push(waiting ? 'wait' : 'release'),
  };
  const client = await connect(createTool().tool, { sessions, waitMs: 30_000 });
  const calling = client.callTool(refund);
  await vi.waitFor(() => expect(said).toContain('wait'));
  await approve(session);
  await calling;
  expect(said.filter((word) => word !== 'open').at(-1)).toBe('release');
  expect(said.filter((word) => word === 'open')).toHaveLength(said.length / 2);
});

test('a call whose client has gone does not wait for a person any longer', async () => {
  const released = Promise.withResolvers<void>();
  const session = createSession();
  const sessions = {
    open: async () => session,
    release: async (_principal: string, waiting: boolean) => (waiting ? undefined : released.resolve()),
  };
  const client = await connect(createTool().tool, { sessions, waitMs: 600_000 });
  const stop = new AbortController();
  const calling = client.callTool(refund, { signal: stop.signal });
  await vi.waitFor(() => expect(pendingApprovals(session)).toHaveLength(1));
  stop.abort();
  await expect(calling).rejects.toThrow('abort');
  await released.promise;
});

test('a client that asks only by pages is not asked by form', async () => {
  const client = await connect(createTool().tool, {}, { elicitation: { url: {} } });
  expect(await client.callTool(refund)).toMatchObject(pending);
});

test('a call that an ended process left running is closed before the next one', async () => {
  const store = memoryStore();
  const before = createSession({ id: 's', store });
  const hang = defineTool({
    name: 'hang',
    description: 'Never ends.',
    effects: 'external',
    execute: () => new Promise<never>(() => undefined),
  }) as Tool;
  void executeToolCall({ name: 'hang', arguments: {} }, { tools: [hang], session: before });
  await vi.waitFor(() => expect(store.records.some(({ type }) => type === 'tool-call-start')).toBe(true));
  const session = replay(store.records, { store });
  expect(session.openWork().calls).toHaveLength(1);
  const client = await connect(createTool().tool, { sessions: keepOpen(session), policies: [] });
  await client.callTool(refund);
  expect(session.openWork().calls).toEqual([]);
});

test('a call with a secret, which the log has masked, is found again after a yes', async () => {
  const redactor = createRedactor({ key: 'k'.repeat(32) });
  redactor.learn('hunter2-hunter2');
  const session = createSession({ redactor });
  const seen: string[] = [];
  const tool = defineTool({
    name: 'refund',
    description: 'Refunds.',
    inputSchema: jsonSchema<{ key: string }>({ type: 'object', properties: { key: { type: 'string' } } }),
    execute: ({ key }) => seen.push(key),
  }) as Tool;
  const client = await connect(tool, { sessions: keepOpen(session) });
  const given = { name: 'refund', arguments: { key: 'hunter2-hunter2' } };
  expect(await client.callTool(given)).toMatchObject(pending);
  expect(JSON.stringify([...session.records()])).not.toContain('hunter2');
  await approve(session);
  await client.callTool(given);
  expect(seen).toHaveLength(1);
});

test('the question shows hidden characters, and is cut in the middle', async () => {
  const policies = [definePolicy({ name: 'asks', check: () => ask('Money\u202e moves.') })];
  const tool = defineTool({
    name: 'refund',
    description: 'Refunds.',
    inputSchema: jsonSchema<{ text: string }>({ type: 'object', properties: { text: { type: 'string' } } }),
    execute: () => null,
  }) as Tool;
  const client = await connect(tool, { policies }, { elicitation: {} });
  const asked: string[] = [];
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message);
    return { action: 'decline' };
  });
  await client.callTool({ name: 'refund', arguments: { text: `a\u202eb${'x'.repeat(10_000)}` } });
  expect(asked).toHaveLength(1);
  expect(asked[0]).not.toContain('\u202e');
  expect(asked[0]?.length).toBeLessThan(5_000);
});

test('a result that breaks its schema does not reach the client', async () => {
  const outputSchema = { type: 'object', properties: { size: { type: 'number' } } };
  const result = { content: [{ type: 'text', text: 'wrong' }], structuredContent: { size: 'three' } };
  const tools = [{ name: 'draw', inputSchema: anyInput, outputSchema }];
  const transport = createRawServer(({ id, method }, send) =>
    send({ id, result: method === 'tools/list' ? { tools } : result }),
  );
  const imported = await mcpTools({ name: 'files', transport, era: 'legacy', dangerous: false });
  onTestFinished(() => imported.close());
  const client = await connect(imported, { policies: [] });
  const answer = await client.callTool({ name: 'draw', arguments: {} });
  expect(answer).toMatchObject({ isError: true, _meta: { 'holdfast/outcome': { kind: 'in-doubt' } } });
  expect(answer.structuredContent).toBeUndefined();
});

test('a tool of another server is served by its own name alone', async () => {
  const server = createTestServer([{ name: 'a', inputSchema: anyInput }]);
  const imported = await mcpTools({ name: 'files', transport: server.transport, dangerous: false });
  onTestFinished(() => imported.close());
  const client = await connect(imported, { policies: [] });
  await expect(client.callTool({ name: 'files_a', arguments: {} })).rejects.toMatchObject({ code: -32_602 });
  expect(await client.callTool({ name: 'a', arguments: {} })).toMatchObject({ content: [{ text: 'a done' }] });
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['a']);
});

test('a source that fails is tried again for the next client, and let go of at the end', async () => {
  let tries = 0;
  let listeners = 0;
  const stop = (): void => {
    listeners -= 1;
  };
  const serving = serveMcp(
    async () => {
      tries += 1;
      if (tries === 1) throw new Error('not yet');
      listeners += 1;
      return { tools: [createTool().tool], onChange: () => stop };
    },
    { sessions: keepOpen(createSession()) },
  );
  const open = async (): Promise<Client> => {
    const [near, far] = InMemoryTransport.createLinkedPair();
    serving.stdio(far);
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(near);
    return client;
  };
  await expect(open()).rejects.toThrow('Internal server error');
  const client = await open();
  const closed = new Promise<void>((resolve) => {
    client.onclose = resolve;
  });
  expect((await client.listTools()).tools).toHaveLength(1);
  await serving.close();
  await closed;
  expect(listeners).toBe(0);
});

test('the result of a call that a tool makes is not taken for its own', async () => {
  const server = createTestServer([{ name: 'a', inputSchema: anyInput }]);
  const imported = await mcpTools({ name: 'files', transport: server.transport, dangerous: false });
  onTestFinished(() => imported.close());
  const outer = defineTool({
    name: 'outer',
    description: 'Calls another tool.',
    effects: 'external',
    execute: async (_input, { call }) => {
      const { kind } = await call('files_a');
      return `inner: ${kind}`;
    },
  }) as Tool;
  const client = await connect({ tools: [outer, ...imported.tools] }, { policies: [] });
  expect(await client.callTool({ name: 'outer', arguments: {} })).toMatchObject({ content: [{ text: '"inner: ok"' }] });
  expect(server.called).toEqual(['a']);
});
