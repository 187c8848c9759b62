import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { runProgram } from './program.ts';
import { createFolder, type TestFolder } from './test-folder.ts';
import { createTestHost, type TestHost, type TestHostOptions } from './test-host.ts';
import { runHere, runMain } from './test-program.ts';
import { findIssues, readSchema } from './test-schemas.ts';

const serve = ['serve', '--openai', '--port', '0', '--no-config'];
const script = JSON.stringify({ turns: [{ text: 'Hello.' }, { text: 'Again.' }] });

interface Serving {
  readonly test: TestHost;
  readonly url: string;
  readonly ended: Promise<number>;
}

/** Serves, and waits until it says where. */
async function start(argv: readonly string[], options: TestHostOptions = {}): Promise<Serving> {
  const test = createTestHost({ environment: { NO_COLOR: '1' }, ...options });
  const ended = runProgram(argv, test.host, '0');
  while (!/http:\S+\/v1/.test(test.stdout())) {
    // What ends before it says where has said why.
    const code = await Promise.race([once(test.host.stdout, 'data'), ended]);
    if (typeof code === 'number') throw new Error(`It ended with ${code}: ${test.stderr()}`);
  }
  const [url = ''] = /http:[^\s",]+/.exec(test.stdout()) ?? [];
  return { test, url, ended };
}

async function list(url: string, headers: Record<string, string> = {}): Promise<{ status: number; ids: unknown }> {
  const response = await fetch(`${url}/models`, { headers });
  const { data } = (await response.json()) as { readonly data?: readonly { readonly id: string }[] };
  return { status: response.status, ids: data?.map(({ id }) => id) };
}

async function folderWithScript(): Promise<TestFolder> {
  return createFolder({ 'scripts/talk.json': script });
}

test('it says where, answers, and ends with Ctrl-C', async () => {
  await using folder = await folderWithScript();
  const { test, url, ended } = await start([...serve, '--model', 'script:scripts/talk.json'], {
    directory: folder.path,
  });
  expect(test.stdout()).toBe(`script:talk.json is served at ${url}, as OpenAI's API. Ctrl-C ends it.\n`);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  expect(await list(url)).toEqual({ status: 200, ids: ['script:talk.json'] });
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/chat/completions`, { method: 'POST', headers, body });
  expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'Hello.' } }] });
  test.interrupt('ctrl-c');
  expect(await ended).toBe(0);
  expect(test.stderr()).toBe('');
  await expect(fetch(`${url}/models`)).rejects.toThrow('fetch failed');
});

test.each([
  ['terminated', 143],
  ['hung-up', 129],
  ['stdout-closed', 1],
] as const)('%s ends it with %j', async (cause, code) => {
  const { test, ended } = await start([...serve, '--model', 'offline']);
  test.interrupt(cause);
  expect(await ended).toBe(code);
});

test('`--json`: one line, as its schema says', async () => {
  const { test, url, ended } = await start([...serve, '--model', 'offline', '--host', '::1', '--json']);
  const [line = '', ...rest] = test.stdout().split('\n');
  expect(rest).toEqual(['']);
  const value: unknown = JSON.parse(line);
  expect(value).toEqual({ url, model: 'offline' });
  expect(url).toMatch(/^http:\/\/\[::1\]:\d+\/v1$/);
  expect(findIssues(await readSchema('serve'), value)).toEqual([]);
  expect(await list(url)).toEqual({ status: 200, ids: ['offline'] });
  test.interrupt('ctrl-c');
  expect(await ended).toBe(0);
});

test.each([
  ['geheim', { authorization: 'Bearer geheim' }, 200],
  [' geheim\n', { authorization: 'Bearer geheim' }, 200],
  ['geheim', {}, 401],
  ['', {}, 200],
  [' ', {}, 200],
])('with `HOLDFAST_SERVER_KEY` %j, %j is answered %j', async (key, headers: Record<string, string>, status) => {
  const environment = { NO_COLOR: '1', HOLDFAST_SERVER_KEY: key };
  const { test, url, ended } = await start([...serve, '--model', 'offline'], { environment });
  expect(await list(url, headers)).toMatchObject({ status });
  test.interrupt('ctrl-c');
  await ended;
});

const plugin = `import { definePlugin } from '${import.meta.resolve('@holdfast/core')}';
const fail = async function* () { throw new Error('The line is down.'); };
export default definePlugin({
  name: 'acme', version: '1.0.0', description: 'Has models.', holdfast: '*',
  models: [{ name: 'bad', description: 'Fails.', create: () => ({ id: 'bad', stream: fail }) }],
});
`;

test('the model of the configuration, of a plugin; what fails is told where the server runs', async () => {
  await using folder = await createFolder({
    'acme.mjs': plugin,
    'holdfast.config.mjs': "export default { plugins: ['./acme.mjs'], model: 'acme/bad' };\n",
    'plugins/broken.mjs': 'No tool file.',
  });
  const { test, url, ended } = await start(['serve', '--openai', '--port', '0', '--config', 'holdfast.config.mjs'], {
    directory: folder.path,
  });
  expect(await list(url)).toEqual({ status: 200, ids: ['acme/bad'] });
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/chat/completions`, { method: 'POST', headers, body });
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain('down');
  test.interrupt('ctrl-c');
  expect(await ended).toBe(0);
  // Tools are not read.
  expect(test.stderr()).toBe('error: The line is down.\n');
});

test.each(['0.0.0.0', '::', '192.168.1.5', 'localhost', ''])('`usage.address_refused`: %j', async (address) => {
  const { exitCode, stdout, stderr } = await runHere([...serve, '--model', 'offline', '--host', address]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain('(usage.address_refused)');
});

test('`usage.port_unavailable`: somebody listens there', async () => {
  const other = createServer();
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  // It listens on a port.
  const { port } = other.address() as AddressInfo;
  try {
    const { exitCode, stderr } = await runHere([...serve, '--model', 'offline', '--port', String(port)]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`Port ${port} of \`127.0.0.1\` cannot be had, something listens there already`);
    expect(stderr).toContain('(usage.port_unavailable)');
  } finally {
    other.close();
  }
});

test.each([
  [['serve'], '--openai'],
  [[...serve, '--port', '65536'], '0 to 65535'],
  [[...serve, '--port', ''], '0 to 65535'],
  [[...serve, '--port', '80.5'], '0 to 65535'],
  [[...serve, '--parallel', '0'], 'from 1 on'],
  [[...serve, '--model', 'none'], 'usage.model_unknown'],
  [[...serve, 'extra'], 'too many arguments'],
])('%j is refused', async (argv, part) => {
  const { exitCode, stdout, stderr } = await runHere(argv);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(part);
});

test('a process: Ctrl-C while an answer is awaited ends it', async () => {
  const silent = `import { definePlugin } from '${import.meta.resolve('@holdfast/core')}';
const stream = async function* () { yield { type: 'text-delta', text: 'Well' }; await new Promise(() => setInterval(() => {}, 1e6)); };
export default definePlugin({
  name: 'acme', version: '1.0.0', description: 'Has models.', holdfast: '*',
  models: [{ name: 'silent', description: 'Says nothing.', create: () => ({ id: 'silent', stream }) }],
});
`;
  const config = "export default { plugins: ['./acme.mjs'], model: 'acme/silent' };\n";
  let streamed: Promise<string> | undefined;
  const { exitCode, stderr } = await runMain(['serve', '--openai', '--port', '0', '--json'], {
    files: { 'acme.mjs': silent, 'holdfast.config.mjs': config },
    onStdout(child, stdout) {
      const { url } = JSON.parse(stdout) as { readonly url: string };
      const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], stream: true });
      const headers = { 'content-type': 'application/json' };
      streamed = fetch(`${url}/chat/completions`, { method: 'POST', headers, body }).then((response) => {
        child.kill('SIGINT');
        return response.text();
      });
    },
  });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(await streamed).toContain('server_closing');
});
