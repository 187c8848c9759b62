import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { runProgram } from '../program.ts';
import { createFolder, type TestFolder, toUserFolder } from '../testing/test-folder.ts';
import { createTestHost, type TestHostOptions } from '../testing/test-host.ts';
import { runHere } from '../testing/test-program.ts';

const key = 'sk-a-secret-of-mine';
const keys = { OPENAI_API_KEY: key, ANTHROPIC_API_KEY: ' ' };

/** A provider package whose models return their name and settings. */
function provider(name: string, exported: string): Record<string, string> {
  return {
    [`node_modules/@ai-sdk/${name}/package.json`]: JSON.stringify({
      name: `@ai-sdk/${name}`,
      version: '1.2.3',
      type: 'module',
      exports: './main.js',
    }),
    [`node_modules/@ai-sdk/${name}/main.js`]: `const languageModel = (settings) => (modelId) => ({
      specificationVersion: 'v3', provider: '${name}', modelId, supportedUrls: {},
      doStream: async () => ({ stream: new ReadableStream({ start(controller) {
        const text = 'I am ' + modelId + (settings ? ' at ' + settings.baseURL : '');
        controller.enqueue({ type: 'text-start', id: '1' });
        controller.enqueue({ type: 'text-delta', id: '1', delta: text });
        controller.enqueue({ type: 'text-end', id: '1' });
        const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
        controller.enqueue({ type: 'finish', finishReason: { unified: 'stop' }, usage });
        controller.close();
      } }) }),
    });
    ${exported}`,
  };
}

const openai = provider('openai', 'export const openai = { languageModel: languageModel() };');
const compatible = provider(
  'openai-compatible',
  'export const createOpenAICompatible = (settings) => ({ languageModel: languageModel(settings) });',
);

const up = '\x1b[A';
const down = '\x1b[B';
const run = ['run', 'Hello'];

interface Answered {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The number of questions. */
  readonly asked: number;
}

/** Runs the program at a terminal, where each question gets the next of `answers`. */
async function atTerminal(
  { path }: TestFolder,
  argv: readonly string[],
  answers: readonly string[] = [],
  options: TestHostOptions = {},
): Promise<Answered> {
  const { host, stdin, stdout, stderr } = createTestHost({
    directory: path,
    terminals: ['stdin', 'stdout'],
    columns: 200,
    ...options,
    environment: { NO_COLOR: '1', HOLDFAST_HOME: toUserFolder(path), ...keys, ...options.environment },
  });
  let asked = 0;
  host.stdout.on('data', () => {
    if (stdout().split('◆').length - 1 <= asked) return;
    const answer = answers[asked] ?? '\x1b';
    asked += 1;
    setImmediate(() => stdin.write(answer));
  });
  const exitCode = await runProgram(argv, host, '0');
  return { exitCode, stdout: stdout(), stderr: stderr(), asked };
}

const readKept = ({ path }: TestFolder): Promise<unknown> =>
  readFile(join(toUserFolder(path), 'config.json'), 'utf8').then(JSON.parse, () => undefined);

test('a model with a key is offered at a terminal; the choice is stored privately and not asked again', async () => {
  await using folder = await createFolder(openai);
  const first = await atTerminal(folder, run, [`${down}\r`]);
  expect(first).toMatchObject({ exitCode: 0, asked: 1 });
  expect(first.stdout).toContain('openai:gpt-5 (OPENAI_API_KEY is set; @ai-sdk/openai 1.2.3)');
  expect(first.stdout).toContain('openai:gpt-5 · ');
  expect(first.stdout).toContain('I am gpt-5');
  expect(first.stdout).not.toContain('anthropic');
  expect(await readKept(folder)).toEqual({ models: { openai: true } });
  expect((await stat(join(toUserFolder(folder.path), 'config.json'))).mode & 0o777).toBe(0o600);
  const again = await atTerminal(folder, run);
  expect(again).toMatchObject({ exitCode: 0, asked: 0, stdout: expect.stringContaining('I am gpt-5') });
  // No question here, and the stored answer counts.
  const unattended = await atTerminal(folder, [...run, '--unattended']);
  expect(unattended).toMatchObject({ asked: 0, stdout: expect.stringContaining('I am gpt-5') });
  expect(first.stdout + again.stdout + JSON.stringify(await readKept(folder))).not.toContain(key);
});

test.each([
  { what: 'Enter alone', answer: '\r', kept: undefined },
  { what: 'Escape', answer: '\x1b', kept: undefined },
  { what: 'a no for good', answer: `${up}\r`, kept: { models: { openai: false } } },
])('$what keeps the offline model', async ({ answer, kept }) => {
  await using folder = await createFolder(openai);
  expect(await atTerminal(folder, run, [answer])).toMatchObject({
    exitCode: 0,
    asked: 1,
    stdout: expect.stringContaining('offline:rules · '),
  });
  expect(await readKept(folder)).toEqual(kept);
  expect(await atTerminal(folder, run)).toMatchObject({ asked: kept === undefined ? 1 : 0 });
});

test('Ctrl-C at the question ends the program before anything has run', async () => {
  await using folder = await createFolder(openai);
  expect(await atTerminal(folder, run, ['\x03'])).toMatchObject({
    asked: 1,
    stderr: expect.stringContaining('Interr'),
  });
  expect(await readKept(folder)).toBe(undefined);
});

test.each<{ what: string; argv: readonly string[]; options?: TestHostOptions }>([
  { what: 'stdin is not a terminal', argv: run, options: { terminals: ['stdout', 'stderr'] } },
  { what: 'no output is a terminal', argv: run, options: { terminals: ['stdin'] } },
  { what: 'a program reads the output', argv: [...run, '--json'] },
  { what: 'a model is named', argv: [...run, '--model', 'offline'] },
  { what: 'questions are off', argv: [...run, '--unattended'] },
  { what: 'nothing is set', argv: run, options: { environment: { OPENAI_API_KEY: '' } } },
])('the offline model answers without a question if $what', async ({ argv, options }) => {
  await using folder = await createFolder(openai);
  const { exitCode, stdout, asked } = await atTerminal(folder, argv, [], options);
  expect({ exitCode, asked }).toEqual({ exitCode: 0, asked: 0 });
  expect(stdout).toContain('offline:rules');
});

test('without a terminal a stored answer does not count', async () => {
  await using folder = await createFolder(openai);
  await atTerminal(folder, run, [`${down}\r`]);
  const environment = { NO_COLOR: '1', HOLDFAST_HOME: toUserFolder(folder.path), ...keys };
  const fetch = vi.fn();
  const { stdout } = await runHere(run, { directory: folder.path, environment, fetch });
  expect(stdout).toMatch(/^offline:rules · /);
  expect(fetch).not.toHaveBeenCalled();
});

test('a configured model is not asked about, and a configuration cannot accept models', async () => {
  await using folder = await createFolder({ ...openai, 'own.mjs': "export default { model: 'offline' };" });
  const argv = [...run, '--config', 'own.mjs'];
  expect(await atTerminal(folder, argv)).toMatchObject({ exitCode: 0, asked: 0 });
  await folder.write('other.mjs', 'export default { models: { openai: true } };');
  expect(await atTerminal(folder, [...run, '--config', 'other.mjs'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('`models`'),
  });
});

test('a stored answer does not trust a package of another folder', async () => {
  await using folder = await createFolder(openai);
  await atTerminal(folder, run, [`${down}\r`]);
  const environment = { HOLDFAST_HOME: toUserFolder(folder.path) };
  await using hostile = await createFolder(openai);
  const refused = await atTerminal(hostile, run, ['\r'], { environment });
  expect(refused).toMatchObject({
    exitCode: 4,
    asked: 1,
    stdout: expect.stringContaining('package @ai-sdk/openai 1.2.3'),
  });
  expect(refused.stdout).not.toContain('I am gpt-5');
  const trusted = await atTerminal(hostile, run, [`${down}\r`], { environment });
  expect(trusted).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('I am gpt-5') });
  expect(await atTerminal(hostile, run, [], { environment })).toMatchObject({ exitCode: 0, asked: 0 });
});

test('a missing package is mentioned in the offer, and nothing is stored', async () => {
  await using folder = await createFolder();
  const { exitCode, stdout, stderr } = await atTerminal(folder, run, [`${down}\r`]);
  expect(exitCode).toBe(2);
  expect(stdout).toContain('openai:gpt-5 (OPENAI_API_KEY is set; first `npm install @ai-sdk/openai`)');
  expect(stderr).toContain('npm install @ai-sdk/openai');
  expect(await readKept(folder)).toBe(undefined);
});

const tags = () => Promise.resolve(new Response('{"models":[{"name":"qwen3:4b"}]}'));

test('a local Ollama is offered, stored and used at its own address', async () => {
  await using folder = await createFolder(compatible);
  const options = { fetch: tags, environment: { OPENAI_API_KEY: '', OLLAMA_HOST: '0.0.0.0:4242' } };
  const first = await atTerminal(folder, run, [`${down}\r`], options);
  expect(first.stdout).toContain('ollama:qwen3:4b (Ollama at http://127.0.0.1:4242; @ai-sdk/openai-compatible 1.2.3)');
  expect(first).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('I am qwen3:4b at http://127.0.0.1:4242/v1'),
  });
  expect(await readKept(folder)).toEqual({ models: { ollama: true } });
  expect(await atTerminal(folder, run, [], options)).toMatchObject({
    asked: 0,
    stdout: expect.stringContaining('I am qwen3:4b'),
  });
  // No longer running.
  const { fetch: _, ...gone } = options;
  expect(await atTerminal(folder, run, [], gone)).toMatchObject({
    asked: 0,
    stdout: expect.stringContaining('offline:rules'),
  });
});

test('`--model ollama:NAME` needs no variable, and no question', async () => {
  await using folder = await createFolder(compatible);
  const named = await runHere([...run, '--model', 'ollama:qwen3:4b'], { directory: folder.path });
  expect(named).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('I am qwen3:4b at http://127.0.0.1:11434/v1'),
  });
  const environment = { OLLAMA_HOST: 'a b' };
  const wrong = await runHere([...run, '--model', 'ollama:qwen3:4b'], { directory: folder.path, environment });
  expect(wrong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('OLLAMA_HOST') });
});

test('storing an answer keeps the rest of the user configuration', async () => {
  await using folder = await createFolder(openai);
  const home = await createFolder({
    'config.json': '{ "environment": { "weather": ["API_KEY"] }, "models": { "google": false } }',
  });
  await using _home = home;
  await atTerminal(folder, run, [`${down}\r`], { environment: { HOLDFAST_HOME: home.path } });
  expect(JSON.parse(await readFile(join(home.path, 'config.json'), 'utf8'))).toEqual({
    environment: { weather: ['API_KEY'] },
    models: { openai: true, google: false },
  });
});

test('an unknown provider in the user configuration is an error', async () => {
  await using folder = await createFolder(openai);
  await using home = await createFolder({ 'config.json': '{ "models": { "acme": true } }' });
  expect(await atTerminal(folder, run, [], { environment: { HOLDFAST_HOME: home.path } })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('user_config.invalid'),
  });
});

test('doctor lists found models and answers, never key values', async () => {
  await using folder = await createFolder({ ...openai, ...compatible });
  const environment = { NO_COLOR: '1', HOLDFAST_HOME: toUserFolder(folder.path), ...keys };
  const doctor = (...more: readonly string[]) =>
    runHere(['doctor', ...more], { directory: folder.path, environment, fetch: tags });
  const before = await doctor();
  expect(before.stdout).toMatch(
    /^models +openai:gpt-5 \(OPENAI_API_KEY is set; @ai-sdk\/openai 1\.2\.3\)\n +ollama:qwen3:4b \(Ollama at .*\)\n +without --model, a run at a terminal offers them/m,
  );
  await atTerminal(folder, run, [`${down}\r`]);
  const after = await doctor();
  expect(after.stdout).toMatch(/^models .*1\.2\.3\); runs at a terminal use it\n +ollama:/m);
  const json = await doctor('--json');
  expect(JSON.parse(json.stdout).models).toMatchObject({
    found: [
      { provider: 'openai', name: 'openai:gpt-5', by: 'OPENAI_API_KEY', version: '1.2.3', answer: true },
      { provider: 'ollama', name: 'ollama:qwen3:4b', by: 'http://127.0.0.1:11434', answer: null },
    ],
    reason: '',
  });
  expect(before.stdout + after.stdout + json.stdout).not.toContain(key);
  const none = await runHere(['doctor'], { directory: folder.path, environment: { NO_COLOR: '1' } });
  expect(none.stdout).toMatch(/^models +no provider key and no local Ollama found/m);
});
