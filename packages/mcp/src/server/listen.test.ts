import { defineTool, type Tool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createSession, type Session } from '@holdfast/session';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { keepOpen, listenMcp, mcpTools, serveMcp } from '../index.ts';

const hello = defineTool({ name: 'hello', description: 'Greets.', execute: () => 'Hello.' }) as Tool;

async function listen(): Promise<{ url: string; sessions: Map<string, Session> }> {
  const sessions = new Map<string, Session>();
  const serving = serveMcp(
    { tools: [hello] },
    {
      sessions: {
        open: async (principal) => {
          const session = sessions.get(principal) ?? createSession();
          sessions.set(principal, session);
          return session;
        },
        release: async () => undefined,
      },
    },
  );
  const listening = await listenMcp(serving, {
    tokens: new Map([
      ['secret-a', 'anna'],
      ['secret-b', 'bob'],
    ]),
  });
  onTestFinished(() => listening.close());
  return { url: listening.url, sessions };
}

test.each(['legacy', 'auto'] as const)(
  'tools over HTTP, each principal with a session of its own (%s)',
  async (mode) => {
    const { url, sessions } = await listen();
    for (const token of ['secret-a', 'secret-b']) {
      const headers = { authorization: `Bearer ${token}` };
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
      expect(await client.callTool({ name: 'hello', arguments: {} })).toMatchObject({
        content: [{ text: '"Hello."' }],
      });
      await client.close();
    }
    expect([...sessions.keys()]).toEqual(['anna', 'bob']);
    expect([...(sessions.get('anna')?.records() ?? [])].filter(({ type }) => type === 'tool-call-end')).toHaveLength(1);
  },
);

test.each(['legacy', 'auto'] as const)(
  'mcpTools takes a server at an address, with a bearer header (%s)',
  async (era) => {
    const { url, sessions } = await listen();
    const headers = { authorization: 'Bearer secret-a' };
    const imported = await mcpTools({ name: 'far', url, headers, era, dangerous: false });
    onTestFinished(() => imported.close());
    const session = createSession();
    const outcome = await executeToolCall({ name: 'far_hello', arguments: {} }, { tools: imported.tools, session });
    expect(outcome).toMatchObject({ kind: 'ok', text: '"Hello."' });
    expect(sessions.size).toBe(1);
    const refused = await mcpTools({ name: 'far', url, era }).catch((thrown: unknown) => thrown);
    expect(refused).toMatchObject({ code: 'mcp.unreachable' });
  },
);

test.each([
  { what: 'no token', headers: {}, status: 401 },
  { what: 'a wrong token', headers: { authorization: 'Bearer secret-c' }, status: 401 },
  { what: 'a token by another scheme', headers: { authorization: 'Basic secret-a' }, status: 401 },
  {
    what: 'a page of another site',
    headers: { authorization: 'Bearer secret-a', origin: 'https://evil.example' },
    status: 403,
  },
  {
    what: 'a local page that is not allowed',
    headers: { authorization: 'Bearer secret-a', origin: 'http://localhost:3000' },
    status: 403,
  },
  { what: 'another path', headers: { authorization: 'Bearer secret-a' }, path: '/', status: 404 },
])('$what is not let in', async ({ headers, status, path = '/mcp' }) => {
  const { url, sessions } = await listen();
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const response = await fetch(new URL(path, url), {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(headers as object),
    },
  });
  expect(response.status).toBe(status);
  expect(sessions.size).toBe(0);
});

test('a name that leads to this machine from elsewhere is not let in', async () => {
  const { url } = await listen();
  const { request } = await import('node:http');
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { host: 'evil.example', authorization: 'Bearer secret-a' };
    const sent = request(url, { method: 'POST', headers }, ({ statusCode }) => resolve(statusCode));
    sent.on('error', reject);
    sent.end('{}');
  });
  expect(status).toBe(403);
});

test('a port that is taken is refused', async () => {
  const { url } = await listen();
  const serving = serveMcp(
    { tools: [] },
    { sessions: { open: async () => createSession(), release: async () => undefined } },
  );
  const error = await listenMcp(serving, { port: Number(new URL(url).port), tokens: new Map() }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ code: 'mcp.unreachable', reason: 'port' });
});

test('another address of this machine does not answer', async () => {
  const { url } = await listen();
  const other = new URL(url);
  other.hostname = '127.0.0.2';
  await expect(fetch(other, { method: 'POST' })).rejects.toThrow('fetch failed');
});

test('a call ends when its client goes', async () => {
  const begun = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const wait = defineTool({
    name: 'wait',
    description: 'Waits.',
    execute: async (_input, { signal }) => {
      signal.addEventListener('abort', () => stopped.resolve());
      begun.resolve();
      await stopped.promise;
      return null;
    },
  }) as Tool;
  const serving = serveMcp({ tools: [wait] }, { sessions: keepOpen(createSession()) });
  const listening = await listenMcp(serving, { tokens: new Map([['secret-a', 'anna']]) });
  onTestFinished(() => listening.close());
  const stop = new AbortController();
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const requestInit = { headers: { authorization: 'Bearer secret-a' } };
  await client.connect(new StreamableHTTPClientTransport(new URL(listening.url), { requestInit }));
  const calling = client.callTool({ name: 'wait', arguments: {} }, { signal: stop.signal });
  await begun.promise;
  stop.abort();
  await expect(calling).rejects.toThrow('abort');
  await stopped.promise;
  await client.close();
});

test('a server that fails answers 500 with the reason, and 500 is not the end of it', async () => {
  let fails = true;
  const serving = {
    fetch: async () => {
      if (fails) throw new Error('The disk is full.');
      return new Response('fine');
    },
    close: async () => undefined,
  };
  const listening = await listenMcp(serving, { tokens: new Map() });
  onTestFinished(() => listening.close());
  const failed = await fetch(listening.url, { method: 'POST', body: '{}' });
  expect([failed.status, await failed.text()]).toEqual([500, 'The disk is full.\n']);
  fails = false;
  expect(await (await fetch(listening.url, { method: 'POST', body: '{}' })).text()).toBe('fine');
});

test('an answer that breaks off in the middle ends the connection', async () => {
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('half')),
    pull: (controller) => controller.error(new Error('gone')),
  });
  const serving = {
    fetch: async () => new Response(body),
    close: async () => undefined,
  };
  const listening = await listenMcp(serving, { tokens: new Map() });
  onTestFinished(() => listening.close());
  const text = fetch(listening.url, { method: 'POST', body: '{}' }).then((response) => response.text());
  await expect(text).rejects.toThrow(/terminated|fetch failed/);
});

test('closing does not wait for clients that keep their connection', async () => {
  const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('open')) });
  const serving = {
    fetch: async () => new Response(body),
    close: async () => undefined,
  };
  const listening = await listenMcp(serving, { tokens: new Map() });
  const response = await fetch(listening.url, { method: 'POST', body: '{}' });
  const text = response.text();
  await listening.close();
  await expect(text).rejects.toThrow('terminated');
});
