import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type CallFacts,
  type Decision,
  defineTool,
  type Json,
  type Pack,
  type PolicyContext,
  type Tool,
} from '@holdfast/core';
import { createFacts, fetchFacts } from '@holdfast/facts';
import { type NetworkEgressOptions, networkEgress } from './index.ts';

/** Test fixtures of this package: the pack's decision on a call, and a local server. */

export function preset(name: 'recommended' | 'strict'): NetworkEgressOptions {
  const { config } = (networkEgress as Pack).presets[name] ?? {};
  return (config ?? {}) as NetworkEgressOptions;
}

const context: PolicyContext = Object.freeze({
  state: undefined,
  session: { read: () => neverRead() },
  filesystem: undefined,
  deadline: { atMs: Number.POSITIVE_INFINITY, remainingMs: () => Number.POSITIVE_INFINITY },
});

function neverRead(): never {
  throw new Error('policies of this package do not read the session');
}

const view = { folder: '/w', workspace: '/w' };
const { describe } = createFacts({ describers: [fetchFacts()], view });

/** The decision on a call with these facts. */
export function decideFacts(
  options: NetworkEgressOptions,
  facts: CallFacts | undefined,
  effects: Tool['effects'] = 'external',
): Decision | Promise<Decision> {
  const [policy = neverRead()] = networkEgress.policies(options);
  const tool = defineTool({ name: 'run', description: 'Runs.', effects });
  return policy.check({ id: 'c1', tool, input: {}, ...(facts === undefined ? {} : { facts }) }, context);
}

export async function decide(options: NetworkEgressOptions, input: Json): Promise<Decision> {
  const [policy = neverRead()] = networkEgress.policies(options);
  const call = { id: 'c1', tool: defineTool({ name: 'fetch', description: 'Fetches.' }), input };
  return policy.check({ ...call, facts: describe(call, view) }, context);
}

export interface TestServer extends AsyncDisposable {
  readonly port: number;
  /** The received requests: method, path, headers and body. */
  readonly requests: {
    readonly method: string;
    readonly path: string;
    readonly headers: IncomingMessage['headers'];
    readonly body: string;
  }[];
}

/** Listens on 127.0.0.1. `/to/STATUS/URL` redirects to the URL; other paths return their own path. */
export async function startServer(): Promise<TestServer> {
  const requests: TestServer['requests'] = [];
  const server = createServer((request, response) => {
    void answer(request, response, requests);
  });
  const { promise, resolve } = Promise.withResolvers<undefined>();
  server.listen(0, '127.0.0.1', () => resolve(undefined));
  await promise;
  return {
    // A listening server has a port.
    port: (server.address() as AddressInfo).port,
    requests,
    async [Symbol.asyncDispose]() {
      const closed = Promise.withResolvers<undefined>();
      server.close(() => closed.resolve(undefined));
      server.closeAllConnections();
      await closed.promise;
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  requests: TestServer['requests'],
): Promise<void> {
  const { method = '', url: path = '', headers } = request;
  const chunks: readonly Buffer[] = await request.toArray();
  requests.push({ method, path, headers, body: Buffer.concat(chunks).toString() });
  const [, status, location] = /^\/to\/(\d+)\/(.*)$/.exec(path) ?? [];
  if (status === undefined) response.end(`${method} ${path}`);
  else response.writeHead(Number(status), { location: decodeURIComponent(location ?? '') }).end('moved');
}
