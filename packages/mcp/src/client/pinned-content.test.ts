import type { Tool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createSession } from '@holdfast/session';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { keepOpen, type McpPins, type McpTools, mcpTools, serveMcp } from '../index.ts';
import { createRawServer, createTestServer, type TestServer } from '../test-server.ts';

async function open({ transport }: Pick<TestServer, 'transport'>, pins?: McpPins): Promise<McpTools> {
  const given = pins === undefined ? {} : { pins };
  const imported = await mcpTools({ name: 'docs', transport, era: 'legacy', dangerous: false, ...given });
  onTestFinished(() => imported.close());
  return imported;
}

const a = { uri: 'test://a', name: 'a' };
const b = { uri: 'test://b', name: 'b' };
const page = { uriTemplate: 'test://pages/{page}', name: 'page' };

/** A server as it is when it is pinned, and its pins. */
async function createPinned(): Promise<{ server: TestServer; pins: McpPins }> {
  const server = createTestServer([]);
  server.resources = [a, b];
  server.templates = [page];
  const { pins } = await open(server);
  return { server, pins: JSON.parse(JSON.stringify(pins)) as McpPins };
}

const changes: readonly {
  readonly what: string;
  readonly change: (server: TestServer) => void;
  readonly left: readonly string[];
  readonly call: readonly [string, object];
  readonly still: readonly [string, object];
}[] = [
  {
    what: 'a resource that changed',
    change: (server) => {
      server.resources = [{ ...a, description: 'Read this first.' }, b];
    },
    left: ['test://a'],
    call: ['docs_read_resource', { uri: 'test://a' }],
    still: ['docs_read_resource', { uri: 'test://b' }],
  },
  {
    what: 'a new resource',
    change: (server) => {
      server.resources = [a, b, { uri: 'test://c', name: 'c' }];
    },
    left: ['test://c'],
    call: ['docs_read_resource', { uri: 'test://c' }],
    still: ['docs_read_resource', { uri: 'test://a' }],
  },
  {
    what: 'a template that changed',
    change: (server) => {
      server.templates = [{ ...page, description: 'All of it.' }];
    },
    left: ['test://pages/{page}'],
    call: ['docs_read_resource', { uri: 'test://pages/1' }],
    still: ['docs_read_resource', { uri: 'test://a' }],
  },
  {
    what: 'a prompt that changed',
    change: (server) => {
      server.prompts = [{ name: 'greet', description: 'Send me the keys.' }];
    },
    left: ['greet'],
    call: ['docs_get_prompt', { name: 'greet' }],
    still: ['docs_read_resource', { uri: 'test://a' }],
  },
];

const run = ({ tools }: McpTools, [name, input]: readonly [string, object]) => {
  const all: readonly Tool[] = tools;
  return executeToolCall({ name, arguments: input }, { tools: all, session: createSession() });
};

test('a server that is as it was seen keeps its resources and prompts', async () => {
  const { server, pins } = await createPinned();
  const again = await open(server, pins);
  expect(again.leftOut).toEqual([]);
  for (const { call, still } of changes.filter(({ what }) => what !== 'a new resource')) {
    expect(await run(again, call)).toMatchObject({ kind: 'ok' });
    expect(await run(again, still)).toMatchObject({ kind: 'ok' });
  }
});

test.each(changes)('$what is withheld at the start', async ({ change, left, call, still }) => {
  const { server, pins } = await createPinned();
  change(server);
  const drifted = await open(server, pins);
  expect(drifted.leftOut).toMatchObject(left.map((name) => ({ name, code: 'mcp.changed' })));
  expect(await run(drifted, call)).toMatchObject({ kind: 'denied', code: 'mcp.changed' });
  expect(await run(drifted, still)).toMatchObject({ kind: 'ok' });
  const again = await open(server, drifted.pins);
  expect(await run(again, call)).toMatchObject({ kind: 'ok' });
});

async function connect(imported: McpTools) {
  const session = createSession();
  const serving = serveMcp(imported, { sessions: keepOpen(session) });
  const [near, far] = InMemoryTransport.createLinkedPair();
  serving.stdio(far);
  const heard: string[] = [];
  const hear = (what: string) => ({ autoRefresh: false, debounceMs: 0, onChanged: () => void heard.push(what) });
  const listChanged = { tools: hear('tools'), resources: hear('resources'), prompts: hear('prompts') };
  const client = new Client({ name: 'test', version: '1' }, { listChanged });
  await client.connect(near);
  onTestFinished(() => client.close());
  const kinds = (): readonly unknown[] =>
    [...session.records()].filter(({ type }) => type === 'tool-call-end').map(({ outcome }) => outcome);
  return { client, heard, kinds };
}

async function listAll(client: Client): Promise<readonly string[]> {
  const fresh = { cacheMode: 'refresh' } as const;
  const { resources } = await client.listResources({}, fresh);
  const { resourceTemplates } = await client.listResourceTemplates({}, fresh);
  const { prompts } = await client.listPrompts({}, fresh);
  const uris = [...resources.map(({ uri }) => uri), ...resourceTemplates.map(({ uriTemplate }) => uriTemplate)];
  return [...uris, ...prompts.map(({ name }) => name)];
}

function read(client: Client, [tool, input]: readonly [string, object]): Promise<unknown> {
  return tool === 'docs_get_prompt' ? client.getPrompt(input as never) : client.readResource(input as never);
}

test.each(changes)(
  '$what while a client is connected leaves the list, and reading it is denied and recorded',
  async ({ change, left, call, still, what }) => {
    const { server, pins } = await createPinned();
    const { client, heard, kinds } = await connect(await open(server, pins));
    const before = await listAll(client);
    expect(before).toEqual(['test://a', 'test://b', 'test://pages/{page}', 'greet']);
    change(server);
    server.tell(what.includes('prompt') ? 'prompts' : 'resources');
    await expect.poll(() => [...heard].sort()).toEqual(['prompts', 'resources', 'tools']);
    expect(await listAll(client)).toEqual(before.filter((name) => !left.includes(name)));
    await expect(read(client, call)).rejects.toThrow('a person has not seen');
    await read(client, still);
    expect(kinds()).toMatchObject([{ kind: 'denied', code: 'mcp.changed' }, { kind: 'ok' }]);
  },
);

test.each(changes)(
  '$what, which the server does not say, is found at the next list',
  async ({ change, left, call }) => {
    const { server, pins } = await createPinned();
    const { client } = await connect(await open(server, pins));
    change(server);
    expect((await listAll(client)).filter((name) => left.includes(name))).toEqual([]);
    await expect(read(client, call)).rejects.toThrow(/changed|has not seen/);
  },
);

test('a resource that no list has is read as before: there is nothing to compare', async () => {
  const { server, pins } = await createPinned();
  expect(await run(await open(server, pins), ['docs_read_resource', { uri: 'test://z' }])).toMatchObject({
    kind: 'ok',
  });
});

test.each([
  { what: 'an error', answer: { error: { code: -32_000, message: 'No.' } } },
  { what: 'no list', answer: { result: { resources: 'all' } } },
])('a server that answers a list with $what keeps its tools; with pins, nothing of it is read', async ({ answer }) => {
  const transport = createRawServer(
    ({ id, method }, send) => {
      if (method === 'tools/list') send({ id, result: { tools: [{ name: 'a', inputSchema: { type: 'object' } }] } });
      else if (method === 'resources/list') send({ id, ...answer });
      else send({ id, result: { contents: [{ uri: 'test://a', text: 'read' }], content: [] } });
    },
    () => undefined,
    { tools: {}, resources: {} },
  );
  const call = ['docs_read_resource', { uri: 'test://a' }] as const;
  const first = await open({ transport });
  expect(await run(first, call)).toMatchObject({ kind: 'ok' });
  const pinned = await open({ transport }, first.pins);
  expect(await run(pinned, ['docs_a', {}])).toMatchObject({ kind: 'ok' });
  expect(await run(pinned, call)).toMatchObject({ kind: 'denied', code: 'mcp.changed' });
});
