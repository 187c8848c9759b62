import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startServer, type TestServer } from './fixtures.ts';
import type { FetchOnce } from './guarded-fetch.ts';
import { type GuardedFetchOptions, guardedFetch, type NetworkEgressOptions } from './index.ts';

let server: TestServer;
let other: TestServer;
let config: NetworkEgressOptions;

beforeAll(async () => {
  server = await startServer();
  other = await startServer();
  config = {
    hosts: ['127.0.0.1'],
    methods: ['GET', 'HEAD', 'POST', 'PUT'],
    schemes: ['http'],
    ports: [server.port, other.port, 80],
    privateAddresses: ['127.0.0.1/32'],
  };
});

beforeEach(() => {
  server.requests.length = 0;
  other.requests.length = 0;
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});

const at = (path: string, to: TestServer = server): string => `http://127.0.0.1:${to.port}${path}`;
const moved = (status: number, location: string): string => at(`/to/${status}/${encodeURIComponent(location)}`);
const refusal = (text: string): unknown =>
  expect.objectContaining({ code: 'network.refused', message: expect.stringContaining(text) });

test('an allowed URL is fetched, and the response has its final URL', async () => {
  const response = await guardedFetch(config)(new URL(moved(302, '../../a?b#c')));
  expect(await response.text()).toBe('GET /a?b');
  expect(response.url).toBe(at('/a?b'));
});

test.each<{ status: number; method: string; next: string; body: string }>([
  { status: 301, method: 'POST', next: 'GET', body: '' },
  { status: 302, method: 'POST', next: 'GET', body: '' },
  { status: 303, method: 'POST', next: 'GET', body: '' },
  { status: 303, method: 'PUT', next: 'GET', body: '' },
  { status: 303, method: 'HEAD', next: 'HEAD', body: '' },
  { status: 301, method: 'PUT', next: 'PUT', body: 'peas' },
  { status: 307, method: 'POST', next: 'POST', body: 'peas' },
  { status: 308, method: 'post', next: 'POST', body: 'peas' },
])('$method, redirected with $status, continues as $next', async ({ status, method, next, body }) => {
  const init = {
    method,
    headers: { 'content-type': 'text/x', 'x-key': 'k' },
    ...(method === 'HEAD' ? {} : { body: 'peas' }),
  };
  await guardedFetch(config)(moved(status, '/a'), init);
  expect(server.requests[1]).toMatchObject({ method: next, path: '/a', body, headers: { 'x-key': 'k' } });
  expect(server.requests[1]?.headers['content-type']).toBe(body === '' && method !== 'HEAD' ? undefined : 'text/x');
});

test('another origin gets no credentials, cookies or keys, nor does a redirect back', async () => {
  const headers = {
    authorization: 'Bearer tulip',
    cookie: 'a=b',
    'x-api-key': 'tulip',
    accept: 'text/html',
    host: 'evil.test',
  };
  await guardedFetch(config)(moved(302, moved(302, at('/a', other))), { headers });
  expect(server.requests.map((request) => request.headers.authorization)).toEqual(['Bearer tulip', 'Bearer tulip']);
  expect(server.requests[0]?.headers.host).toBe(`127.0.0.1:${server.port}`);
  const [there] = other.requests;
  expect(there?.headers).toMatchObject({ accept: 'text/html' });
  expect(Object.keys(there?.headers ?? {})).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/^(?:authorization|cookie|x-api-key)$/)]),
  );
  other.requests.length = 0;
  server.requests.length = 0;
  await guardedFetch(config)(moved(302, `http://127.0.0.1:${other.port}/to/302/${encodeURIComponent(at('/back'))}`), {
    headers,
  });
  expect(server.requests.at(-1)).toMatchObject({ path: '/back' });
  expect(server.requests.at(-1)?.headers).not.toHaveProperty('authorization');
});

test.each([
  ['http://127.0.0.2/', 'not a public address'],
  ['http://169.254.169.254/latest/meta-data/', 'not a public address'],
  ['http://2130706434/', 'not a public address'],
  ['http://[::ffff:7f00:1]/', 'not a public address'],
  ['https://127.0.0.1/', 'not an allowed scheme'],
  ['file:///etc/passwd', 'not a URL with'],
  ['//ada@127.0.0.1/', 'user name'],
  ['http://127.0.0.1:1/', 'not an allowed port'],
  ['http://8.8.8.8/', 'is not allowed'],
  ['http://[/', 'to an invalid URL'],
])('a redirect to %s is not followed', async (location, reason) => {
  await expect(guardedFetch(config)(moved(302, location))).rejects.toThrow(refusal(reason));
  expect(server.requests).toHaveLength(1);
});

test.each(['http://127.0.0.2/', 'ftp://127.0.0.1/', 'nonsense', 'http://localhost/'])(
  '%s is not requested at all',
  async (url) => {
    await expect(guardedFetch(config)(url)).rejects.toThrow(expect.objectContaining({ code: 'network.refused' }));
  },
);

test('unlisted methods are refused, also after a redirect', async () => {
  await expect(guardedFetch(config)(at('/'), { method: 'DELETE' })).rejects.toThrow(refusal('`DELETE`'));
  await expect(guardedFetch({ ...config, methods: ['POST'] })(moved(303, '/a'), { method: 'POST' })).rejects.toThrow(
    refusal('`GET`'),
  );
  expect(server.requests).toHaveLength(1);
});

test('approval covers the first host only', async () => {
  const asking: NetworkEgressOptions = { ...config, hosts: [], methods: ['GET'], unlisted: 'ask' };
  await expect(guardedFetch(asking)(at('/'))).rejects.toThrow(refusal('is not allowed'));
  const approved = guardedFetch(asking, { isApproved: true });
  expect((await approved(moved(307, at('/a', other)), { method: 'POST' })).status).toBe(200);
  const elsewhere = { ...asking, privateAddresses: ['127.0.0.0/8'] };
  await expect(
    guardedFetch(elsewhere, { isApproved: true })(moved(302, `http://127.0.0.2:${other.port}/`)),
  ).rejects.toThrow(refusal('The host `127.0.0.2` is not allowed'));
  const denying = guardedFetch({ ...asking, unlisted: 'deny' }, { isApproved: true });
  await expect(denying(at('/'))).rejects.toThrow(refusal('is not allowed'));
});

test('redirects are limited', async () => {
  const twice = moved(302, moved(302, '/a'));
  expect((await guardedFetch(config, { maxRedirects: 2 })(twice)).url).toBe(at('/a'));
  await expect(guardedFetch(config, { maxRedirects: 1 })(twice)).rejects.toThrow(
    expect.objectContaining({ code: 'network.refused', reason: 'redirects' }),
  );
  const round: FetchOnce = async () => new Response(null, { status: 302, headers: { location: '/a' } });
  await expect(guardedFetch(config, { fetch: round })(at('/a'))).rejects.toThrow('more than 5 times');
});

test('supports `redirect` of fetch: `manual` and `error`', async () => {
  expect((await guardedFetch(config)(moved(302, '/a'), { redirect: 'manual' })).status).toBe(302);
  await expect(guardedFetch(config)(moved(302, '/a'), { redirect: 'error' })).rejects.toThrow(refusal('redirected'));
});

test('a stream is not sent twice, and dropped if the redirect sends no body', async () => {
  const streamed = (status: number): Promise<Response> => {
    const body = new Blob(['peas']).stream();
    const init = { method: 'POST', body, duplex: 'half' } as const;
    return guardedFetch(config)(moved(status, '/a'), init);
  };
  await expect(streamed(307)).rejects.toThrow(refusal('only once'));
  expect(await (await streamed(303)).text()).toBe('GET /a');
});

test('redirects from `https` to `http`, and hidden redirects, are refused', async () => {
  const options: NetworkEgressOptions = { hosts: ['example.org'], schemes: ['http', 'https'] };
  const down: FetchOnce = async () => new Response(null, { status: 301, headers: { location: 'http://example.org/' } });
  await expect(guardedFetch(options, { fetch: down })('https://example.org/')).rejects.toThrow(
    refusal('`https` to an insecure'),
  );
  const hidden: FetchOnce = async () => Object.defineProperty(new Response(), 'type', { value: 'opaqueredirect' });
  await expect(guardedFetch(options, { fetch: hidden })('https://example.org/')).rejects.toThrow(
    refusal('hides the target'),
  );
});

test.each([
  { addresses: ['93.184.215.14'], problem: undefined },
  { addresses: ['93.184.215.14', '10.0.0.1'], problem: 'not a public address (private)' },
  { addresses: ['::ffff:7f00:1'], problem: 'not a public address' },
  { addresses: ['fe80::1%eth0'], problem: 'not a public address' },
  { addresses: ['nonsense'], problem: 'not a public address' },
  { addresses: [], problem: 'has no address' },
])('a name that resolves to $addresses: $problem', async ({ addresses, problem }) => {
  const seen: string[] = [];
  const lookup: GuardedFetchOptions['lookup'] = async (name) => {
    seen.push(name);
    return addresses;
  };
  const fetchOnce: FetchOnce = async () => new Response('found');
  const run = guardedFetch({ hosts: ['*'] }, { fetch: fetchOnce, lookup })('https://EXAMPLE.org./');
  if (problem === undefined) expect(await (await run).text()).toBe('found');
  else await expect(run).rejects.toThrow(refusal(problem));
  expect(seen).toEqual(['example.org']);
});

test('every hop is resolved', async () => {
  const fetchOnce: FetchOnce = async () =>
    new Response(null, { status: 302, headers: { location: 'https://b.test/' } });
  const lookup = async (name: string): Promise<readonly string[]> => (name === 'a.test' ? ['8.8.8.8'] : ['127.0.0.1']);
  const run = guardedFetch({ hosts: ['*'] }, { fetch: fetchOnce, lookup })('https://a.test/');
  await expect(run).rejects.toThrow(refusal('`b.test` resolves to'));
});

test('options are checked on creation', () => {
  expect(() => guardedFetch({ hosts: ['https://a'] })).toThrow(
    expect.objectContaining({ code: 'pack.invalid', reason: 'config' }),
  );
  for (const maxRedirects of [-1, 21, 0.5, Number.NaN]) {
    expect(() => guardedFetch({}, { maxRedirects })).toThrow(expect.objectContaining({ code: 'options.invalid' }));
  }
});
