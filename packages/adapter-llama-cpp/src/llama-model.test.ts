import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { tinyFormat, tinyModelUrl } from '@holdfast/model-tiny';
import type { Llama, LlamaOptions } from 'node-llama-cpp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, endOf, light, loadTiny, textOf, user } from './fixtures.ts';
import { type LlamaModelOptions, loadLlamaModel } from './llama-model.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-llama-'));
});
afterAll(() => rm(folder, { recursive: true }));

test.each<[what: string, options: Partial<Record<keyof LlamaModelOptions, unknown>>]>([
  ['no path', { modelPath: '' }],
  ['a path that is a number', { modelPath: 7 }],
  ['an address that is not a file', { modelPath: new URL('https://example.org/model.gguf') }],
  ['no threads', { threads: 0 }],
  ['half a thread', { threads: 1.5 }],
  ['a small context', { contextSize: 15 }],
  ['more tokens than can be counted', { contextSize: 2 ** 20, sequences: 64 }],
  ['no sequence', { sequences: 0 }],
  ['a negative seed', { seed: -1 }],
  ['a negative temperature', { temperature: -0.1 }],
  ['a temperature that is not a number', { temperature: Number.NaN }],
  ['no tokens', { maxTokens: 0 }],
  ['no grammar for a chat template', { constrain: false, format: undefined }],
  ['a share above 1', { format: { ...tinyFormat, callShare: 1.1 } }],
  ['a share that is not a number', { format: { ...tinyFormat, callShare: Number.NaN } }],
  ['a format of another model', { format: { ...tinyFormat, say: '<|nobody|>' } }],
])('`options.invalid`: %s', async (_what, options) => {
  await expect(loadTiny(options as Partial<LlamaModelOptions>)).rejects.toMatchObject({ code: 'options.invalid' });
});

test('`options.invalid`: a special token that the model lacks', async () => {
  await using model = await loadTiny({ format: { ...tinyFormat, toPrompt: () => [{ special: '<|nobody|>' }] } });
  await expect(ask(model, {})).rejects.toMatchObject({ code: 'options.invalid' });
});

test('`llama.unavailable: binding`: the package is not installed', async () => {
  const importBinding = () => import(`${'node-llama-cpp'}-which-nobody-has`);
  await expect(loadTiny({ importBinding })).rejects.toMatchObject({
    code: 'llama.unavailable',
    reason: 'binding',
    message: expect.stringContaining('npm install node-llama-cpp@3'),
  });
});

test('`llama.unavailable: binding`: the package has no binary for this machine', async () => {
  const importBinding = async () => ({ getLlama: () => Promise.reject(new Error('NoBinaryFoundError')) });
  await expect(loadTiny({ importBinding })).rejects.toMatchObject({
    code: 'llama.unavailable',
    reason: 'binding',
    message: expect.stringContaining('no llama.cpp binary'),
  });
});

test('`llama.unavailable: model_missing`: a missing file, and a folder', async () => {
  for (const modelPath of [join(folder, 'none.gguf'), folder]) {
    await expect(loadTiny({ modelPath })).rejects.toMatchObject({
      code: 'llama.unavailable',
      reason: 'model_missing',
      data: { path: modelPath },
    });
  }
});

test('`llama.unavailable: model_broken`: not GGUF, truncated, or damaged at the start', async () => {
  const whole = await readFile(tinyModelUrl);
  const damaged = Buffer.from(whole);
  damaged.fill(0xff, 8, 400);
  const files = {
    text: Buffer.from('GG'),
    empty: Buffer.of(),
    cut: whole.subarray(0, whole.length / 2),
    head: whole.subarray(0, 300),
    damaged,
    // These would keep the binding busy forever.
    words: Buffer.from('GGUF and then nothing of the kind'),
    version: Buffer.concat([Buffer.from('GGUF'), Buffer.from([4, 0, 0, 0]), whole.subarray(8)]),
    counts: Buffer.concat([whole.subarray(0, 16), Buffer.from([0, 0, 0, 0, 0, 0, 1, 0]), whole.subarray(24)]),
  };
  for (const [name, bytes] of Object.entries(files)) {
    const modelPath = join(folder, `${name}.gguf`);
    await writeFile(modelPath, bytes);
    await expect(loadTiny({ modelPath }), name).rejects.toMatchObject({
      code: 'llama.unavailable',
      reason: 'model_broken',
      data: { path: modelPath },
    });
  }
});

test('`llama.unavailable: memory`: not enough memory', async () => {
  // Faked: a machine may have more memory than a test can request.
  const importBinding = async () => {
    const binding = await import('node-llama-cpp');
    const getLlama = async (options: LlamaOptions): Promise<Llama> => {
      const llama = await binding.getLlama(options);
      const loadModel = llama.loadModel.bind(llama);
      llama.loadModel = async (given) => {
        const model = await loadModel(given);
        model.createContext = () => Promise.reject(new Error('The context size is too large for the available RAM.'));
        return model;
      };
      return llama;
    };
    return { ...binding, getLlama };
  };
  await expect(loadTiny({ importBinding, contextSize: 4096, sequences: 2 })).rejects.toMatchObject({
    code: 'llama.unavailable',
    reason: 'memory',
    data: { contextSize: 4096, sequences: 2 },
    message: expect.stringContaining('too large for the available RAM'),
  });
});

test('`llama.unavailable: memory`: too many sequences of the default length', async () => {
  await expect(loadTiny({ sequences: 2 ** 20 })).rejects.toMatchObject({
    code: 'llama.unavailable',
    reason: 'memory',
    data: { contextSize: 768, sequences: 2 ** 20 },
    message: expect.stringContaining('limited to 16777216 tokens'),
  });
});

test('a path and its URL load the same model, whose id is the file name', async () => {
  const modelPath = join(folder, 'copy.gguf');
  await writeFile(modelPath, await readFile(tinyModelUrl));
  for (const path of [modelPath, pathToFileURL(modelPath)]) {
    await using model = await loadLlamaModel({ modelPath: path, format: tinyFormat });
    expect(model).toMatchObject({ id: 'llama:copy', contextSize: 768 });
  }
});

test('`model.context_overflow`: a conversation that fills the context is rejected, not truncated', async () => {
  await using model = await loadTiny({ contextSize: 64 });
  const error = await ask(model, { messages: user('word '.repeat(64)) }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'model.context_overflow', data: { contextSize: 64 } });
  expect(textOf(await ask(model, {}))).not.toBe('');
});

test('`model.context_overflow`: a word of a million letters is rejected quickly', async () => {
  await using model = await loadTiny();
  for (const text of ['x'.repeat(1_000_000), 'word '.repeat(200_000)]) {
    await expect(ask(model, { messages: user(text) })).rejects.toMatchObject({
      code: 'model.context_overflow',
      message: expect.stringContaining('more than'),
    });
  }
});

test('an answer that reaches the end of the context is cut off', async () => {
  await using model = await loadTiny({ contextSize: 16 });
  const messages = user('Hi it');
  const end = endOf(await ask(model, { messages }));
  expect(end).toMatchObject({ reason: 'length' });
  expect((end.usage?.inputTokens ?? 0) + (end.usage?.outputTokens ?? 0)).toBe(16);
});

test.each([
  ['of the model', { maxTokens: 5 }, {}],
  ['of a request', {}, { maxTokens: 5 }],
  ['of a request that is lower', { maxTokens: 9 }, { maxTokens: 5 }],
  ['of a request that is higher', { maxTokens: 5 }, { maxTokens: 9 }],
])('`maxTokens` %s cuts off a text and drops an incomplete call', async (_, options, wish) => {
  await using model = await loadTiny(options);
  const text = await ask(model, { ...wish, messages: user('Tell me a joke') });
  expect(endOf(text)).toMatchObject({ reason: 'length', usage: { outputTokens: 5 } });
  const call = await ask(model, { ...wish, messages: user('Set light in kitchen room with on true.'), tools: [light] });
  expect(call).toEqual([
    { type: 'finish', reason: 'length', usage: { inputTokens: expect.any(Number), outputTokens: 5 } },
  ]);
});

test('`llama.unavailable: closed`: while answering, while waiting, afterwards, and twice', async () => {
  const model = await loadTiny();
  const running = model.stream({ messages: user('Tell me a joke'), tools: [], signal: new AbortController().signal });
  const events = running[Symbol.asyncIterator]();
  await events.next();
  const waiting = ask(model, {}).catch((thrown: unknown) => thrown);
  const closing = model.close();
  await expect(events.next()).rejects.toMatchObject({ code: 'llama.unavailable', reason: 'closed' });
  expect(await waiting).toMatchObject({ code: 'llama.unavailable', reason: 'closed' });
  await closing;
  await model.close();
  await expect(ask(model, {})).rejects.toMatchObject({ code: 'llama.unavailable', reason: 'closed' });
});

test('`model.failed`: the binding throws, and the next request is answered', async () => {
  let isBroken = true;
  const importBinding = async () => {
    const binding = await import('node-llama-cpp');
    const LlamaGrammarEvaluationState = new Proxy(binding.LlamaGrammarEvaluationState, {
      construct(target, given) {
        if (isBroken) throw new Error('the line is down');
        return Reflect.construct(target, given);
      },
    });
    return { ...binding, LlamaGrammarEvaluationState };
  };
  await using model = await loadTiny({ importBinding });
  const output = { type: 'object', properties: { yes: { type: 'boolean' } }, required: ['yes'] };
  await expect(ask(model, { output })).rejects.toMatchObject({
    code: 'model.failed',
    message: expect.stringContaining('the line is down'),
  });
  isBroken = false;
  expect(endOf(await ask(model, { output })).reason).toBe('stop');
});
