import { isHoldfastError } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { openModel } from './open.ts';

/** A provider package of the AI SDK, whose model returns its own name. */
const provider = `const languageModel = (modelId) => ({
  specificationVersion: 'v4', provider: 'fake', modelId,
  doStream: async () => ({ stream: ReadableStream.from([
    { type: 'text-delta', id: '1', delta: 'from ' + modelId },
    { type: 'finish', finishReason: { unified: 'stop' }, usage: {} },
  ]) }),
});
export const aardvark = { languageModel: (modelId) => languageModel('wrong ' + modelId) };
export const openAI = Object.assign(languageModel, { languageModel });
export const VERSION = '1';
`;
const manifest = (exports: unknown): string => JSON.stringify({ name: 'fake', type: 'module', exports });
const esm = manifest({ '.': { types: './index.d.ts', import: './main.mjs' } });

function install(name: string, source: string, packageJson = esm): Record<string, string> {
  return { [`node_modules/${name}/package.json`]: packageJson, [`node_modules/${name}/main.mjs`]: source };
}

interface Trial {
  readonly files?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
}

/** The text of the model, or the code and message of the error. */
async function ask(name: string, { files = {}, environment = {} }: Trial = {}): Promise<string> {
  await using folder = await createFolder(files);
  try {
    await using opened = await openModel(name, { directory: folder.path, environment, models: new Map() });
    const { model } = opened;
    const request = { messages: [], tools: [], signal: new AbortController().signal };
    for await (const event of model.stream(request))
      if (event.type === 'text-delta') return `${model.id}: ${event.text}`;
    return model.id;
  } catch (thrown) {
    if (!isHoldfastError(thrown)) throw thrown;
    return `${describeCode(thrown)} ${thrown.message}`;
  }
}

const key = { OPENAI_API_KEY: 'k' };

test.each<[string, string, Trial]>([
  ['a provider by its name', 'openai:gpt-5', { files: install('@ai-sdk/openai', provider), environment: key }],
  [
    'a package by its name',
    '@acme/openai:gpt-5',
    { files: install('@acme/openai', provider.replace('aardvark', 'zebra')) },
  ],
  [
    'nested conditions',
    'openai:gpt-5',
    {
      files: install('@ai-sdk/openai', provider, manifest({ node: { require: './no.cjs', default: ['./main.mjs'] } })),
      environment: key,
    },
  ],
  [
    'a single export',
    'openai:gpt-5',
    { files: install('@ai-sdk/openai', provider, manifest('./main.mjs')), environment: key },
  ],
  [
    'a package without exports',
    'openai:gpt-5',
    { files: install('@ai-sdk/openai', provider, '{"type":"module","main":"main.mjs"}'), environment: key },
  ],
])('%s opens its model', async (_, name, trial) => {
  expect(await ask(name, trial)).toBe('fake:gpt-5: from gpt-5');
});

test('a model name may contain colons', async () => {
  expect(await ask('openai:ft:gpt-5:me', { files: install('@ai-sdk/openai', provider), environment: key })).toBe(
    'fake:ft:gpt-5:me: from ft:gpt-5:me',
  );
});

test('a package is found in a parent folder', async () => {
  await using folder = await createFolder({ ...install('@ai-sdk/openai', provider), 'inner/file': '' });
  await using opened = await openModel('openai:gpt-5', {
    directory: `${folder.path}/inner`,
    environment: key,
    models: new Map(),
  });
  expect(opened.model.id).toBe('fake:gpt-5');
});

const compatible = `export const createOpenAICompatible = ({ name, baseURL, apiKey, includeUsage }) => ({
  languageModel: (modelId) => ({
    specificationVersion: 'v3', provider: name, modelId,
    doStream: async () => ({ stream: ReadableStream.from([
      { type: 'text-delta', id: '1', delta: [baseURL, apiKey, includeUsage].join(' ') },
    ]) }),
  }),
});`;

test('an OpenAI-compatible server is configured by variables', async () => {
  const files = install('@ai-sdk/openai-compatible', compatible);
  const environment = { OPENAI_COMPATIBLE_BASE_URL: 'http://localhost:1/v1', OPENAI_COMPATIBLE_API_KEY: 'k' };
  expect(await ask('openai-compatible:llama3:8b', { files, environment })).toBe(
    'openai-compatible:llama3:8b: http://localhost:1/v1 k true',
  );
});

test.each<[string, string, Trial]>([
  [
    'openai:gpt-5',
    'usage.invalid: provider_missing `openai:gpt-5` requires the package `@ai-sdk/openai`, which is not installed here. Run `npm install @ai-sdk/openai`.',
    { environment: key },
  ],
  ['@acme/models:one', 'Run `npm install @acme/models`', {}],
  [
    'openai:gpt-5',
    'usage.invalid: key_missing `openai:gpt-5` requires a key: set the environment variable `OPENAI_API_KEY`.',
    { files: install('@ai-sdk/openai', provider) },
  ],
  [
    'google:gemini',
    '`GOOGLE_GENERATIVE_AI_API_KEY`',
    { files: install('@ai-sdk/google', provider), environment: { GOOGLE_GENERATIVE_AI_API_KEY: ' ' } },
  ],
  [
    'openai-compatible:m',
    'usage.invalid: base_url_missing `openai-compatible:m` requires a server URL: set `OPENAI_COMPATIBLE_BASE_URL`',
    { files: install('@ai-sdk/openai-compatible', compatible) },
  ],
  [
    '@acme/empty:one',
    'usage.invalid: provider_unusable Cannot use `@acme/empty` for `@acme/empty:one`: it does not export an AI SDK provider.',
    { files: install('@acme/empty', 'export {};') },
  ],
  [
    '@acme/throws:one',
    'usage.invalid: provider_unusable Cannot use `@acme/throws` for `@acme/throws:one`: no such luck',
    { files: install('@acme/throws', "throw new Error('no such luck');") },
  ],
  [
    '@acme/old:one',
    'usage.invalid: provider_unusable Cannot use `@acme/old` for `@acme/old:one`: `aiSdkModel` requires',
    { files: install('@acme/old', provider.replace("'v4'", "'v1'")) },
  ],
  [
    'openai-compatible:m',
    'usage.invalid: provider_unusable Cannot use `@ai-sdk/openai-compatible` for `openai-compatible:m`: it does not export `createOpenAICompatible`.',
    { files: install('@ai-sdk/openai-compatible', 'export {};'), environment: { OPENAI_COMPATIBLE_BASE_URL: 'x' } },
  ],
  [
    'openai-compatible:m',
    'its `createOpenAICompatible` does not return an AI SDK provider',
    {
      files: install('@ai-sdk/openai-compatible', 'export const createOpenAICompatible = () => null;'),
      environment: { OPENAI_COMPATIBLE_BASE_URL: 'x' },
    },
  ],
  [
    'gpt-5',
    'usage.invalid: model_unknown Unknown model `gpt-5`. Use `offline`, `local`, `local:<file>`, `script:<file>` or `<provider>:<model>`',
    {},
  ],
  ['openai:', 'usage.invalid: model_unknown', {}],
  ['local:', 'usage.invalid: model_unknown Unknown model `local:`', {}],
  ['script:', 'usage.invalid: model_unknown', {}],
  ['../evil:x', 'usage.invalid: model_unknown', {}],
  ['a/b/c:x', 'usage.invalid: model_unknown', {}],
  ['script:none.json', 'usage.invalid: script_unreadable', {}],
  ['script:bad.json', 'script.invalid', { files: { 'bad.json': '1' } }],
])('%s is refused: %s', async (name, told, trial) => {
  expect(await ask(name, trial)).toContain(told);
});

test('the offline model and scripts need no packages', async () => {
  expect(await ask('offline')).toContain('offline');
  expect(await ask('script:one.json', { files: { 'one.json': '{"turns":[{"text":"Hi"}]}' } })).toBe(
    'script:one.json: Hi',
  );
});
