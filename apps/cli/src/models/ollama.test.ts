import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { findOllama, findOllamaAddress } from './ollama.ts';

test.each([
  [undefined, 'http://127.0.0.1:11434'],
  ['', 'http://127.0.0.1:11434'],
  ['localhost', 'http://localhost:11434'],
  ['0.0.0.0', 'http://127.0.0.1:11434'],
  ['0.0.0.0:1234', 'http://127.0.0.1:1234'],
  [':1234', 'http://127.0.0.1:1234'],
  ['[::]:1234', 'http://[::1]:1234'],
  ['"127.0.0.1:1234"', 'http://127.0.0.1:1234'],
  ['127.0.0.1:80', 'http://127.0.0.1'],
  ['http://127.0.0.1', 'http://127.0.0.1'],
  ['https://models.example.com/ollama/', 'https://models.example.com/ollama'],
  ['models.example.com', 'http://models.example.com:11434'],
  ['http://', undefined],
  ['a b', undefined],
])('OLLAMA_HOST=%s is %s', (value, address) => {
  expect(findOllamaAddress({ OLLAMA_HOST: value })).toBe(address);
});

test.each(['models.example.com', '10.0.0.7', 'http://127.0.0.1.example.com', 'localhost.example.com'])(
  'servers on other machines are not asked: %s',
  async (address) => {
    const fetch = vi.fn();
    expect(await findOllama({ environment: { OLLAMA_HOST: address }, fetch })).toBe(undefined);
    expect(fetch).not.toHaveBeenCalled();
  },
);

const answer = (status: number, text: string) => () => Promise.resolve(new Response(text, { status }));

test.each<[string, () => Promise<Response>, unknown]>([
  [
    'one with models',
    answer(200, '{"models":[{"name":"nomic-embed-text"},{"name":"qwen3:4b"},{"name":"b"}]}'),
    'qwen3:4b',
  ],
  ['invalid names', answer(200, '{"models":[{"name":"a\\u001b[2Jb"},{"name":5},null]}'), undefined],
  ['one without models', answer(200, '{"models":[]}'), undefined],
])('%s', async (_, fetch, model) => {
  expect(await findOllama({ environment: {}, fetch })).toEqual({ address: 'http://127.0.0.1:11434', model });
});

test.each<[string, () => Promise<Response>]>([
  ['another server', answer(404, 'no')],
  ['invalid JSON', answer(200, '<html>')],
  ['other JSON', answer(200, '[]')],
  ['no server', () => Promise.reject(new TypeError('fetch failed'))],
])('%s is not Ollama', async (_, fetch) => {
  expect(await findOllama({ environment: {}, fetch })).toBe(undefined);
});

test('a silent server is given up after 200 ms, and asked once', async () => {
  let asked = 0;
  const server = createServer(() => {
    asked += 1;
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const startedAtMs = performance.now();
  expect(
    await findOllama({
      environment: { OLLAMA_HOST: `127.0.0.1:${port}` },
      fetch: (url, options) => fetch(url, options),
    }),
  ).toBe(undefined);
  expect(performance.now() - startedAtMs).toBeGreaterThan(150);
  expect(asked).toBe(1);
  server.closeAllConnections();
  server.close();
});
