import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { defineTool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { createFacts, fetchFacts } from '@holdfast/facts';
import { guardedFetch, type NetworkEgressOptions, networkEgress } from '@holdfast/pack-network';
import { pinnedFetch } from '@holdfast/pack-network/node';
import { packPolicies } from '@holdfast/policy';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** The pack in force for real calls: a public server, as it says itself, that redirects to a private one. */

const servers: Server[] = [];
let [open, secret] = ['', ''];
let options: NetworkEgressOptions;

beforeAll(async () => {
  const start = async (handler: Parameters<typeof createServer>[1]): Promise<number> => {
    const server = createServer(handler);
    servers.push(server);
    const { promise, resolve } = Promise.withResolvers<undefined>();
    server.listen(0, '127.0.0.1', () => resolve(undefined));
    await promise;
    // A server that listens on a port has one.
    return (server.address() as AddressInfo).port;
  };
  const secretPort = await start((_request, response) => response.end('the tulip is red'));
  secret = `http://127.0.0.1:${secretPort}/`;
  const openPort = await start((request, response) => {
    if (request.url === '/moved') response.writeHead(302, { location: secret });
    response.end('hello');
  });
  open = `http://127.0.0.1:${openPort}`;
  options = {
    hosts: ['127.0.0.1'],
    unlisted: 'deny',
    schemes: ['http'],
    ports: [openPort],
    privateAddresses: ['127.0.0.1/32'],
  };
});

afterAll(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
});

async function read(url: string, fetchPage: (url: string) => Promise<Response>) {
  const readPage = defineTool({
    name: 'read_page',
    description: 'Reads a page.',
    inputSchema: v.object({ url: v.string() }),
    effects: 'none',
    async execute(input) {
      const response = await fetchPage(input.url);
      return { url: response.url, text: await response.text() };
    },
  });
  const policies = packPolicies(networkEgress, { config: { ...options } as Record<string, never> });
  const call = { name: 'read_page', arguments: { url } };
  const describers = [fetchFacts({ tools: { read_page: { url: 'url' } } })];
  const facts = createFacts({ describers, view: { folder: '/w', workspace: '/w' } });
  return executeToolCall(call, { session: createSession(), tools: [readPage], policies, facts });
}

test('a page of a listed host is read', async () => {
  expect(await read(`${open}/`, fetch)).toMatchObject({ kind: 'ok', value: { text: 'hello' } });
});

test('with `guardedFetch` nothing is requested there', async () => {
  const asked: string[] = [];
  const fetchOnce = pinnedFetch(options);
  const guarded = guardedFetch(options, {
    fetch(url, init) {
      asked.push(url);
      return fetchOnce(url, init);
    },
  });
  expect(await read(`${open}/moved`, guarded)).toMatchObject({ kind: 'failed', code: 'network.refused' });
  expect(asked).toEqual([`${open}/moved`]);
  expect(await read(secret, guarded)).toMatchObject({ kind: 'denied' });
  expect(asked).toHaveLength(1);
});
