import { once } from 'node:events';
import { connect } from 'node:net';
import { scriptedModel } from '@holdfast/testing';
import { expect, test } from 'vitest';
import { type Sending, startApi } from './test-api.ts';

const list: Sending = { method: 'GET', path: '/v1/models' };

test.each<[headers: Record<string, string>, status: number]>([
  [{}, 200],
  [{ host: 'localhost' }, 200],
  [{ host: 'LOCALHOST:9000' }, 200],
  [{ host: '[::1]:8080' }, 200],
  [{ host: '127.0.0.1:1' }, 200],
  [{ 'sec-fetch-site': 'none' }, 200],
  [{ host: 'evil.example' }, 403],
  [{ host: 'evil.example:8080' }, 403],
  [{ host: 'localhost.evil.example' }, 403],
  [{ host: '127.0.0.1.evil.example' }, 403],
  [{ host: '127.0.0.1@evil.example' }, 403],
  [{ host: '192.168.1.5:8080' }, 403],
  [{ origin: 'https://evil.example' }, 403],
  [{ origin: 'http://localhost:3000' }, 403],
  [{ origin: 'null' }, 403],
  [{ 'sec-fetch-site': 'cross-site' }, 403],
  [{ 'sec-fetch-site': 'same-site' }, 403],
])('`serve.caller_refused`: %j is answered %j', async (headers, status) => {
  const model = scriptedModel([{ text: 'Hello.' }]);
  await using api = await startApi(model);
  const response = await api.send({ ...list, headers });
  expect(response.status).toBe(status);
  const chat = await api.send({ headers, body: { messages: [{ role: 'user', content: 'Hello' }] } });
  expect(chat.status).toBe(status);
  expect(model.requests.length).toBe(status === 200 ? 1 : 0);
  // A page could read an answer only with such a header.
  expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  if (status === 403) expect(response.json()).toMatchObject({ error: { code: 'forbidden' } });
});

test('`serve.caller_refused`: no `Host` at all', async () => {
  await using api = await startApi(scriptedModel([]));
  const socket = connect(api.port, '127.0.0.1');
  socket.write('GET /v1/models HTTP/1.0\r\n\r\n');
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 403 /);
});

test('what a browser asks before it sends JSON for a page is refused', async () => {
  await using api = await startApi(scriptedModel([]));
  const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
  const response = await api.send({ method: 'OPTIONS', headers });
  expect(response.status).toBe(403);
  expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
});

test.each<[headers: Record<string, string>, status: number]>([
  [{ authorization: 'Bearer geheim' }, 200],
  [{}, 401],
  [{ authorization: 'geheim' }, 401],
  [{ authorization: 'Bearer ' }, 401],
  [{ authorization: 'Bearer geheim2' }, 401],
  [{ authorization: 'bearer geheim' }, 401],
])('`serve.key_wrong`: with the key `geheim`, %j is answered %j', async (headers, status) => {
  await using api = await startApi(scriptedModel([]), { key: 'geheim' });
  const response = await api.send({ ...list, headers });
  expect(response.status).toBe(status);
  if (status === 401) expect(response.json()).toMatchObject({ error: { code: 'invalid_api_key' } });
  expect(response.text).not.toContain('geheim');
});

test('without a key, any will do: clients send one', async () => {
  await using api = await startApi(scriptedModel([]));
  expect((await api.send({ ...list, headers: { authorization: 'Bearer x' } })).status).toBe(200);
});

test.each([
  '/',
  '/v1',
  '/v1/',
  '/v1/models/x/../..',
  '/v1/completions',
  '/v1/embeddings',
  '//',
  '/constructor',
  '/%00',
])('`serve.route_unknown`: %s', async (path) => {
  await using api = await startApi(scriptedModel([]));
  const response = await api.send({ path, body: {} });
  expect(response.status).toBe(path.startsWith('/v1/models/') ? 405 : 404);
  if (response.status === 404) expect(response.json()).toMatchObject({ error: { code: 'unknown_url' } });
});

test.each([
  ['GET', '/v1/chat/completions', 'POST'],
  ['DELETE', '/v1/chat/completions', 'POST'],
  ['POST', '/v1/models', 'GET'],
  ['PUT', '/v1/models/local', 'GET'],
])('`serve.method_refused`: %s %s', async (method, path, allow) => {
  await using api = await startApi(scriptedModel([]));
  const response = await api.send({ method, path });
  expect(response).toMatchObject({ status: 405, headers: { allow } });
  expect(response.json()).toMatchObject({ error: { code: 'method_not_allowed' } });
});

test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', ''])(
  '`serve.body_not_json`: sent as `%s`',
  async (type) => {
    await using api = await startApi(scriptedModel([]));
    const response = await api.send({ headers: { 'content-type': type }, body: '{}' });
    expect(response.status).toBe(415);
    expect(response.json()).toMatchObject({ error: { code: 'unsupported_media_type' } });
  },
);

test('JSON with a charset is JSON', async () => {
  await using api = await startApi(scriptedModel([{ text: 'Hello.' }]));
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  expect((await api.send({ headers, body: { messages: [{ role: 'user', content: 'ä' }] } })).status).toBe(200);
});

const message = '"messages":[{"role":"user","content":"Hello"}]';

test.each<[what: string, body: string, part: string]>([
  ['nothing', '', 'not JSON'],
  ['half', `{${message}`, 'not JSON'],
  ['deep', `{${message},"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'nested deeper'],
  ['`__proto__`', `{${message},"__proto__":{"stream":true}}`, '`__proto__`'],
  ['a key twice', `{${message},"stream":true,"stream":false}`, 'twice'],
  ['many keys', `{${Array.from({ length: 100_001 }, (_, index) => `"k${index}":1`).join(',')}}`, 'keys'],
  ['a number without an end', `{${message},"seed":1e999}`, 'too large'],
])('`serve.body_malformed`: %s', async (_, body, part) => {
  await using api = await startApi(scriptedModel([]));
  const response = await api.send({ body });
  expect(response.status).toBe(400);
  expect(response.json()).toMatchObject({ error: { code: 'invalid_json', message: expect.stringContaining(part) } });
});

test('`serve.body_malformed`: bytes that are no text', async () => {
  await using api = await startApi(scriptedModel([]));
  const response = await api.send({ body: Buffer.from([0x22, 0xff, 0x22]).toString('latin1') });
  expect(response.status).toBe(400);
  const socket = connect(api.port, '127.0.0.1');
  socket.write('POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n');
  socket.write('Content-Length: 3\r\nConnection: close\r\n\r\n');
  socket.write(Buffer.from([0x22, 0xff, 0x22]));
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toContain('not UTF-8');
});

test.each([true, false])('`serve.body_too_large`: more than 4 MiB, and its length is said: %j', async (isSaid) => {
  const model = scriptedModel([{ text: 'Hello.' }, { text: 'Hello.' }]);
  await using api = await startApi(model);
  const body = (length: number): string => `{${message},"user":"${'x'.repeat(length - message.length - 12)}"}`;
  const most = 4 * 1024 * 1024;
  expect(body(most).length).toBe(most);
  const headers: Record<string, string> = isSaid ? {} : { 'transfer-encoding': 'chunked' };
  expect((await api.send({ headers, body: body(most) })).status).toBe(200);
  const response = await api.send({ headers, body: body(most + 1) });
  expect(response.status).toBe(413);
  expect(response.json()).toMatchObject({ error: { code: 'request_too_large' } });
  expect((await api.chat()).status).toBe(200);
});

test.each([
  ['POST', '/v1/chat/completions', 413],
  ['POST', '/v1/none', 404],
  ['PUT', '/v1/models', 405],
])(
  'what is refused is read to its end: %s %s, and the next request of the connection',
  async (method, path, status) => {
    await using api = await startApi(scriptedModel([]));
    const socket = connect(api.port, '127.0.0.1');
    const size = 8 * 1024 * 1024;
    const lines = [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'Content-Type: application/json'];
    socket.write(`${lines.join('\r\n')}\r\nTransfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n`);
    socket.write(Buffer.alloc(size, 'x'));
    socket.write('\r\n0\r\n\r\nGET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => Number(code))).toEqual([status, 200]);
  },
);

test('half a body, and then nothing: no answer, no failure, and the next one is served', async () => {
  const model = scriptedModel([{ text: 'Hello.' }]);
  await using api = await startApi(model);
  const socket = connect(api.port, '127.0.0.1');
  const head = 'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
  socket.write(`${head}Content-Length: 500\r\n\r\n{${message}`);
  socket.end();
  await once(socket.resume(), 'close');
  expect((await api.chat()).status).toBe(200);
  expect(model.requests.length).toBe(1);
  expect(api.reports).toEqual([]);
});

test('what is no HTTP is refused', async () => {
  await using api = await startApi(scriptedModel([]));
  const socket = connect(api.port, '127.0.0.1');
  socket.write('\0\0 hello\r\n\r\n');
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 400 /);
});
