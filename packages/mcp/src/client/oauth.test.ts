import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readBody } from 'node:stream/consumers';
import { defineTool, type HoldfastError, isHoldfastError, type Tool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createSession } from '@holdfast/session';
import { ClientCredentialsProvider, type OAuthClientProvider, type OAuthTokens } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { keepOpen, type McpEvent, type McpToolsOptions, mcpTools, serveMcp } from '../index.ts';

interface Authorized {
  readonly url: string;
  /** Access tokens that are good, with their principal. */
  readonly tokens: Map<string, string>;
  /** The bodies that the token endpoint got. */
  readonly asked: URLSearchParams[];
  /** The answer of the token endpoint. */
  grant(body: URLSearchParams): { readonly status: number; readonly json: object };
}

/** A server on loopback whose tool `hello` needs a token of the authorization server beside it. */
async function createAuthorized(): Promise<Authorized> {
  const hello = defineTool({ name: 'hello', description: 'Greets.', execute: () => 'Hello.' }) as Tool;
  const serving = serveMcp({ tools: [hello] }, { sessions: keepOpen(createSession()) });
  const tokens = new Map<string, string>();
  let count = 0;
  const made = {
    url: '',
    tokens,
    asked: [] as URLSearchParams[],
    grant: (body: URLSearchParams): { status: number; json: object } => {
      count += 1;
      const access = `access-${count}`;
      tokens.set(access, 'anna');
      const refresh = body.get('grant_type') === 'refresh_token' ? { refresh_token: `refresh-${count}` } : {};
      return { status: 200, json: { access_token: access, token_type: 'Bearer', expires_in: 3_600, ...refresh } };
    },
  };
  const server = createServer((incoming, outgoing) => {
    const { origin } = new URL(made.url);
    const send = (status: number, json: object, headers = {}): void => {
      outgoing.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(json));
    };
    const answer = async (): Promise<void> => {
      const { url = '', method = 'GET' } = incoming;
      const body = await readBody(incoming);
      if (url.startsWith('/.well-known/oauth-protected-resource')) {
        return send(200, { resource: made.url, authorization_servers: [origin] });
      }
      if (url.startsWith('/.well-known/oauth-authorization-server')) {
        const metadata = {
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          response_types_supported: ['code'],
          grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
          token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
          code_challenge_methods_supported: ['S256'],
        };
        return send(200, metadata);
      }
      if (url === '/token') {
        const asked = new URLSearchParams(body);
        made.asked.push(asked);
        const { status, json } = made.grant(asked);
        return send(status, json);
      }
      if (url !== '/mcp') return send(404, {});
      const headers = new Headers(Object.entries(incoming.headers) as [string, string][]);
      const request = new Request(made.url, { method, headers, ...(method === 'POST' ? { body } : {}) });
      const response = await serving.fetch(request, { tokens, hosts: ['127.0.0.1'] });
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      for await (const chunk of response.body ?? []) outgoing.write(chunk);
      outgoing.end();
    };
    answer().catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  made.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  onTestFinished(async () => {
    await serving.close();
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return made;
}

const clientSecret = 'hunter2-hunter2';

function createCredentials(url: string): OAuthClientProvider {
  return new ClientCredentialsProvider({ clientId: 'ci', clientSecret, expectedIssuer: new URL(url).origin });
}

/** A provider of a person who has signed in before. */
function createSignedIn(first: OAuthTokens | undefined): OAuthClientProvider & { saved: OAuthTokens[]; sent: URL[] } {
  let tokens = first;
  const saved: OAuthTokens[] = [];
  const sent: URL[] = [];
  return {
    saved,
    sent,
    redirectUrl: 'http://127.0.0.1/callback',
    clientMetadata: { redirect_uris: ['http://127.0.0.1/callback'], token_endpoint_auth_method: 'none' },
    clientInformation: () => ({ client_id: 'ci' }),
    tokens: () => tokens,
    saveTokens: (next) => {
      saved.push(next);
      tokens = next;
    },
    redirectToAuthorization: (url) => void sent.push(url),
    saveCodeVerifier: () => undefined,
    codeVerifier: () => 'verifier',
  };
}

async function open(url: string, authProvider: OAuthClientProvider) {
  const session = createSession();
  const events: McpEvent[] = [];
  const onEvent = (event: McpEvent): void => void events.push(event);
  const imported = await mcpTools({ name: 'far', url, authProvider, dangerous: false, onEvent });
  onTestFinished(() => imported.close());
  const { tools } = imported;
  const call = () => executeToolCall({ name: 'far_hello', arguments: {} }, { tools, session });
  return { session, call, events };
}

test('a provider signs in at a server that asks for a token', async () => {
  const server = await createAuthorized();
  const { session, call, events } = await open(server.url, createCredentials(server.url));
  expect(await call()).toMatchObject({ kind: 'ok', text: '"Hello."' });
  expect(server.asked.map((body) => body.get('grant_type'))).toEqual(['client_credentials']);
  const written = JSON.stringify([[...session.records()], events]);
  expect(written).not.toMatch(/access-1|hunter2/);
});

test('an expired token is refreshed, also between calls', async () => {
  const server = await createAuthorized();
  const provider = createSignedIn({ access_token: 'old-access', refresh_token: 'old-refresh', token_type: 'Bearer' });
  const { session, call } = await open(server.url, provider);
  expect(await call()).toMatchObject({ kind: 'ok' });
  expect(server.asked.map((body) => body.get('refresh_token'))).toEqual(['old-refresh']);
  server.tokens.clear();
  expect(await call()).toMatchObject({ kind: 'ok' });
  expect(server.asked.map((body) => body.get('refresh_token'))).toEqual(['old-refresh', 'refresh-1']);
  expect(provider.saved.map((tokens) => tokens.access_token).filter((token) => token.startsWith('access'))).toEqual([
    'access-1',
    'access-2',
  ]);
  expect(JSON.stringify([...session.records()])).not.toMatch(/access-|refresh-|old-/);
});

async function failure(options: Pick<McpToolsOptions, 'url' | 'authProvider' | 'headers'>): Promise<HoldfastError> {
  const thrown: unknown = await mcpTools({ name: 'far', ...options }).catch((error: unknown) => error);
  if (!isHoldfastError(thrown)) throw thrown;
  return thrown;
}

const echo = (body: URLSearchParams) => ({
  status: 400,
  json: { error: 'invalid_grant', error_description: `${clientSecret} ${body.toString()}` },
});

test.each([
  { what: 'is refused', make: createCredentials, why: 'the authorization server refused (`invalid_grant`)' },
  { what: 'has nobody who signed in', make: () => createSignedIn(undefined), why: 'no one has signed in' },
  {
    what: 'throws',
    make: () => ({
      ...createSignedIn(undefined),
      tokens: (): never => {
        throw new Error(`No key ${clientSecret}.`);
      },
    }),
    why: 'the authorization provider failed',
  },
  {
    what: 'rejects',
    make: () => ({ ...createSignedIn(undefined), tokens: () => Promise.reject(new Error(`No key ${clientSecret}.`)) }),
    why: 'the authorization provider failed',
  },
])('a provider that $what says so, without secrets', async ({ make, why }) => {
  const server = await createAuthorized();
  server.grant = echo;
  const { url } = server;
  const error = await failure({ url, authProvider: make(url) });
  expect(error).toMatchObject({ code: 'mcp.unreachable', data: { reason: 'unauthorized' } });
  expect(error.message).toBe(`The MCP server \`far\` needs authorization, and ${why}.`);
});

test('a header that a server does not take is not told', async () => {
  const { url } = await createAuthorized();
  const error = await failure({ url, headers: { authorization: 'Bearer bad-token' } });
  expect(error.message).toContain('the server refused access (HTTP 401)');
  expect(JSON.stringify([error.message, error.data, String(error.cause)])).not.toContain('bad-token');
});

test('a token that is taken back between calls: nothing was done, and nothing of it is recorded', async () => {
  const server = await createAuthorized();
  const { call, session } = await open(server.url, createCredentials(server.url));
  server.tokens.clear();
  server.grant = echo;
  expect(await call()).toMatchObject({ kind: 'failed', code: 'mcp.unreachable' });
  expect(JSON.stringify([...session.records()])).not.toMatch(/hunter2|access-/);
});

test.each(['headers', 'provider'])('a server that repeats its token in an error is not quoted (%s)', async (way) => {
  const token = 'token-of-anna';
  const server = createServer((incoming, outgoing) => {
    const answer = async (): Promise<void> => {
      const { id, method } = JSON.parse((await readBody(incoming)) || '{}') as { id?: unknown; method?: string };
      const send = (body: object): void =>
        void outgoing
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, ...body }));
      if (id === undefined) return void outgoing.writeHead(202).end();
      if (method === 'initialize') {
        const serverInfo = { name: 'echo', version: '1' };
        return send({ result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } });
      }
      if (method === 'tools/list') return send({ result: { tools: [{ name: 'a', inputSchema: { type: 'object' } }] } });
      send({ error: { code: -32_000, message: `Got ${incoming.headers.authorization}.` } });
    };
    if (incoming.method !== 'POST') outgoing.writeHead(405).end();
    else answer().catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  const access =
    way === 'headers'
      ? { headers: { authorization: `Bearer ${token}` } }
      : { authProvider: createSignedIn({ access_token: token, token_type: 'Bearer' }) };
  const imported = await mcpTools({ name: 'far', url, era: 'legacy', dangerous: false, ...access });
  onTestFinished(() => imported.close());
  const session = createSession();
  const outcome = await executeToolCall({ name: 'far_a', arguments: {} }, { tools: imported.tools, session });
  expect(outcome).toMatchObject({
    kind: 'failed',
    code: 'mcp.error',
    text: expect.stringMatching(/Got (?:Bearer )?\[hidden\]\./),
  });
  expect(JSON.stringify([...session.records()])).not.toContain(token);
  const thrown: unknown = await imported.request('prompts/get', {}).catch((error: unknown) => error);
  expect(thrown).toMatchObject({ code: 'mcp.error', message: expect.not.stringContaining(token) });
  expect((thrown as Error).cause).toBeUndefined();
});
