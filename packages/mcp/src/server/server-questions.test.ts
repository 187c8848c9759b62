import { ask, definePolicy } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createSession, type LogRecord, type Session } from '@holdfast/session';
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type CallToolResult, inputRequired, inputResponse } from '@modelcontextprotocol/server';
import { expect, onTestFinished, test, vi } from 'vitest';
import { keepOpen, listenMcp, type McpTools, mcpTools, type ServeMcpOptions, serveMcp } from '../index.ts';
import { anyInput, createRawServer, createTestServer, type TestServer } from '../test-server.ts';

const eras = ['legacy', 'auto'] as const;
const pairs = eras.flatMap((era) => eras.map((theirs) => ({ era, theirs })));

const form = {
  message: 'Which\u202e account?',
  requestedSchema: { type: 'object' as const, properties: { account: { type: 'string' as const, title: 'A\u202eB' } } },
};

/** A server of both eras whose tool `pay` asks the user for an account. */
function createAsking(): TestServer {
  return createTestServer([{ name: 'pay', inputSchema: anyInput }], (_name, _input, { responses }) => {
    const response = inputResponse(responses, 'account');
    if (response.kind === 'missing') {
      return inputRequired({ inputRequests: { account: inputRequired.elicit(form) }, requestState: 'theirs' });
    }
    const { action, content } = response as Extract<typeof response, { kind: 'elicit' }>;
    return { content: [{ type: 'text', text: `${action} ${JSON.stringify(content ?? null)}` }] };
  });
}

/** A server of 2025 like it, whose results have a key of its own. */
function createRawAsking(): Pick<TestServer, 'transport'> {
  let call: unknown;
  const transport = createRawServer(
    ({ id, method }, send) => {
      if (method === 'tools/list') send({ id, result: { tools: [{ name: 'pay', inputSchema: anyInput }] } });
      if (method !== 'tools/call') return;
      call = id;
      send({ id: 'mine', method: 'elicitation/create', params: form });
    },
    ({ action, content }, send) => {
      const text = `${String(action)} ${JSON.stringify(content)}`;
      send({ id: call, result: { 'x-own': 1, content: [{ type: 'text', text }] } });
    },
  );
  return { transport };
}

async function importFrom(server: Pick<TestServer, 'transport'>, options: object = {}): Promise<McpTools> {
  const given = { name: 'bank', transport: server.transport, dangerous: false, elicit: 'client', ...options } as const;
  const imported = await mcpTools(given);
  onTestFinished(() => imported.close());
  return imported;
}

type Reply = { readonly action: 'accept' | 'decline' | 'cancel'; readonly content?: Record<string, string> };

async function connect(
  imported: McpTools,
  era: 'legacy' | 'auto',
  reply: Reply | undefined,
  options: Partial<ServeMcpOptions> = {},
): Promise<{ client: Client; session: Session; asked: object[] }> {
  const session = createSession();
  const serving = serveMcp(imported, { sessions: keepOpen(session), ...options });
  const [near, far] = InMemoryTransport.createLinkedPair();
  serving.stdio(far);
  const capabilities = reply === undefined ? {} : { elicitation: {} };
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: era }, capabilities });
  const asked: object[] = [];
  if (reply !== undefined) {
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params);
      return reply;
    });
  }
  await client.connect(near);
  onTestFinished(async () => {
    await client.close();
    await serving.close();
  });
  return { client, session, asked };
}

const pay = { name: 'pay', arguments: { text: 'a' } };
const textOf = ({ content: [first] }: CallToolResult): string => (first?.type === 'text' ? first.text : '');
const recordsOf = (session: Session, type: string): readonly LogRecord[] =>
  [...session.records()].filter((record) => record.type === type);

test.each(pairs)(
  'a question of a wrapped server ($theirs) reaches the user of the client ($era), with its origin',
  async ({ era, theirs }) => {
    const imported = await importFrom(createAsking(), { era: theirs });
    const reply = { action: 'accept', content: { account: 'DE1' } } as const;
    const { client, session, asked } = await connect(imported, era, reply);
    expect(textOf(await client.callTool(pay))).toBe('accept {"account":"DE1"}');
    expect(asked).toMatchObject([
      {
        message: expect.stringMatching(/^The MCP server `bank` asks: Which.* account\?$/),
        requestedSchema: { properties: { account: { title: expect.not.stringContaining('\u202e') } } },
      },
    ]);
    expect(JSON.stringify(asked)).not.toContain('\u202e');
    expect(recordsOf(session, 'mcp-question')).toMatchObject([
      { server: 'bank', action: 'accept', callId: expect.stringMatching(/^mcp-/) },
    ]);
    expect(JSON.stringify(recordsOf(session, 'mcp-question'))).not.toContain('DE1');
    expect(recordsOf(session, 'tool-call-end')).toHaveLength(1);
  },
);

test.each(pairs)(
  'a client ($era) that cannot ask declines for its user, and the log says so ($theirs)',
  async ({ era, theirs }) => {
    const imported = await importFrom(createAsking(), { era: theirs });
    const { client, session } = await connect(imported, era, undefined);
    expect(textOf(await client.callTool(pay))).toBe('decline null');
    expect(recordsOf(session, 'mcp-question')).toMatchObject([
      { action: 'decline', message: 'Which\\u{202e} account?' },
    ]);
  },
);

test.each(['decline', 'cancel'] as const)('a user who answers %s is obeyed', async (action) => {
  const { client } = await connect(await importFrom(createAsking()), 'auto', { action });
  expect(textOf(await client.callTool(pay))).toBe(`${action} null`);
});

test('a question by a page reaches a client that shows pages, and no other', async () => {
  const server = createTestServer([{ name: 'pay', inputSchema: anyInput }], (_name, _input, { responses }) => {
    const response = inputResponse(responses, 'page');
    if (response.kind === 'elicit') {
      const { action, content = 'nothing' } = response;
      return { content: [{ type: 'text', text: `${action} ${JSON.stringify(content)}` }] };
    }
    const page = inputRequired.elicitUrl({ message: 'Sign in.', url: 'https://bank.example/' });
    return inputRequired({ inputRequests: { page } });
  });
  const imported = await importFrom(server);
  const { client, asked } = await connect(imported, 'auto', { action: 'accept' });
  expect(textOf(await client.callTool(pay))).toBe('decline "nothing"');
  expect(asked).toEqual([]);
  const serving = serveMcp(imported, { sessions: keepOpen(createSession()) });
  const [near, far] = InMemoryTransport.createLinkedPair();
  serving.stdio(far);
  const capabilities = { elicitation: { url: {} } };
  const shows = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' }, capabilities });
  onTestFinished(() => shows.close());
  shows.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params);
    return { action: 'accept' };
  });
  await shows.connect(near);
  expect(textOf(await shows.callTool(pay))).toBe('accept "nothing"');
  expect(asked).toMatchObject([
    { mode: 'url', url: 'https://bank.example/', message: 'The MCP server `bank` asks: Sign in.' },
  ]);
});

test('a resource whose server asks is read with the answer', async () => {
  const server = createTestServer([]);
  server.read = (uri, responses) => {
    const response = inputResponse(responses, 'account');
    if (response.kind !== 'elicit') return inputRequired({ inputRequests: { account: inputRequired.elicit(form) } });
    return { contents: [{ uri, text: response.action }] };
  };
  const { client } = await connect(await importFrom(server), 'auto', { action: 'accept', content: {} });
  expect(await client.readResource({ uri: 'test://a' })).toMatchObject({ contents: [{ text: 'accept' }] });
});

/** A client of 2026 that handles questions by hand. */
async function connectByHand(imported: McpTools, options: Partial<ServeMcpOptions> = {}) {
  const { client, session } = await connect(imported, 'auto', { action: 'cancel' }, options);
  const send = (params: object): Promise<Record<string, unknown>> =>
    client.request({ method: 'tools/call', params: params as Record<string, unknown> }, anything, {
      allowInputRequired: true,
    }) as Promise<Record<string, unknown>>;
  return { send, session };
}

const anything = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value: value as object }) },
} as const;

const answered = { question: { action: 'accept', content: { account: 'DE2' } } };

test('an answer holds once, for the same tool and arguments', async () => {
  const { send } = await connectByHand(await importFrom(createRawAsking(), { era: 'legacy' }));
  const { requestState, resultType } = await send(pay);
  expect([resultType, requestState]).toEqual(['input_required', expect.stringMatching(/^[0-9a-f]{32}$/)]);
  const retry = { ...pay, requestState, inputResponses: answered };
  await expect(send({ ...retry, arguments: { text: 'b' } })).rejects.toMatchObject({ code: -32_602 });
  await expect(send({ ...retry, name: 'other' })).rejects.toMatchObject({ code: -32_602 });
  expect(await send({ ...pay, requestState })).toMatchObject({ resultType: 'input_required', requestState });
  expect(await send(retry)).toMatchObject({ 'x-own': 1, content: [{ text: 'accept {"account":"DE2"}' }] });
  await expect(send(retry)).rejects.toMatchObject({ code: -32_602 });
});

test('an unanswered question is cancelled in time, and its state no longer holds', async () => {
  const waits: (() => void)[] = [];
  const clock = {
    now: () => 1_000,
    after: (ms: number, run: () => void) => {
      if (ms === 5_000) waits.push(run);
      return () => undefined;
    },
  };
  const session = createSession({ clock });
  const options = { clock, approvalTimeoutMs: 5_000, sessions: keepOpen(session) };
  const { send } = await connectByHand(await importFrom(createAsking()), options);
  const { requestState } = await send(pay);
  for (const run of waits) run();
  await vi.waitFor(() => expect(recordsOf(session, 'mcp-question')).toMatchObject([{ action: 'cancel' }]));
  await expect(send({ ...pay, requestState, inputResponses: answered })).rejects.toMatchObject({ code: -32_602 });
});

async function connectOverHttp(url: string, token: string): Promise<Client> {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: {} } },
  );
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { account: token } }));
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  onTestFinished(() => client.close());
  return client;
}

test('over HTTP a call outlives the request that began it, and its question goes to no other principal', async () => {
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const asking = createAsking();
  const server = createTestServer(
    [
      { name: 'pay', inputSchema: anyInput },
      { name: 'wait', inputSchema: anyInput },
    ],
    async (name, input, context) => {
      if (name === 'pay') return asking.answer(name, input, context);
      begun.resolve();
      await goOn.promise;
      return { content: [] };
    },
  );
  const serving = serveMcp(await importFrom(server), { sessions: keepOpen(createSession()) });
  const tokens = new Map(['anna', 'bob'].map((name) => [name, name]));
  const listening = await listenMcp(serving, { tokens });
  onTestFinished(() => listening.close());
  const [anna, bob] = [await connectOverHttp(listening.url, 'anna'), await connectOverHttp(listening.url, 'bob')];
  expect(textOf(await anna.callTool(pay))).toBe('accept {"account":"anna"}');
  const waiting = bob.callTool({ name: 'wait', arguments: {} });
  await begun.promise;
  expect(textOf(await anna.callTool(pay))).toBe('decline null');
  goOn.resolve();
  await waiting;
  expect(textOf(await anna.callTool(pay))).toBe('accept {"account":"anna"}');
});

test.each(['sampling/createMessage', 'roots/list'])(
  '%s of a wrapped server is refused and recorded',
  async (method) => {
    const transport = createRawServer(({ id, method: called }, send) => {
      if (called === 'tools/list') send({ id, result: { tools: [{ name: 'pay', inputSchema: anyInput }] } });
      if (called !== 'tools/call') return;
      send({ id: 'mine', method, params: { messages: [], maxTokens: 1 } });
      setImmediate(() => send({ id, result: { content: [] } }));
    });
    const imported = await importFrom({ transport }, { era: 'legacy' });
    const { client, session } = await connect(imported, 'auto', { action: 'accept' });
    await client.callTool(pay);
    const [end] = recordsOf(session, 'tool-call-end');
    expect(recordsOf(session, 'mcp-refused')).toMatchObject([{ server: 'bank', method, callId: end?.['callId'] }]);
  },
);

test.each(eras)('a host that asks people itself is asked with the name of the server (%s)', async (era) => {
  const seen: object[] = [];
  const elicit = (question: object) => {
    seen.push(question);
    return { action: 'accept', content: { account: 'DE3' } } as const;
  };
  const imported = await importFrom(createAsking(), { era, elicit });
  const { tools } = imported;
  const outcome = await executeToolCall({ name: 'bank_pay', arguments: {} }, { tools, session: createSession() });
  expect(outcome).toMatchObject({ kind: 'ok', text: 'accept {"account":"DE3"}' });
  expect(seen).toMatchObject([{ server: 'bank', message: 'Which\\u{202e} account?' }]);
});

test('an unknown way to ask is refused', async () => {
  const error = await mcpTools({ name: 'bank', command: 'node', elicit: 'user' as 'client' }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ code: 'options.invalid', data: { reason: 'elicit' } });
});

test.each(eras)('a call that was approved goes on to ask what its server asks (%s)', async (era) => {
  const policies = [definePolicy({ name: 'ask-always', check: () => ask('Money moves.') })];
  const reply = { action: 'accept', content: { approve: true, account: 'DE4' } } as never;
  const { client, asked } = await connect(await importFrom(createAsking()), era, reply, { policies });
  expect(textOf(await client.callTool(pay))).toContain('accept {');
  expect(asked).toMatchObject([
    { message: expect.stringMatching(/^Holdfast asks: run `bank_pay`\?/) },
    { message: expect.stringMatching(/^The MCP server `bank` asks/) },
  ]);
});
