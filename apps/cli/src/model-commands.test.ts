import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type NamedModel, namedModels } from './model-catalogue.ts';
import { listModels } from './model-list-command.ts';
import { type PullTools, pullModel } from './model-pull-command.ts';
import { runProgram } from './program.ts';
import { findPulledModel } from './pulled-models.ts';
import { createFolder, type TestFolder } from './test-folder.ts';
import { createTestHost, type TestHost, type TestHostOptions } from './test-host.ts';
import { impatientClock, type ModelServer, makeContent, startModelServer, toSha256 } from './test-model-server.ts';
import { runMain } from './test-program.ts';
import { findIssues, readSchema } from './test-schemas.ts';

const content = makeContent(200_000);
const sha256 = toSha256(content);

interface Setup extends AsyncDisposable {
  readonly server: ModelServer;
  readonly folder: TestFolder;
  /** That of the models. */
  readonly models: string;
  readonly environment: Record<string, string>;
  readonly named: NamedModel;
  open(options?: TestHostOptions): TestHost;
  run(argv: readonly string[]): Promise<{ exitCode: number; stdout: string; stderr: string }>;
  /** Pulls a model of a catalogue of one. */
  pull(test?: TestHost, tools?: Partial<PullTools>): Promise<number>;
}

async function setUp(): Promise<Setup> {
  const server = await startModelServer({ content });
  const folder = await createFolder();
  const models = join(folder.path, 'models');
  const environment = { NO_COLOR: '1', HOLDFAST_MODELS: 'models' };
  const named = { name: 'small', parameters: '1 B', license: 'MIT', url: server.url, bytes: content.length, sha256 };
  const open = (options: TestHostOptions = {}): TestHost =>
    createTestHost({ directory: folder.path, environment, clock: impatientClock(), ...options });
  return {
    server,
    folder,
    models,
    environment,
    named,
    open,
    async run(argv) {
      const { host, stdout, stderr } = open();
      return { exitCode: await runProgram(argv, host, '0'), stdout: stdout(), stderr: stderr() };
    },
    pull: ({ host } = open(), tools = {}) =>
      pullModel({ model: 'small', sha256: undefined, json: false }, host, {
        models: [named],
        freeBytes: async () => 1e9,
        ...tools,
      }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

test('a named model is pulled, found and listed; the last line says how to run it', async () => {
  await using setup = await setUp();
  const opened = setup.open();
  expect(await setup.pull(opened)).toBe(0);
  const path = join(setup.models, 'small.gguf');
  expect(opened.stdout()).toBe(
    `small is pulled, 0.2 MB; its SHA-256 is as it should be.\n${path}\n\nTo run it:\n  holdfast run --model local:small "List the files here"\n`,
  );
  expect(opened.stderr()).toMatch(/^small: 100 % {2}0\.2 MB of 0\.2 MB/m);
  expect(await findPulledModel('small', setup.models)).toBe(path);
  expect(await readFile(path)).toEqual(content);

  const again = setup.open();
  expect(await setup.pull(again)).toBe(0);
  expect(again.stdout()).toMatch(/^small is there already, 0\.2 MB; its SHA-256/);
  expect(again.stderr()).toBe('');
  expect(setup.server.requests).toHaveLength(1);
  expect(await readdir(setup.models)).toEqual(['small.gguf']);
});

test('a file by its address, with its checksum; as JSON, and nothing else is printed', async () => {
  await using setup = await setUp();
  const argv = ['model', 'pull', setup.server.url, '--sha256', sha256.toUpperCase(), '--json'];
  const schema = await readSchema('model-pull');
  for (const [state, resumedFromBytes] of [['pulled', 0] as const, ['there', null] as const]) {
    const { exitCode, stdout, stderr } = await setup.run(argv);
    const printed = JSON.parse(stdout);
    expect({ exitCode, stderr, issues: findIssues(schema, printed) }).toEqual({ exitCode: 0, stderr: '', issues: [] });
    const path = join(setup.models, 'tiny.gguf');
    expect(printed).toEqual({
      name: 'tiny',
      state,
      path,
      bytes: content.length,
      sha256,
      url: setup.server.url,
      resumedFromBytes,
    });
  }
});

test.each([
  { argv: ['qwen3-0.6'], code: 'usage.model_unknown', says: 'Did you mean `qwen3-0.6b`?' },
  { argv: ['../etc/passwd'], code: 'usage.model_unknown', says: '`smollm2-1.7b-instruct`' },
  { argv: ['qwen3-0.6b', '--sha256', sha256], code: 'usage.checksum_invalid', says: 'leave out' },
  { argv: ['https://example.com/a.gguf'], code: 'usage.checksum_missing', says: '--sha256' },
  { argv: ['https://example.com/a.gguf', '--sha256', 'abc'], code: 'usage.checksum_invalid', says: '64' },
  { argv: ['https://example.com/a.gguf', '--sha256', 'g'.repeat(64)], code: 'usage.checksum_invalid', says: '64' },
  { argv: ['http://example.com/a.gguf', '--sha256', sha256], code: 'usage.url_invalid', says: 'https' },
  { argv: ['https://me:pw@example.com/a.gguf', '--sha256', sha256], code: 'usage.url_invalid', says: 'https' },
  { argv: ['file:///a.gguf', '--sha256', sha256], code: 'usage.url_invalid', says: 'https' },
  { argv: ['https://example.com/a.zip', '--sha256', sha256], code: 'usage.url_invalid', says: '.gguf' },
  { argv: ['https://example.com/.gguf', '--sha256', sha256], code: 'usage.url_invalid', says: 'plain name' },
  { argv: ['https://example.com/..%2fa.gguf', '--sha256', sha256], code: 'usage.url_invalid', says: 'plain name' },
  { argv: ['https://', '--sha256', sha256], code: 'usage.url_invalid', says: 'https' },
])('model pull $argv: $code, before anything is done', async ({ argv, code, says }) => {
  await using setup = await setUp();
  const { exitCode, stdout, stderr } = await setup.run(['model', 'pull', ...argv]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(code);
  expect(stderr).toContain(says);
  expect(await readdir(setup.folder.path)).toEqual([]);
});

test('what fails ends with 1, and leaves no lock', async () => {
  await using setup = await setUp();
  setup.server.always = { status: 404 };
  const { exitCode, stdout, stderr } = await setup.run(['model', 'pull', setup.server.url, '--sha256', sha256]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toContain('(download.missing)');
  expect(await readdir(setup.models)).toEqual([]);
});

test('another file under the name is neither taken nor touched; `model remove` makes room', async () => {
  await using setup = await setUp();
  await setup.pull();
  await setup.folder.write('models/small.gguf', 'mine');
  await expect(setup.pull()).rejects.toMatchObject({
    code: 'download.checksum_wrong',
    message: expect.stringContaining('`holdfast model remove small`'),
    data: { expected: sha256 },
  });
  expect(await readFile(join(setup.models, 'small.gguf'), 'utf8')).toBe('mine');

  await setup.folder.write('models/small.gguf.part', 'half');
  await setup.folder.write('models/small.gguf.part.json', '{}');
  expect(await setup.run(['model', 'remove', 'small'])).toEqual({
    exitCode: 0,
    stdout: 'small is removed.\n',
    stderr: '',
  });
  expect(await readdir(setup.models)).toEqual([]);
  await setup.folder.write('models/other.gguf', 'x');
  for (const name of ['small', '../models/other', 'other.gguf']) {
    const { exitCode, stderr } = await setup.run(['model', 'remove', name]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/There are `other`\. \(usage\.model_unknown\)/);
  }
  await setup.folder.write('models/more.gguf.part', 'x');
  expect(await setup.run(['model', 'remove', 'more'])).toMatchObject({ exitCode: 0 });
  expect(await readdir(setup.models)).toEqual(['other.gguf']);
});

test('two pulls at once: one does it, the other says who', async () => {
  await using setup = await setUp();
  setup.server.next.push({ stallAt: 100_000 });
  const first = setup.open();
  let second: Promise<unknown> | undefined;
  first.host.stderr.on('data', () => {
    second ??= setup
      .pull()
      .catch((thrown: unknown) => thrown)
      .finally(setup.server.cut);
  });
  expect(await setup.pull(first)).toBe(0);
  expect(await second).toMatchObject({ code: 'download.busy' });
  expect(await readFile(join(setup.models, 'small.gguf'))).toEqual(content);
  expect(await readdir(setup.models)).toEqual(['small.gguf']);
});

test('Ctrl-C keeps what has come and says how to go on, which does', async () => {
  await using setup = await setUp();
  setup.server.next.push({ stallAt: 100_000 });
  const { host, stdout, stderr, interrupt } = setup.open();
  host.stderr.on('data', () => {
    if (stderr().includes('50 %')) interrupt('ctrl-c');
  });
  expect(await setup.pull({ ...setup.open(), host })).toBe(130);
  expect(stdout()).toBe('');
  expect(stderr()).toMatch(/\nStopped; 0\.1 MB are kept\. To go on from there:\n {2}holdfast model pull small\n$/);
  expect(await readdir(setup.models)).toEqual(['small.gguf.part', 'small.gguf.part.json']);
  expect(await findPulledModel('small', setup.models)).toBe(undefined);

  const listing = setup.open();
  await listModels({ json: false }, listing.host, [setup.named]);
  expect(listing.stdout()).toContain('50 % pulled: `holdfast model pull small` goes on');

  const again = setup.open();
  expect(await setup.pull(again)).toBe(0);
  expect(again.stderr()).toMatch(/^small: going on from 0\.1 MB of 0\.2 MB\n/);
  expect(setup.server.requests[1]?.headers.range).toBe('bytes=100000-');
});

test('a program that is killed leaves a part that the next one goes on with', async () => {
  await using setup = await setUp();
  setup.server.next.push({ stallAt: 160_000 });
  const argv = ['model', 'pull', setup.server.url, '--sha256', sha256];
  const killed = await runMain(argv, {
    folder: setup.folder.path,
    environment: setup.environment,
    onStderr: (child, stderr) => {
      if (stderr.includes(' 80 %')) child.kill('SIGKILL');
    },
  });
  expect(killed.exitCode).toBe(null);
  expect(await readdir(setup.models)).toContain('tiny.gguf.lock');
  expect(await setup.run(argv)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('tiny is pulled') });
  expect(setup.server.requests[1]?.headers.range).toBe('bytes=160000-');
  expect(await readdir(setup.models)).toEqual(['tiny.gguf']);
});

test('too little room, as the machine says it', async () => {
  await using setup = await setUp();
  await expect(setup.pull(setup.open(), { freeBytes: async () => 1000 })).rejects.toMatchObject({
    code: 'download.disk_full',
    message: expect.stringContaining('has 0.0 MB left'),
  });
});

test('a folder that cannot be made is named', async () => {
  await using setup = await setUp();
  await setup.folder.write('models', 'a file');
  const { exitCode, stderr } = await setup.run(['model', 'pull', setup.server.url, '--sha256', sha256]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('download.folder_unusable');
  expect(await setup.run(['model', 'list'])).toMatchObject({ exitCode: 1 });
});

test('model list: what there is by name, what is pulled, and what was pulled by an address', async () => {
  await using setup = await setUp();
  await setup.run(['model', 'pull', setup.server.url, '--sha256', sha256]);
  const { exitCode, stdout, stderr } = await setup.run(['model', 'list']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const lines = stdout.split('\n');
  expect(lines[0]).toMatch(/^model +parameters +size +licence +state$/);
  expect(lines.slice(1, -3)).toEqual([
    ...namedModels.map(({ name, license }) => expect.stringMatching(new RegExp(`^${name} .* [MG]B +${license}$`))),
    expect.stringMatching(/^tiny +0\.2 MB +pulled: --model local:tiny$/),
  ]);
  expect(lines.slice(-3)).toEqual(['', `Pulled models are in ${setup.models}`, '']);

  const printed = JSON.parse((await setup.run(['model', 'list', '--json'])).stdout);
  expect(findIssues(await readSchema('model-list'), printed)).toEqual([]);
  expect(printed.folder).toBe(setup.models);
  expect(printed.models.at(-1)).toEqual({
    name: 'tiny',
    parameters: null,
    bytes: content.length,
    license: null,
    state: 'pulled',
    bytesHere: content.length,
    path: join(setup.models, 'tiny.gguf'),
    url: null,
  });
  expect(printed.models[0]).toMatchObject({ state: 'absent', bytesHere: 0, license: 'Apache-2.0' });
});

test('another file that was pulled under the name of one of ours has neither its licence nor its size', async () => {
  await using setup = await setUp();
  await setup.run(['model', 'pull', setup.server.url, '--sha256', sha256]);
  const printed = async (bytes: number): Promise<readonly unknown[]> => {
    const test = setup.open();
    await listModels({ json: true }, test.host, [{ ...setup.named, name: 'tiny', bytes }]);
    return JSON.parse(test.stdout()).models;
  };
  const state = { name: 'tiny', state: 'pulled', bytes: content.length, bytesHere: content.length };
  expect(await printed(content.length)).toMatchObject([{ ...state, license: 'MIT', url: setup.server.url }]);
  expect(await printed(content.length + 1)).toMatchObject([{ ...state, license: null, url: null }]);
});

test('the models that have a name: each is one file for ever, checked, and free to use', () => {
  const names = namedModels.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { url, sha256: hash, bytes, license, name } of namedModels) {
    expect(name).toMatch(/^[a-z0-9][a-z0-9.-]*[a-z0-9]$/);
    expect(url).toMatch(/^https:\/\/huggingface\.co\/[\w.-]+\/[\w.-]+\/resolve\/[0-9a-f]{40}\/[\w.-]+\.gguf$/);
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(bytes).toBeGreaterThan(1e8);
    expect(license).toMatch(/^(?:Apache-2\.0|MIT)$/);
  }
  expect(new Set(namedModels.map(({ sha256: hash }) => hash)).size).toBe(names.length);
});
