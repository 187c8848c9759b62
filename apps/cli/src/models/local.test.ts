import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isHoldfastError, type Model, type ModelEvent } from '@holdfast/core';
import { describeCode, isPlainObject } from '@holdfast/core/internal';
import { fileTools } from '@holdfast/filesystem';
import { expect, test, vi } from 'vitest';
import { runProgram } from '../program.ts';
import { createFolder, type TestFolder } from '../testing/test-folder.ts';
import { createTestHost } from '../testing/test-host.ts';
import { type Ended, runHere, runMain, script, toTool } from '../testing/test-program.ts';
import { openLocalModel } from './local.ts';

// Each real run starts Node.js and llama.cpp, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

const checkout = fileURLToPath(new URL('../../../..', import.meta.url));
const packages = { adapter: '@holdfast/adapter-llama-cpp', weights: '@holdfast/model-tiny', binding: 'node-llama-cpp' };
const weights = join(checkout, 'packages/model-tiny/model.gguf');

/** The packages installed in the checkout, also for a folder elsewhere. */
async function install(folder: TestFolder, ...names: readonly string[]): Promise<void> {
  await mkdir(join(folder.path, 'node_modules/@holdfast'), { recursive: true });
  for (const name of names) {
    await symlink(join(checkout, 'node_modules', name), join(folder.path, 'node_modules', name), 'junction');
  }
}

const all = Object.values(packages);

/** Message, code and hint of the error of `--model`. */
async function refuse(name: string, folder: TestFolder, environment: Record<string, string> = {}): Promise<string> {
  try {
    const opened = await openLocalModel(name, { directory: folder.path, environment });
    await opened?.close();
    return `opened ${opened?.model.id}`;
  } catch (thrown) {
    if (!isHoldfastError(thrown)) throw thrown;
    const hint = isPlainObject(thrown.data) ? thrown.data['hint'] : undefined;
    return `${describeCode(thrown)} ${thrown.message}${typeof hint === 'string' ? ` hint: ${hint}` : ''}`;
  }
}

/** A stand-in for one of our packages. */
function standIn(name: string, source: string): Record<string, string> {
  return {
    [`node_modules/${name}/package.json`]: JSON.stringify({ name, type: 'module', exports: './main.js' }),
    [`node_modules/${name}/main.js`]: source,
  };
}

/** Records its options and whether it was closed. */
const fakeAdapter = standIn(
  packages.adapter,
  `export const loadLlamaModel = async (options) => {
    if (globalThis.failToLoad) throw globalThis.failToLoad;
    globalThis.loaded = { options, closed: 0 };
    const loaded = globalThis.loaded;
    return { id: 'llama:x', close: async () => { loaded.closed += 1; }, stream: async function* ({ signal, messages }) {
      if (loaded.closed) throw new Error('closed');
      loaded.asked = true;
      if (globalThis.hang) await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      const calls = messages.some(({ role }) => role === 'tool') ? [] : (globalThis.calls ?? []);
      for (const call of calls) yield { type: 'tool-call', ...call };
      if (calls.length === 0) yield { type: 'text-delta', text: 'Hi.' };
      yield { type: 'finish', reason: 'stop' };
    } };
  };`,
);
const fakeWeights = standIn(
  packages.weights,
  `export const tinyModelUrl = new URL('./main.js', import.meta.url); export const tinyFormat = { call: '' };`,
);

interface Loaded {
  readonly options: Readonly<Record<string, unknown>>;
  readonly closed: number;
  readonly asked?: boolean;
}

function lastLoaded(): Loaded | undefined {
  return (globalThis as { loaded?: Loaded }).loaded;
}

async function read(model: Model): Promise<readonly ModelEvent[]> {
  const events: ModelEvent[] = [];
  const request = { messages: [], tools: [], signal: new AbortController().signal };
  for await (const event of model.stream(request)) events.push(event);
  return events;
}

test.each(['offline', 'openai:gpt', 'locals', 'local:', 'localhost:x', 'Local'])(
  '`%s` is not a local model',
  async (name) => {
    await using folder = await createFolder();
    expect(await refuse(name, folder)).toBe('opened undefined');
  },
);

test('in a folder without the packages: lists them, the npm command and the packages to exclude', async () => {
  await using folder = await createFolder();
  const told = await refuse('local', folder);
  expect(told).toContain('usage.invalid: local_packages_missing `local` requires packages that are not installed');
  expect(told).toContain(`Run \`npm install ${all.join(' ')}\`.`);
  expect(told).toContain('725 MB');
  await install(folder, packages.adapter, packages.binding);
  expect(await refuse('local', folder)).toContain(`Run \`npm install ${packages.weights}\`.`);
});

test('a file does not need our weights', async () => {
  await using folder = await createFolder({ 'x.gguf': 'GGUF' });
  expect(await refuse('local:x.gguf', folder)).toContain(`\`npm install ${packages.adapter} ${packages.binding}\``);
});

test.each([
  ['throw new Error("no such luck");', 'no such luck'],
  ['export const other = 1;', 'no export `loadLlamaModel`'],
])('an unusable package: %s', async (source, why) => {
  await using folder = await createFolder(standIn(packages.adapter, source));
  expect(await refuse('local', folder)).toBe(
    `usage.invalid: local_packages_missing Cannot use \`${packages.adapter}\` for \`local\`: ${why}. Reinstall it: \`npm install ${packages.adapter}\`.`,
  );
});

test('weights without a URL are reported', async () => {
  await using folder = await createFolder({
    ...fakeAdapter,
    ...standIn(packages.weights, 'export const tinyFormat = 1;'),
  });
  expect(await refuse('local', folder)).toContain('no export `tinyModelUrl`');
});

test.each([
  ['local:none.gguf', 'llama.unavailable: model_missing', 'file paths are relative to the current folder'],
  ['local:./none', 'llama.unavailable: model_missing', '`holdfast model list`'],
  ['local:broken.gguf', 'llama.unavailable: model_broken', '`holdfast model list`'],
  ['local:text.gguf', 'llama.unavailable: model_broken', 'pull or copy it again'],
  ['local:none', 'usage.invalid: model_unknown Unknown pulled model `none`', '`local:./none.gguf`'],
  ['local:../x', 'llama.unavailable: model_missing', 'x'],
])('`%s` is refused: %s', async (name, code, hint) => {
  // Files beside the folder belong to the test, too.
  await using folder = await createFolder({ 'in/text.gguf': 'not a model', 'in/broken.gguf': 'GGUF and then nothing' });
  await install(folder, ...all);
  const told = await refuse(name, { ...folder, path: join(folder.path, 'in') }, { HOLDFAST_MODELS: 'models' });
  expect(told).toContain(code);
  expect(told).toContain(hint);
});

test.each([
  ['local', packages.weights],
  ['local:x', 'pulled'],
])('a hint for a broken `%s`', async (name, hint) => {
  await using folder = await createFolder({ ...fakeAdapter, ...fakeWeights, 'models/x.gguf': 'GGUF' });
  const fail = (code: string, reason?: string) =>
    vi.stubGlobal(
      'failToLoad',
      Object.assign(new Error('no'), { code, reason, data: { reason }, '~holdfast': 'error' }),
    );
  const environment = { HOLDFAST_MODELS: 'models' };
  fail('llama.unavailable', 'model_broken');
  expect(await refuse(name, folder, environment)).toContain(hint);
  fail('llama.unavailable', 'binding');
  expect(await refuse(name, folder, environment)).toContain('725 MB');
  fail('llama.unavailable', 'memory');
  expect(await refuse(name, folder, environment)).toContain('hint: use a smaller model');
  fail('llama.other');
  expect(await refuse(name, folder, environment)).toBe('llama.other no');
  vi.unstubAllGlobals();
});

test('the packaged model: its format, short answers, one thread; has the requested name and is closed', async () => {
  await using folder = await createFolder({ ...fakeAdapter, ...fakeWeights });
  const opened = await openLocalModel('local', { directory: folder.path, environment: {} });
  expect(opened?.model.id).toBe('local');
  expect(opened?.about).toMatch(/^local is a tiny language model \(0\.0 MB\)/);
  expect(lastLoaded()?.options).toEqual({
    modelPath: expect.any(URL),
    format: { call: '' },
    maxTokens: 160,
    threads: 1,
  });
  expect(opened && (await read(opened.model))).toHaveLength(2);
  await opened?.close();
  expect(lastLoaded()?.closed).toBe(1);
});

test('a pulled model by name, a file by path, with the configured threads', async () => {
  await using folder = await createFolder({ ...fakeAdapter, 'models/qwen.gguf': 'GGUF' });
  const open = (name: string, threads = '') =>
    openLocalModel(name, {
      directory: folder.path,
      environment: { HOLDFAST_MODELS: 'models', HOLDFAST_LOCAL_THREADS: threads },
    });
  expect(await open('local:qwen', '4')).toMatchObject({ model: { id: 'local:qwen' }, about: undefined });
  expect(lastLoaded()?.options).toEqual({ modelPath: join(folder.path, 'models/qwen.gguf'), threads: 4 });
  await open('local:models/qwen.gguf');
  expect(lastLoaded()?.options).toMatchObject({ modelPath: join(folder.path, 'models/qwen.gguf'), threads: 1 });
});

test.each(['0', '-1', '1.5', 'many', '1025'])('%s is not a valid number of threads', async (threads) => {
  await using folder = await createFolder();
  expect(await refuse('local', folder, { HOLDFAST_LOCAL_THREADS: threads })).toContain(
    `usage.invalid: threads_invalid \`HOLDFAST_LOCAL_THREADS\` must be an integer from 1 to 1024, got \`${threads}\``,
  );
});

test.each([
  ['a run that completes', ['run', 'Hello'], 0],
  ['a usage error', ['run', 'Hello', '--allow', 'nothing'], 2],
  ['an invalid plan', ['plan', 'Hello'], 1],
])('%s: the model is loaded last and closed', async (_, words, exitCode) => {
  await using folder = await createFolder({ ...fakeAdapter, ...fakeWeights });
  vi.stubGlobal('loaded', undefined);
  const ended = await runHere([...words, '--model', 'local'], { directory: folder.path });
  expect(ended.exitCode).toBe(exitCode);
  expect(lastLoaded()?.closed).toBe(words.includes('--allow') ? undefined : 1);
  vi.unstubAllGlobals();
});

test('a run that stops early closes the model, too', async () => {
  await using folder = await createFolder({ ...fakeAdapter, ...fakeWeights });
  const openLog = (): never => {
    throw new Error('no room');
  };
  const ended = await runHere(['run', 'Hello', '--model', 'local'], { directory: folder.path, openLog });
  expect(ended).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no room') });
  expect(lastLoaded()?.closed).toBe(1);
});

test('Ctrl-C during an answer closes the model, too', async () => {
  await using folder = await createFolder({ ...fakeAdapter, ...fakeWeights });
  vi.stubGlobal('loaded', undefined);
  vi.stubGlobal('hang', true);
  const { host, interrupt } = createTestHost({ directory: folder.path });
  const ended = runProgram(['run', 'Hello', '--model', 'local'], host, '0');
  await vi.waitFor(() => expect(lastLoaded()?.asked).toBe(true));
  interrupt('ctrl-c');
  expect(await ended).toBe(130);
  expect(lastLoaded()?.closed).toBe(1);
  vi.unstubAllGlobals();
});

const publish = `export const METADATA = {
  name: 'publish', function: 'publish', description: 'Publishes.', dangerous: true, parameters: { type: 'object' },
};
export const publish = () => 'published';
`;

test('a suspended run resumes with its model, which is closed after both', async () => {
  await using folder = await createFolder({ ...fakeAdapter, ...fakeWeights, 'plugins/publish.mjs': publish });
  vi.stubGlobal('loaded', undefined);
  vi.stubGlobal('calls', [{ id: '1', name: 'publish', arguments: {} }]);
  const inFolder = { directory: folder.path };
  const waiting = await runHere(['run', 'Publish', '--model', 'local', '--suspend'], inFolder);
  expect(waiting.exitCode).toBe(3);
  const first = lastLoaded();
  const [, id = '', call = ''] = /approve (\S+) (\S+)/.exec(waiting.stdout) ?? [];
  await runHere(['approve', id, call], inFolder);
  const { exitCode, stdout } = await runHere(['resume', id], inFolder);
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(/ok +publish/) });
  expect([first?.closed, lastLoaded()?.closed, lastLoaded() === first]).toEqual([1, 1, false]);
  vi.unstubAllGlobals();
});

test('at a terminal a run begins with a notice about the tiny model; elsewhere only with its name', async () => {
  await using folder = await createFolder({ ...fakeAdapter, ...fakeWeights });
  const words = ['run', 'Hello', '--model', 'local'];
  const shown = await runHere(words, { directory: folder.path, terminals: ['stdout'], columns: 200 });
  expect(shown.stdout).toMatch(/^local is a tiny language model [\s\S]* makes many mistakes[\s\S]*\nlocal · /);
  expect((await runHere(words, { directory: folder.path })).stdout).toMatch(/^local · /);
});

test.each([
  ['local', 'wind: 7\nsky: clear'],
  // A model from a file may phrase results itself.
  ['local:x.gguf', 'Hi.'],
])('D14: the answer of `%s` to a tool result: %s', async (name, text) => {
  await using folder = await createFolder({
    ...fakeAdapter,
    ...fakeWeights,
    'x.gguf': 'GGUF',
    'plugins/get_weather.mjs': toTool('get_weather', "return { wind: 7, sky: 'clear' };"),
  });
  vi.stubGlobal('calls', [{ id: '1', name: 'get_weather', arguments: {} }]);
  const ended = await runHere(['run', 'Weather?', '--model', name, '--json'], { directory: folder.path });
  vi.unstubAllGlobals();
  expect(ended.exitCode).toBe(0);
  expect(linesOf(ended).at(-1)).toMatchObject({ type: 'run-end', status: 'completed', text });
});

/** A workspace with one working tool, and the checkout's packages. */
async function createWorkspace(): Promise<TestFolder> {
  const folder = await createFolder({
    'plugins/get_weather.mjs': toTool('get_weather', 'return "sunny";'),
    'script.json': script('get_weather'),
  });
  await install(folder, ...all);
  return folder;
}

function linesOf({ stdout }: Ended): readonly { readonly type: string }[] {
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test('for real: stdout has only events, the model answers, and the process ends by itself', async () => {
  await using folder = await createWorkspace();
  const ended = await runMain(['run', 'What is the weather like?', '--model', 'local', '--json', '--max-rounds', '2'], {
    folder: folder.path,
  });
  const events = linesOf(ended);
  expect(events[0]?.type).toBe('run-start');
  expect(events).toContainEqual(expect.objectContaining({ type: 'model-message', usage: expect.any(Object) }));
  // It asks for one of the available tools, no matter which.
  const calls = events.flatMap((event) => ('name' in event && event.type === 'tool-call-end' ? [event.name] : []));
  const there = ['get_weather', ...fileTools().map(({ name }) => name)];
  expect(calls.filter((name) => !there.includes(String(name)))).toEqual([]);
  expect(events.at(-1)?.type).toBe('run-end');
  expect(ended.stderr).toBe('');
});

test('for real: a model file', async () => {
  await using folder = await createWorkspace();
  await copyFile(weights, join(folder.path, 'copy.gguf'));
  // The tools do not fit in the context of a model without a template, which is a regular outcome.
  const ended = await runMain(['run', 'Hello', '--model', 'local:copy.gguf', '--json'], { folder: folder.path });
  expect(linesOf(ended).at(-1)).toMatchObject({ type: 'run-end', error: { code: 'model.context_overflow' } });
});

test('for real: a broken file, and nothing of llama.cpp on stdout', async () => {
  await using folder = await createWorkspace();
  const bytes = await readFile(weights);
  await writeFile(join(folder.path, 'cut.gguf'), bytes.subarray(0, bytes.length / 2));
  const broken = await runMain(['run', 'Hello', '--model', 'local:cut.gguf', '--json'], { folder: folder.path });
  expect(broken).toMatchObject({ exitCode: 2, stdout: '' });
  expect(broken.stderr).toMatch(/^error: .*cut\.gguf.* \(llama\.unavailable: model_broken\)\n {2}hint: .*\n$/);
});

test('for real: without the packages nothing runs', async () => {
  const ended = await runMain(['run', 'Hello', '--model', 'local']);
  expect(ended).toMatchObject({ exitCode: 2, stdout: '' });
  expect(ended.stderr).toMatch(
    /npm install @holdfast\/adapter-llama-cpp @holdfast\/model-tiny node-llama-cpp`.*\n {2}hint: /,
  );
});
