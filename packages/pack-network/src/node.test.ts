import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from './fixtures.ts';
import { guardedFetch, type NetworkEgressOptions } from './index.ts';
import { pinnedFetch } from './node.ts';

let server: TestServer;
let config: NetworkEgressOptions;

beforeAll(async () => {
  server = await startServer();
  config = {
    hosts: ['*'],
    methods: ['GET', 'HEAD', 'POST'],
    schemes: ['http'],
    ports: [server.port],
    privateAddresses: ['127.0.0.1/32'],
  };
});

afterAll(() => server[Symbol.asyncDispose]());

const here = async (): Promise<readonly string[]> => ['127.0.0.1'];
const refused = expect.objectContaining({ code: 'network.refused' });

test('a request connects to the resolved address, and responds like `fetch`', async () => {
  const fetchOnce = pinnedFetch(config, { lookup: here });
  const url = `http://app.example.org:${server.port}/a`;
  const response = await fetchOnce(url, { method: 'POST', body: 'peas', headers: { 'x-a': 'b' } });
  expect(response).toMatchObject({ status: 200, url });
  expect(await response.text()).toBe('POST /a');
  expect(server.requests.at(-1)).toMatchObject({
    body: 'peas',
    headers: { 'x-a': 'b', host: `app.example.org:${server.port}` },
  });
  const head = await fetchOnce(url, { method: 'HEAD' });
  expect(head.body).toBe(null);
  expect((await fetchOnce(`http://127.0.0.1:${server.port}/`, {})).status).toBe(200);
});

test('DNS rebinding has no effect', async () => {
  const before = server.requests.length;
  const strict = { ...config, privateAddresses: [] };
  const fetchOnce = pinnedFetch(strict, { lookup: here });
  const guarded = guardedFetch(strict, { fetch: fetchOnce, lookup: async () => ['93.184.215.14'] });
  await expect(guarded(`http://rebinding.example.org:${server.port}/`)).rejects.toThrow(refused);
  await expect(fetchOnce(`http://127.0.0.1:${server.port}/`, {})).rejects.toThrow(refused);
  const none = pinnedFetch(config, { lookup: async () => [] });
  await expect(none(`http://example.org:${server.port}/`, {})).rejects.toThrow(refused);
  expect(server.requests).toHaveLength(before);
});

test('names are resolved by the system, and `guardedFetch` follows redirects', async () => {
  const options = { ...config, hosts: ['localhost', 'app.example.org'], privateAddresses: ['127.0.0.0/8', '::1/128'] };
  const before = server.requests.length;
  const system = pinnedFetch(options);
  // The machine's own name may resolve to ::1 first, where the server does not listen: both addresses are tried.
  expect((await guardedFetch(options, { fetch: system })(`http://localhost:${server.port}/`)).status).toBe(200);
  const pinned = guardedFetch(options, { fetch: pinnedFetch(options, { lookup: here }) });
  const response = await pinned(`http://app.example.org:${server.port}/to/302/%2Fb`);
  expect(await response.text()).toBe('GET /b');
  expect(server.requests).toHaveLength(before + 3);
  const aborted = AbortSignal.abort();
  await expect(pinned(`http://app.example.org:${server.port}/`, { signal: aborted })).rejects.toThrow('aborted');
});

test('options are checked on creation, and server failures are thrown', async () => {
  expect(() => pinnedFetch({ ports: [0] })).toThrow(
    expect.objectContaining({ code: 'pack.invalid', reason: 'config' }),
  );
  const misspelt: object = { lookUp: here };
  for (const make of [() => pinnedFetch(config, misspelt), () => guardedFetch(config, misspelt)]) {
    expect(make).toThrow(
      expect.objectContaining({ code: 'options.invalid', message: expect.stringContaining('lookUp') }),
    );
  }
  const closed = await startServer();
  await closed[Symbol.asyncDispose]();
  await expect(pinnedFetch(config)(`http://127.0.0.1:${closed.port}/`, {})).rejects.toThrow('ECONNREFUSED');
});

test.each([
  'HTTP/1.1 700 Odd\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 099 Odd\r\ncontent-length: 2\r\n\r\nab',
  'HTTP/1.1 200 a\u0001b\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
])('an invalid response neither crashes the process nor hangs: %j', async (answer) => {
  const odd = createServer((socket) => {
    socket.on('error', () => {}); // The other side ends the connection.
    socket.once('data', () => socket.end(answer));
  });
  odd.listen(0, '127.0.0.1');
  await once(odd, 'listening');
  try {
    const address = odd.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    await expect(pinnedFetch(config)(`http://127.0.0.1:${port}/`, {})).rejects.toThrow(
      expect.objectContaining({
        code: 'network.refused',
        reason: 'answer',
        message: expect.stringContaining(`127.0.0.1:${port}`),
      }),
    );
  } finally {
    odd.close();
  }
});
