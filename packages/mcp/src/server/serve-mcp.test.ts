import { ask, definePolicy, defineTool, deny, type Policy, type Tool, toolOk } from '@holdfast/core';
import { answerApproval, pendingApprovals } from '@holdfast/executor';
import { jsonSchema } from '@holdfast/schema/json';
import { createSession, memoryStore, replay, type Session } from '@holdfast/session';
import { type CallToolResult, Client, InMemoryTransport, type StandardSchemaV1 } from '@modelcontextprotocol/client';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { keepOpen, mcpTools, type ServeMcpOptions, serveMcp } from '../index.ts';
import { anyInput, createRawServer, createTestServer } from '../test-server.ts';
import type { ServedTools } from './declare-tools.ts';

const untouched: StandardSchemaV1<Record<string, unknown>> = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: value as Record<string, unknown> }) },
};
const eras = ['legacy', 'auto'] as const;

interface ClientOptions {
  readonly era?: 'legacy' | 'auto';
  readonly answer?: 'accept' | 'refuse' | 'decline' | 'cancel';
}

/** A client of `served`; `asked` has the questions that it was asked. */
async function connect(
  served: ServedTools,
  options: Partial<ServeMcpOptions>,
  { era = 'auto', answer }: ClientOptions = {},
): Promise<{ client: Client; asked: string[] }> {
  const serving = serveMcp(served, { sessions: keepOpen(createSession()), ...options });
  const [near, far] = InMemoryTransport.createLinkedPair();
  serving.stdio(far);
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: era }, capabilities: answer === undefined ? {} : { elicitation: {} } },
  );
  const asked: string[] = [];
  if (answer !== undefined) {
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message);
      if (answer === 'accept') return { action: 'accept', content: { approve: true } };
      return answer === 'refuse' ? { action: 'accept', content: { approve: false } } : { action: answer };
    });
  }
  await client.connect(near);
  onTestFinished(async () => {
    await client.close();
    await serving.close();
  });
  return { client, asked };
}

const ran: string[] = [];
const createRefund = (name: string): Tool =>
  defineTool({
    name,
    description: 'Refunds.',
    inputSchema: jsonSchema<{ order: string }>({
      type: 'object',
      properties: { order: { type: 'string' } },
      required: ['order'],
    }),
    outputSchema: jsonSchema<{ order: string }>({ type: 'object', properties: { order: { type: 'string' } } }),
    execute: ({ order }) => {
      ran.push(order);
      return toolOk({ order }, 'Refunded.');
    },
  }) as Tool;
const refund = createRefund('refund');
beforeEach(() => void ran.splice(0));

const askAlways: Policy = definePolicy({ name: 'ask-always', check: () => ask('Money moves.') });
const call = (client: Client, order = '17', name = 'refund'): Promise<CallToolResult> =>
  client.callTool({ name, arguments: { order } });
const textOf = ({ content: [first] }: CallToolResult): string => (first?.type === 'text' ? first.text : '');

test.each(eras)('a tool is offered with its schemas and hints, and its result is structured (%s)', async (era) => {
  const session = createSession();
  const { client } = await connect({ tools: [refund] }, { sessions: keepOpen(session) }, { era });
  const { tools } = await client.listTools();
  expect(tools).toMatchObject([
    { name: 'refund', description: 'Refunds.', inputSchema: { required: ['order'], additionalProperties: false } },
  ]);
  expect(tools[0]?.annotations).toMatchObject({ readOnlyHint: false, idempotentHint: false, openWorldHint: true });
  const result = await call(client);
  expect(result).toMatchObject({ structuredContent: { order: '17' } });
  expect(textOf(result)).toContain('Refunded.');
  expect([...session.records()].filter(({ type }) => type === 'tool-call-end')).toHaveLength(1);
});

test.each(eras)('a denial, a bad argument and an unknown tool are told apart (%s)', async (era) => {
  const policies = [
    definePolicy({
      name: 'no-17',
      check: ({ input }) => (JSON.stringify(input).includes('17') ? deny('Not 17.') : { type: 'allow' }),
    }),
  ];
  const { client } = await connect({ tools: [refund] }, { policies }, { era });
  const denied = await call(client);
  expect(denied).toMatchObject({ isError: true, _meta: { 'holdfast/outcome': { kind: 'denied' } } });
  expect(textOf(denied)).toContain('Not 17.');
  const invalid = await client.callTool({ name: 'refund', arguments: { order: 1 } });
  expect(invalid).toMatchObject({ isError: true, _meta: { 'holdfast/outcome': { kind: 'invalid' } } });
  await expect(call(client, '18', 'refunds')).rejects.toThrow('refund');
  expect(ran).toEqual([]);
});

test.each(eras)('a call that has to be approved asks the user of the client (%s)', async (era) => {
  const session = createSession();
  const options = { policies: [askAlways], sessions: keepOpen(session) };
  const { client, asked } = await connect({ tools: [refund] }, options, { era, answer: 'accept' });
  expect(await call(client)).toMatchObject({ structuredContent: { order: '17' } });
  expect(asked).toEqual([expect.stringMatching(/run `refund`\?[\s\S]*Money moves\.[\s\S]*"order": "17"/)]);
  expect(ran).toEqual(['17']);
  const answers = [...session.records()].filter(({ type }) => type.includes('approval') && type.includes('answer'));
  expect(JSON.stringify(answers)).toContain('mcp-client');
});

test.each([
  ['legacy', 'refuse'],
  ['auto', 'refuse'],
  ['legacy', 'decline'],
  ['auto', 'decline'],
] as const)('a user who says no is obeyed (%s, %s)', async (era, answer) => {
  const { client } = await connect({ tools: [refund] }, { policies: [askAlways] }, { era, answer });
  expect(await call(client)).toMatchObject({ isError: true, _meta: { 'holdfast/outcome': { kind: 'denied' } } });
  expect(ran).toEqual([]);
});

test.each(eras)(
  'a client without a user is told to find a person, and an approved call runs when made again (%s)',
  async (era) => {
    const session = createSession();
    const options = { policies: [askAlways], sessions: keepOpen(session) };
    const { client } = await connect({ tools: [refund] }, options, { era });
    const first = await call(client);
    expect(first).toMatchObject({ isError: true, _meta: { 'holdfast/outcome': { code: 'approval.pending' } } });
    expect(textOf(first)).toContain('a person has to approve');
    expect(textOf(first)).not.toMatch(/holdfast approve/i);
    expect(await call(client)).toMatchObject({ isError: true });
    const [pending, ...more] = pendingApprovals(session);
    expect(more).toEqual([]);
    if (pending !== undefined) await answerApproval(session, pending, { type: 'approve' });
    expect(await call(client, '18')).toMatchObject({ isError: true });
    expect(ran).toEqual([]);
    expect(await call(client)).toMatchObject({ structuredContent: { order: '17' } });
    expect(ran).toEqual(['17']);
    expect(await call(client)).toMatchObject({ isError: true });
  },
);

test('a call waits for a person who answers elsewhere', async () => {
  const session = createSession();
  const options = { policies: [askAlways], sessions: keepOpen(session), waitMs: 30_000 };
  const { client } = await connect({ tools: [refund] }, options);
  const calling = call(client);
  await vi.waitFor(() => expect(pendingApprovals(session)).toHaveLength(1));
  const [pending] = pendingApprovals(session);
  if (pending !== undefined) await answerApproval(session, pending, { type: 'approve' });
  expect(await calling).toMatchObject({ structuredContent: { order: '17' } });
});

/** The answer of a server to one request of 2026, written by hand. */
async function send(served: ServedTools, options: ServeMcpOptions, params: object): Promise<Record<string, unknown>> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const { close } = serveMcp(served, options).stdio(far);
  const answer = Promise.withResolvers<Record<string, unknown>>();
  near.onmessage = (message) => {
    if ('id' in message && message.id === 1) answer.resolve(message as unknown as Record<string, unknown>);
  };
  await near.start();
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'hand', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
  };
  await near.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { ...params, _meta } } as never);
  const answered = await answer.promise;
  await close();
  return answered;
}

const yes = { approval: { action: 'accept', content: { approve: true } } };

async function askedFor(session: Session): Promise<string> {
  const options = { sessions: keepOpen(session), policies: [askAlways] };
  const { result } = await send({ tools: [refund] }, options, { name: 'refund', arguments: { order: '17' } });
  expect(result).toMatchObject({ resultType: 'input_required' });
  return String((result as Record<string, unknown>)['requestState']);
}

test('a question is answered by another process, from the log alone, once', async () => {
  const store = memoryStore();
  const state = await askedFor(createSession({ id: 's', store }));
  expect(state).toMatch(/^[0-9a-f]{32}$/);
  expect(JSON.stringify(store.records)).not.toContain(state);
  const reopened = replay(store.records, { store });
  const options = { sessions: keepOpen(reopened), policies: [askAlways] };
  const retry = { name: 'refund', arguments: { order: '17' }, requestState: state, inputResponses: yes };
  expect(await send({ tools: [refund] }, options, retry)).toMatchObject({
    result: { structuredContent: { order: '17' } },
  });
  expect(ran).toEqual(['17']);
  expect(await send({ tools: [refund] }, options, retry)).toMatchObject({ error: { code: -32_602 } });
  expect(ran).toEqual(['17']);
});

test.each([
  { what: 'another tool', change: { name: 'other' } },
  { what: 'other arguments', change: { arguments: { order: '18' } } },
  { what: 'a made-up state', change: { requestState: '0'.repeat(32) } },
  { what: 'a number for a state', change: { requestState: 7 } },
])('$what does not use the answer', async ({ change }) => {
  const session = createSession();
  const state = await askedFor(session);
  const options = { sessions: keepOpen(session), policies: [askAlways] };
  const retry = { name: 'refund', arguments: { order: '17' }, requestState: state, inputResponses: yes };
  const answer = await send({ tools: [refund, createRefund('other')] }, options, { ...retry, ...change });
  expect(answer).toMatchObject({ error: { code: -32_602 } });
  expect(ran).toEqual([]);
  expect(await send({ tools: [refund] }, options, retry)).toMatchObject({
    result: { structuredContent: { order: '17' } },
  });
});

test('the state of another principal does not hold', async () => {
  const state = await askedFor(createSession());
  const retry = { name: 'refund', arguments: { order: '17' }, requestState: state, inputResponses: yes };
  const options = { sessions: keepOpen(createSession()), policies: [askAlways] };
  expect(await send({ tools: [refund] }, options, retry)).toMatchObject({ error: { code: -32_602 } });
});

test('an expired state does not hold', async () => {
  let now = 1_000;
  const clock = { now: () => now, after: () => () => undefined };
  const session = createSession({ clock });
  const options = { sessions: keepOpen(session), policies: [askAlways], clock, approvalTimeoutMs: 500 };
  const input = { name: 'refund', arguments: { order: '17' } };
  const { result } = await send({ tools: [refund] }, options, input);
  const { requestState } = result as Record<string, unknown>;
  now = 1_500;
  const retry = { ...input, requestState, inputResponses: yes };
  expect(await send({ tools: [refund] }, options, retry)).toMatchObject({ error: { code: -32_602 } });
  expect(ran).toEqual([]);
});

test('a retry without an answer is asked again, and does not use up the state', async () => {
  const session = createSession();
  const state = await askedFor(session);
  const options = { sessions: keepOpen(session), policies: [askAlways] };
  const retry = { name: 'refund', arguments: { order: '17' }, requestState: state };
  expect(await send({ tools: [refund] }, options, retry)).toMatchObject({
    result: { resultType: 'input_required', requestState: state },
  });
  const cancelled = { ...retry, inputResponses: { approval: { action: 'cancel' } } };
  expect(await send({ tools: [refund] }, options, cancelled)).toMatchObject({
    result: { resultType: 'input_required' },
  });
  const answered = { ...retry, inputResponses: yes };
  expect(await send({ tools: [refund] }, options, answered)).toMatchObject({ result: { structuredContent: {} } });
});

test.each(eras)('a thousand tools come in pages, and a made-up cursor is refused (%s)', async (era) => {
  const tools = Array.from({ length: 1_000 }, (_, index) => createRefund(`refund_${index}`));
  const { client } = await connect({ tools }, { pageSize: 300 }, { era });
  const first = await client.listTools({ cursor: '0' });
  expect(first.tools).toHaveLength(300);
  const all = await client.listTools();
  expect(all.tools.map(({ name }) => name)).toEqual(tools.map(({ name }) => name));
  await expect(client.listTools({ cursor: '-1' })).rejects.toThrow('Invalid cursor');
  await expect(client.listTools({ cursor: 'x' })).rejects.toThrow('Invalid cursor');
});

test.each(eras)('clients hear of changed tools, and call the new ones (%s)', async (era) => {
  const listeners = new Set<() => void>();
  const served = {
    tools: [] as readonly Tool[],
    onChange: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const serving = serveMcp(served as ServedTools, { sessions: keepOpen(createSession()) });
  const [near, far] = InMemoryTransport.createLinkedPair();
  serving.stdio(far);
  const changed = Promise.withResolvers<unknown>();
  const onChanged = (_error: unknown, items: unknown): void => changed.resolve(items);
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: era }, listChanged: { tools: { onChanged, debounceMs: 0 } } },
  );
  await client.connect(near);
  expect(await client.listTools()).toMatchObject({ tools: [] });
  served.tools = [refund];
  for (const listener of listeners) listener();
  expect(await changed.promise).toMatchObject([{ name: 'refund' }]);
  expect(await call(client)).toMatchObject({ structuredContent: { order: '17' } });
  await client.close();
});

test.each(eras)('progress and cancellation reach the client and the tool (%s)', async (era) => {
  const stopped = Promise.withResolvers<void>();
  const slow = defineTool({
    name: 'slow',
    description: 'Waits.',
    execute: async (_input, { progress, signal }) => {
      progress('begun');
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      stopped.resolve();
      return null;
    },
  }) as Tool;
  const { client } = await connect({ tools: [slow] }, {}, { era });
  const stop = new AbortController();
  const heard: (string | undefined)[] = [];
  const calling = client.callTool(
    { name: 'slow', arguments: {} },
    {
      signal: stop.signal,
      onprogress: ({ message }) => {
        heard.push(message);
        stop.abort();
      },
    },
  );
  await expect(calling).rejects.toThrow('abort');
  await stopped.promise;
  expect(heard).toEqual(['begun']);
});

test.each([
  ['legacy', 'legacy'],
  ['auto', 'legacy'],
  ['legacy', 'auto'],
  ['auto', 'auto'],
] as const)(
  'between a client (%s) and a server (%s): names, lists and results stay as they are',
  async (era, theirs) => {
    const result = {
      content: [
        { type: 'text', text: 'x', _meta: { b: 1, a: 2 }, 'x-own': [1] },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'test://a', text: 'long', mimeType: 'text/plain' } },
      ],
      structuredContent: { z: 1, a: { y: [null, 1.5] } },
    };
    const listed = {
      name: 'Draw.It',
      title: 'T',
      inputSchema: anyInput,
      'x-own': 1,
      annotations: { readOnlyHint: true },
    };
    const server = createTestServer([listed], (name) =>
      name === 'Draw.It' ? (result as never) : { content: [], isError: true },
    );
    const imported = await mcpTools({
      name: 'files',
      transport: server.transport,
      era: theirs,
      dangerous: false,
      inputs: 'declared',
    });
    onTestFinished(() => imported.close());
    const { client } = await connect(imported, {}, { era });
    expect(client.getServerVersion()).toEqual({ name: 'test-server', version: '1.2.3', title: 'A test server' });
    expect(client.getInstructions()).toBe('Be kind.');
    const direct = new Client({ name: 'direct', version: '1' }, { versionNegotiation: { mode: theirs } });
    await direct.connect(server.transport());
    const params = { name: 'Draw.It', arguments: { text: 'a', more: 1 } };
    const request = { method: 'tools/call', params };
    const plain = await direct.request(request, untouched);
    const proxied = await client.request(request, untouched);
    expect(await client.request({ method: 'tools/list' }, untouched)).toMatchObject({ tools: [listed] });
    await direct.close();
    // Each revision has a field or two of its own beside these.
    const { content, structuredContent } = plain;
    expect(JSON.stringify(proxied)).toContain(JSON.stringify({ content, structuredContent }).slice(1, -1));
    if (era === theirs) expect(JSON.stringify(proxied)).toBe(JSON.stringify(plain));

    expect(await client.readResource({ uri: 'test://a' })).toMatchObject({
      contents: [{ text: 'The text of test://a.' }],
    });
    expect(await client.listPrompts()).toMatchObject({ prompts: [{ name: 'greet' }] });
    expect(await client.getPrompt({ name: 'greet', arguments: { who: 'Anna' } })).toMatchObject({
      messages: [{ content: { text: 'Greet Anna.' } }],
    });
  },
);

test.each([false, true])(
  'a result with keys of a later revision reaches the client to the byte (isError %s)',
  async (isError) => {
    const result = {
      'x-first': 1,
      content: [{ type: 'text', text: 'x', 'x-own': [{ b: 1, a: 2 }] }],
      _meta: { 'example.com/z': 1 },
      ...(isError ? { isError } : {}),
    };
    const transport = createRawServer(({ id, method }, send) =>
      send({ id, result: method === 'tools/list' ? { tools: [{ name: 'draw', inputSchema: anyInput }] } : result }),
    );
    const imported = await mcpTools({ name: 'files', transport, era: 'legacy', dangerous: false });
    onTestFinished(() => imported.close());
    const { client } = await connect(imported, {}, { era: 'legacy' });
    const params = { name: 'draw', arguments: {} };
    expect(JSON.stringify(await client.request({ method: 'tools/call', params }, untouched))).toBe(
      JSON.stringify(result),
    );
  },
);

test('an error of the protocol reaches the client as the server gave it', async () => {
  const transport = createRawServer(({ id, method }, send) => {
    if (method === 'tools/list') send({ id, result: { tools: [{ name: 'draw', inputSchema: anyInput }] } });
    else send({ id, error: { code: -32_050, message: 'No such thing', data: { uri: 'test://x' } } });
  });
  const imported = await mcpTools({ name: 'files', transport, era: 'legacy', dangerous: false });
  onTestFinished(() => imported.close());
  const { client } = await connect(imported, {}, { era: 'legacy' });
  await expect(client.callTool({ name: 'draw', arguments: {} })).rejects.toMatchObject({
    code: -32_050,
    message: expect.stringContaining('No such thing'),
    data: { uri: 'test://x' },
  });
});

test('a resource is read as a call: policies see it, and a denial is an error', async () => {
  const seen: string[] = [];
  const policies = [
    definePolicy({
      name: 'no-resources',
      check: ({ tool }) => {
        seen.push(tool.name);
        return deny('No resources here.');
      },
    }),
  ];
  const imported = await mcpTools({ name: 'files', transport: createTestServer([]).transport, dangerous: false });
  onTestFinished(() => imported.close());
  const { client } = await connect(imported, { policies });
  await expect(client.readResource({ uri: 'test://a' })).rejects.toThrow('No resources here.');
  await expect(client.getPrompt({ name: 'greet' })).rejects.toThrow('No resources here.');
  expect(seen).toEqual(['files_read_resource', 'files_get_prompt']);
});

test('nothing is opened before a client comes, and no session before a call', async () => {
  const opened: string[] = [];
  const session = createSession();
  const sessions = {
    open: async (principal: string) => {
      opened.push(principal);
      return session;
    },
    release: async () => undefined,
  };
  const source = async (): Promise<ServedTools> => {
    opened.push('tools');
    return { tools: [refund] };
  };
  const serving = serveMcp(source, { sessions });
  const [near, far] = InMemoryTransport.createLinkedPair();
  serving.stdio(far);
  expect(opened).toEqual([]);
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(near);
  await client.listTools();
  expect(opened).toEqual(['tools']);
  await call(client);
  expect(opened).toEqual(['tools', 'stdio']);
  await client.close();
});

test('a log that cannot be opened denies the call', async () => {
  const { HoldfastError } = await import('@holdfast/core');
  const sessions = {
    open: () => Promise.reject(new HoldfastError('log.locked', 'Another process has it.')),
    release: async () => undefined,
  };
  const { client } = await connect({ tools: [refund] }, { sessions });
  expect(await call(client)).toMatchObject({
    isError: true,
    _meta: { 'holdfast/outcome': { kind: 'denied', code: 'log.locked' } },
  });
  expect(ran).toEqual([]);
});
