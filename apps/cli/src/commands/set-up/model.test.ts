import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newLockOwner } from '@holdfast/session/lock';
import { expect, test, vi } from 'vitest';
import { type NamedModel, namedModels } from '../../models/catalogue.ts';
import { pullModel } from '../../models/pull.ts';
import { findPulledModel, toPartFolder } from '../../models/pulled.ts';
import { runProgram } from '../../program.ts';
import { createFolder, type TestFolder } from '../../testing/test-folder.ts';
import { createTestHost, type TestHost, type TestHostOptions } from '../../testing/test-host.ts';
import { type ModelServer, makeContent, startModelServer, toSha256 } from '../../testing/test-model-server.ts';
import { findIssues, readSchema } from '../../testing/test-schemas.ts';
import { listModels } from './model.ts';

// Three chunks of the downloader.
const content = makeContent(12_000_000);
// A folder with node-llama-cpp installed.
const root = fileURLToPath(new URL('../../../../../', import.meta.url));
const sha256 = toSha256(content);

interface Setup extends AsyncDisposable {
  readonly server: ModelServer;
  readonly folder: TestFolder;
  /** The models folder. */
  readonly models: string;
  readonly named: NamedModel;
  open(options?: TestHostOptions): TestHost;
  run(argv: readonly string[]): Promise<{ exitCode: number; stdout: string; stderr: string }>;
  /** Pulls a model from a catalog of one. */
  pull(test?: TestHost): Promise<number>;
}

async function setUp(): Promise<Setup> {
  const server = await startModelServer(content);
  const folder = await createFolder();
  const models = join(folder.path, 'models');
  const environment = { NO_COLOR: '1', HOLDFAST_MODELS: models };
  const named = { name: 'small', parameters: '1 B', license: 'MIT', url: server.url, bytes: content.length, sha256 };
  const open = (options: TestHostOptions = {}): TestHost =>
    createTestHost({ directory: root, environment, ...options });
  return {
    server,
    folder,
    models,
    named,
    open,
    async run(argv) {
      const { host, stdout, stderr } = open();
      return { exitCode: await runProgram(argv, host, '0'), stdout: stdout(), stderr: stderr() };
    },
    pull: ({ host } = open()) => pullModel({ model: 'small', sha256: undefined, json: false }, host, [named]),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

test('a named model is pulled, found and listed, with a command to run it', async () => {
  await using setup = await setUp();
  const opened = setup.open();
  expect(await setup.pull(opened)).toBe(0);
  const path = join(setup.models, 'small.gguf');
  expect(opened.stdout()).toBe(
    `small pulled, 12.0 MB, SHA-256 verified\n${path}\n\nRun it with:\n  holdfast run --model local:small "List the files here"\n`,
  );
  expect(opened.stderr()).toMatch(/^small: 100 % {2}12\.0 MB of 12\.0 MB/m);
  expect(await findPulledModel('small', setup.models)).toBe(path);
  expect(toSha256(await readFile(path))).toBe(sha256);

  const asked = setup.server.requests();
  const again = setup.open();
  expect(await setup.pull(again)).toBe(0);
  expect(again.stdout()).toMatch(/^small was already pulled, 12\.0 MB, SHA-256/);
  expect(again.stderr()).toBe('');
  expect(setup.server.requests()).toBe(asked);
  expect(await readdir(setup.models)).toEqual(['small.gguf']);
});

test('a file by URL and checksum; prints only JSON', async () => {
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
  { argv: ['qwen3-0.6'], code: 'usage.invalid: model_unknown', says: 'Did you mean `qwen3-0.6b`?' },
  { argv: ['../etc/passwd'], code: 'usage.invalid: model_unknown', says: '`smollm2-1.7b-instruct`' },
  { argv: ['qwen3-0.6b', '--sha256', sha256], code: 'usage.invalid: checksum_invalid', says: 'remove `--sha256`' },
  { argv: ['https://example.com/a.gguf'], code: 'usage.invalid: checksum_missing', says: '--sha256' },
  { argv: ['https://example.com/a.gguf', '--sha256', 'abc'], code: 'usage.invalid: checksum_invalid', says: '64' },
  {
    argv: ['https://example.com/a.gguf', '--sha256', 'g'.repeat(64)],
    code: 'usage.invalid: checksum_invalid',
    says: '64',
  },
  { argv: ['http://example.com/a.gguf', '--sha256', sha256], code: 'usage.invalid: url_invalid', says: 'https' },
  { argv: ['https://me:pw@example.com/a.gguf', '--sha256', sha256], code: 'usage.invalid: url_invalid', says: 'https' },
  { argv: ['file:///a.gguf', '--sha256', sha256], code: 'usage.invalid: url_invalid', says: 'https' },
  { argv: ['https://example.com/a.zip', '--sha256', sha256], code: 'usage.invalid: url_invalid', says: '.gguf' },
  { argv: ['https://example.com/.gguf', '--sha256', sha256], code: 'usage.invalid: url_invalid', says: '`NAME.gguf`' },
  {
    argv: ['https://example.com/..%2fa.gguf', '--sha256', sha256],
    code: 'usage.invalid: url_invalid',
    says: '`NAME.gguf`',
  },
  {
    argv: ['https://example.com/a-00001-of-00002.gguf', '--sha256', sha256],
    code: 'usage.invalid: url_invalid',
    says: 'single file',
  },
  { argv: ['https://', '--sha256', sha256], code: 'usage.invalid: url_invalid', says: 'https' },
])('model pull $argv: $code, before anything happens', async ({ argv, code, says }) => {
  await using setup = await setUp();
  const { exitCode, stdout, stderr } = await setup.run(['model', 'pull', ...argv]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(code);
  expect(stderr).toContain(says);
  expect(await readdir(setup.folder.path)).toEqual([]);
});

test.each([
  { status: 404, code: 'download.failed: missing' },
  { status: 403, code: 'download.failed: denied' },
  { status: 503, code: 'download.failed' },
])('a server that answers $status: $code, with 1, and nothing is left', async ({ status, code }) => {
  await using setup = await setUp();
  setup.server.status = status;
  const { exitCode, stdout, stderr } = await setup.run(['model', 'pull', setup.server.url, '--sha256', sha256]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toContain(`(${code})`);
  expect(await readdir(setup.models)).toEqual([]);
});

test('a different file with the same name is neither used nor changed; `model remove` deletes it', async () => {
  await using setup = await setUp();
  await setup.pull();
  await setup.folder.write('models/small.gguf', 'mine');
  await expect(setup.pull()).rejects.toMatchObject({
    code: 'download.failed',
    reason: 'checksum_wrong',
    message: expect.stringContaining('`holdfast model remove small`'),
    data: { expected: sha256 },
  });
  expect(await readFile(join(setup.models, 'small.gguf'), 'utf8')).toBe('mine');

  await mkdir(toPartFolder('small', setup.models));
  await setup.folder.write('models/small.part/half.ipull', 'half');
  expect(await setup.run(['model', 'remove', 'small'])).toEqual({
    exitCode: 0,
    stdout: 'Removed small.\n',
    stderr: '',
  });
  expect(await readdir(setup.models)).toEqual([]);
  await setup.folder.write('models/other.gguf', 'x');
  for (const name of ['small', '../models/other', 'other.gguf']) {
    const { exitCode, stderr } = await setup.run(['model', 'remove', name]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/Pulled models: `other`\. \(usage\.invalid: model_unknown\)/);
  }
  await mkdir(toPartFolder('more', setup.models));
  expect(await setup.run(['model', 'remove', 'more'])).toMatchObject({ exitCode: 0 });
  expect(await readdir(setup.models)).toEqual(['other.gguf']);
});

test('two pulls at once: the second one names the first', async () => {
  await using setup = await setUp();
  setup.server.stall = true;
  const first = setup.open();
  const pulling = setup.pull(first);
  await setup.server.asked();
  await expect(setup.pull()).rejects.toMatchObject({ code: 'download.failed', reason: 'busy' });
  await expect(setup.run(['model', 'remove', 'small'])).resolves.toMatchObject({ exitCode: 1 });
  setup.server.go();
  expect(await pulling).toBe(0);
  expect(toSha256(await readFile(join(setup.models, 'small.gguf')))).toBe(sha256);
  expect(await readdir(setup.models)).toEqual(['small.gguf']);
});

test('Ctrl-C keeps the partial download and prints the command to continue', async () => {
  await using setup = await setUp();
  setup.server.stallFromByte = 11_000_000;
  const { host, stdout, stderr, interrupt } = setup.open();
  const pulling = setup.pull({ ...setup.open(), host });
  // After the bytes of the file, the downloader records the finished chunks.
  const part = join(toPartFolder('small', setup.models), `${sha256}.ipull`);
  await vi.waitFor(async () => expect((await stat(part)).size).toBeGreaterThan(content.length), 30_000);
  interrupt('ctrl-c');
  expect(await pulling).toBe(130);
  expect(stdout()).toBe('');
  expect(stderr()).toMatch(
    /(?:^|\n)Stopped; the partial download is kept\. To continue:\n {2}holdfast model pull small\n$/,
  );
  expect(await readdir(setup.models)).toEqual(['small.part']);
  expect(await findPulledModel('small', setup.models)).toBe(undefined);
  const listing = setup.open();
  await listModels({ json: false }, listing.host, [setup.named]);
  expect(listing.stdout()).toMatch(/\d+ % pulled, continue with `holdfast model pull small`/);
  setup.server.stallFromByte = Number.POSITIVE_INFINITY;
  const again = setup.open();
  expect(await setup.pull(again)).toBe(0);
  expect(again.stderr()).toMatch(/^small: resuming from \d+\.\d MB of 12\.0 MB\n/);
  expect(toSha256(await readFile(join(setup.models, 'small.gguf')))).toBe(sha256);
  expect(await readdir(setup.models)).toEqual(['small.gguf']);
});

test('a pull whose process was killed is taken over', async () => {
  await using setup = await setUp();
  await mkdir(toPartFolder('small', setup.models), { recursive: true });
  // No process has this id.
  await setup.folder.write('models/small.part/lock', JSON.stringify({ ...newLockOwner(), pid: 4_194_305 }));
  expect(await setup.pull()).toBe(0);
  expect(await readdir(setup.models)).toEqual(['small.gguf']);
});

test('a wrong file is deleted, and the next pull starts over', async () => {
  await using setup = await setUp();
  setup.server.content = Buffer.from('an error page');
  await expect(setup.pull()).rejects.toMatchObject({
    code: 'download.failed',
    reason: 'checksum_wrong',
    message: expect.stringContaining('It was deleted'),
    data: { expected: sha256 },
  });
  expect(await readdir(setup.models)).toEqual([]);
  setup.server.content = content;
  expect(await setup.pull()).toBe(0);
});

test('without node-llama-cpp nothing is pulled, and the error names the package', async () => {
  await using setup = await setUp();
  const { host } = setup.open({ directory: setup.folder.path });
  await expect(setup.pull({ ...setup.open(), host })).rejects.toMatchObject({
    code: 'usage.invalid',
    reason: 'local_packages_missing',
    message: expect.stringContaining('`npm install node-llama-cpp`'),
  });
  expect(await readdir(setup.folder.path)).toEqual([]);
});

test('a file larger than the free disk space', async () => {
  await using setup = await setUp();
  setup.server.saidBytes = 3e13;
  await expect(setup.pull()).rejects.toMatchObject({
    code: 'download.failed',
    reason: 'disk_full',
    message: expect.stringMatching(/^Not enough disk space in .*: 30000\.0 GB needed, .* free\./),
  });
  expect(await readdir(setup.models)).toEqual([]);
});

test('an unreachable server', async () => {
  await using setup = await setUp();
  const gone = await startModelServer(content);
  await gone[Symbol.asyncDispose]();
  const { exitCode, stderr } = await setup.run(['model', 'pull', gone.url, '--sha256', sha256]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('(download.failed: unreachable)');
  expect(await readdir(setup.models)).toEqual([]);
});

test('a folder that cannot be created is named', async () => {
  await using setup = await setUp();
  await setup.folder.write('models', 'a file');
  const { exitCode, stderr } = await setup.run(['model', 'pull', setup.server.url, '--sha256', sha256]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain('download.failed: folder_unusable');
  expect(await setup.run(['model', 'list'])).toMatchObject({ exitCode: 1 });
});

test('model list: available models, pulled models, and models pulled by URL', async () => {
  await using setup = await setUp();
  await setup.run(['model', 'pull', setup.server.url, '--sha256', sha256]);
  const { exitCode, stdout, stderr } = await setup.run(['model', 'list']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const lines = stdout.split('\n');
  expect(lines[0]).toMatch(/^model +parameters +size +license +state$/);
  expect(lines.slice(1, -3)).toEqual([
    ...namedModels.map(({ name, license }) => expect.stringMatching(new RegExp(`^${name} .* [MG]B +${license}$`))),
    expect.stringMatching(/^tiny +12\.0 MB +pulled: --model local:tiny$/),
  ]);
  expect(lines.slice(-3)).toEqual(['', `Models folder: ${setup.models}`, '']);

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

test('a different file pulled under the name of a known model has neither its license nor its size', async () => {
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

test('named models are single, pinned, verified files with a free license', () => {
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
