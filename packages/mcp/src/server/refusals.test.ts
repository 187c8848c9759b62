import { defineTool, type Tool } from '@holdfast/core';
import { createSession, type LogRecord, type Session } from '@holdfast/session';
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { keepOpen, listenMcp, type McpServing, mcpTools, type ServedTools, serveMcp } from '../index.ts';
import { anyInput, createRawServer, createTestServer } from '../test-server.ts';

const hello = { tools: [defineTool({ name: 'hello', description: 'Greets.', execute: () => 'Hello.' }) as Tool] };

async function connect(serving: McpServing): Promise<Client> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  serving.stdio(far);
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(near);
  onTestFinished(() => client.close());
  return client;
}

const recordsOf = (session: Session, type: string): readonly LogRecord[] =>
  [...session.records()].filter((record) => record.type === type);
const anything = {
  '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value: value as object }) },
} as const;
const refused = { code: -32_602 };

async function serve(served: ServedTools): Promise<{ client: Client; session: Session }> {
  const session = createSession();
  return { client: await connect(serveMcp(served, { sessions: keepOpen(session) })), session };
}

test('an unknown tool is refused, and recorded as a call', async () => {
  const { client, session } = await serve(hello);
  await expect(client.callTool({ name: 'helo', arguments: {} })).rejects.toMatchObject(refused);
  expect(recordsOf(session, 'tool-call-end')).toMatchObject([{ name: 'helo', outcome: { kind: 'unknown-tool' } }]);
});

test.each(['files_a', 'files_read_resource', 'files_get_prompt'])(
  'our own name `%s` for what a wrapped server offers is not served, and recorded',
  async (name) => {
    const server = createTestServer([{ name: 'a', inputSchema: anyInput }]);
    const imported = await mcpTools({ name: 'files', transport: server.transport, dangerous: false });
    onTestFinished(() => imported.close());
    const { client, session } = await serve(imported);
    const input = { uri: 'test://a', name: 'greet' };
    await expect(client.callTool({ name, arguments: input })).rejects.toMatchObject(refused);
    expect(server.called).toEqual([]);
    expect(recordsOf(session, 'mcp-refused')).toMatchObject([{ reason: 'tool-name', name }]);
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(['a']);
  },
);

test('the reading tools of a server are served where a host lists them itself', async () => {
  const imported = await mcpTools({ name: 'files', transport: createTestServer([]).transport, dangerous: false });
  onTestFinished(() => imported.close());
  const { client } = await serve({ tools: imported.tools });
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('files_read_resource');
  expect(await client.callTool({ name: 'files_read_resource', arguments: { uri: 'test://a' } })).toMatchObject({
    content: [{ text: 'The text of test://a.' }],
  });
});

test('a made-up state is recorded, without it, and not without end', async () => {
  const { client, session } = await serve(hello);
  const forge = () =>
    client.request({
      method: 'tools/call',
      params: { name: 'hello\u202e', arguments: {}, requestState: 'f'.repeat(32) } as never,
    });
  await expect(forge()).rejects.toMatchObject(refused);
  expect(recordsOf(session, 'mcp-refused')).toEqual([
    { seq: 1, atMs: expect.any(Number), type: 'mcp-refused', reason: 'request-state', name: 'hello\\u{202e}' },
  ]);
  for (let count = 1; count < 250; count += 1) await expect(forge()).rejects.toMatchObject(refused);
  const records = recordsOf(session, 'mcp-refused');
  expect(records).toHaveLength(200);
  expect(records.filter(({ last }) => last === true)).toEqual([records.at(-1)]);
});

test('requests that are not let in are counted in the log of the next call', async () => {
  const session = createSession();
  const serving = serveMcp(hello, { sessions: keepOpen(session) });
  const listening = await listenMcp(serving, { tokens: new Map([['secret-a', 'anna']]) });
  onTestFinished(() => listening.close());
  const attempts = [
    { authorization: 'Bearer stolen-token' },
    {},
    { authorization: 'Bearer secret-a', origin: 'https://evil.example' },
  ];
  for (const headers of attempts) await fetch(listening.url, { method: 'POST', body: '{}', headers });
  expect(recordsOf(session, 'mcp-refused')).toEqual([]);
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const requestInit = { headers: { authorization: 'Bearer secret-a' } };
  await client.connect(new StreamableHTTPClientTransport(new URL(listening.url), { requestInit }));
  onTestFinished(() => client.close());
  for (let count = 0; count < 2; count += 1) await client.callTool({ name: 'hello', arguments: {} });
  expect(recordsOf(session, 'mcp-refused')).toMatchObject([{ reason: 'no-access', count: 3 }]);
  expect(JSON.stringify([...session.records()])).not.toMatch(/stolen-token|secret-a/);
});

test.each([
  {
    method: 'completion/complete',
    params: { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: 'A' } },
  },
  { method: 'resources/subscribe', params: { uri: 'test://a' } },
  { method: 'resources/unsubscribe', params: { uri: 'test://a' } },
  { method: 'logging/setLevel', params: { level: 'info' } },
  { method: 'tasks/get', params: { taskId: 't1' } },
])('$method is not relayed: the server behind does not hear of it', async ({ method, params }) => {
  const heard: string[] = [];
  const transport = createRawServer(
    ({ id, method: asked }, send) => {
      heard.push(asked);
      send({ id, result: asked === 'tools/list' ? { tools: [] } : {} });
    },
    () => undefined,
    { resources: { subscribe: true }, prompts: {}, completions: {}, logging: {}, tools: {} },
  );
  const imported = await mcpTools({ name: 'files', transport, era: 'legacy', dangerous: false });
  onTestFinished(() => imported.close());
  const before = heard.length;
  const serving = serveMcp(imported, { sessions: keepOpen(createSession()) });
  const [near, far] = InMemoryTransport.createLinkedPair();
  serving.stdio(far);
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
  onTestFinished(() => client.close());
  await client.connect(near);
  expect(client.getServerCapabilities()).toEqual({ tools: { listChanged: true }, resources: {}, prompts: {} });
  await expect(client.request({ method, params }, anything)).rejects.toMatchObject({ code: -32_601 });
  expect(heard).toHaveLength(before);
});
