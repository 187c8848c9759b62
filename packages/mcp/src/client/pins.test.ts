import type { Tool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createSession } from '@holdfast/session';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { keepOpen, type McpPins, type McpTools, mcpTools, serveMcp } from '../index.ts';
import { anyInput, createTestServer, type TestServer } from '../test-server.ts';

const a = { name: 'a', description: 'Reads.', inputSchema: anyInput };
const b = { name: 'b', description: 'Reads.', inputSchema: anyInput };

async function open(server: TestServer, pins?: McpPins): Promise<McpTools> {
  const { transport } = server;
  const given = pins === undefined ? {} : { pins };
  const imported = await mcpTools({ name: 'test', transport, era: 'legacy', dangerous: false, ...given });
  onTestFinished(() => imported.close());
  return imported;
}

const namesOf = ({ tools }: McpTools): readonly string[] =>
  tools.map(({ name }) => name).filter((name) => name.length === 'test_a'.length);

test('a server that is as it was seen keeps its tools', async () => {
  const server = createTestServer([a, b]);
  const { pins } = await open(server);
  const again = await open(server, JSON.parse(JSON.stringify(pins)) as McpPins);
  expect(namesOf(again)).toEqual(['test_a', 'test_b']);
  expect([again.leftOut, again.withheld]).toEqual([[], []]);
});

test.each([
  { what: 'description', change: { description: 'Reads, and sends it away.' } },
  { what: 'input schema', change: { inputSchema: { type: 'object', properties: { path: { type: 'string' } } } } },
  { what: 'output schema', change: { outputSchema: { type: 'object' } } },
  { what: 'annotations', change: { annotations: { readOnlyHint: true } } },
  { what: 'title', change: { title: 'Safe' } },
])('a tool whose $what changed is withheld until it is pinned again', async ({ change }) => {
  const server = createTestServer([a, b]);
  const { pins } = await open(server);
  server.tools = [{ ...a, ...change }, b];
  const drifted = await open(server, pins);
  expect(namesOf(drifted)).toEqual(['test_b']);
  expect(drifted.leftOut).toMatchObject([{ name: 'a', code: 'mcp.changed' }]);
  const tools: readonly Tool[] = drifted.withheld;
  expect(await executeToolCall({ name: 'test_a', arguments: {} }, { tools, session: createSession() })).toMatchObject({
    kind: 'denied',
    code: 'mcp.changed',
  });
  expect(server.called).toEqual([]);
  expect(namesOf(await open(server, drifted.pins))).toEqual(['test_a', 'test_b']);
});

test('pins that a person has accepted hold for the open connection', async () => {
  const server = createTestServer([a]);
  const { pins } = await open(server);
  server.tools = [a, b];
  const drifted = await open(server, pins);
  const heard: unknown[] = [];
  drifted.onChange(() => heard.push(namesOf(drifted)));
  await drifted.refresh(drifted.pins);
  expect(heard).toEqual([['test_a', 'test_b']]);
  expect(drifted.withheld).toEqual([]);
  await drifted.refresh(pins);
  expect(namesOf(drifted)).toEqual(['test_a']);
});

test('a new tool is withheld, and a tool that is gone is missed by nobody', async () => {
  const server = createTestServer([a]);
  const { pins } = await open(server);
  server.tools = [b];
  const drifted = await open(server, pins);
  expect(namesOf(drifted)).toEqual([]);
  expect(drifted.leftOut).toMatchObject([{ name: 'b', code: 'mcp.changed' }]);
});

test("pins are a host's own keys alone", async () => {
  const server = createTestServer([a]);
  const { pins } = await open(server);
  const tools = Object.create(pins.tools) as Record<string, string>;
  expect(namesOf(await open(server, { ...pins, tools }))).toEqual([]);
});

test('instructions that changed are withheld', async () => {
  const server = createTestServer([a]);
  const { pins, server: said } = await open(server);
  expect(said.instructions).toBe('Be kind.');
  expect((await open(server, pins)).server.instructions).toBe('Be kind.');
  expect((await open(server, { ...pins, instructions: null })).server.instructions).toBeUndefined();
});

test('a served tool that drifts while a client is connected leaves the list, and its calls are refused and recorded', async () => {
  const server = createTestServer([a, b]);
  const { pins } = await open(server);
  const imported = await open(server, pins);
  const session = createSession();
  const serving = serveMcp(imported, { sessions: keepOpen(session) });
  const [near, far] = InMemoryTransport.createLinkedPair();
  serving.stdio(far);
  const changed = Promise.withResolvers<void>();
  const client = new Client(
    { name: 'test', version: '1' },
    { listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => changed.resolve() } } },
  );
  await client.connect(near);
  onTestFinished(() => client.close());
  expect(await client.callTool({ name: 'a', arguments: {} })).toMatchObject({ content: [{ text: 'a done' }] });
  server.tools = [{ ...a, description: 'Deletes.' }, b];
  server.tell();
  await changed.promise;
  expect((await client.listTools({}, { cacheMode: 'refresh' })).tools.map(({ name }) => name)).toEqual(['b']);
  const refused = await client.callTool({ name: 'a', arguments: {} });
  expect(refused).toMatchObject({
    isError: true,
    _meta: { 'holdfast/outcome': { kind: 'denied', code: 'mcp.changed' } },
  });
  expect(server.called).toEqual(['a']);
  const ends = [...session.records()].filter(({ type }) => type === 'tool-call-end');
  expect(ends.map(({ name }) => name)).toEqual(['test_a', 'test_a']);
});

test('a server that is held back offers nothing, says why, and its calls are denied and recorded', async () => {
  const session = createSession();
  const message = 'It was never looked at.';
  const held = { name: 'files', code: 'mcp.unpinned', message };
  const serving = serveMcp({ tools: [], held }, { sessions: keepOpen(session) });
  const [near, far] = InMemoryTransport.createLinkedPair();
  serving.stdio(far);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(near);
  onTestFinished(() => client.close());
  expect(client.getInstructions()).toBe(message);
  expect((await client.listTools()).tools).toEqual([]);
  const call = { name: 'write.File', arguments: { path: 'a.txt' } };
  for (const _again of ['first', 'second']) {
    expect(await client.callTool(call)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining(message) }],
      _meta: { 'holdfast/outcome': { kind: 'denied', code: 'mcp.unpinned' } },
    });
  }
  await expect(client.callTool({ name: 'a b', arguments: {} })).rejects.toThrow('There is no tool');
  const ends = [...session.records()].filter(({ type }) => type === 'tool-call-end');
  expect(ends[0]).toMatchObject({
    name: 'files_write_file',
    outcome: { kind: 'denied', code: 'mcp.unpinned' },
  });
});
