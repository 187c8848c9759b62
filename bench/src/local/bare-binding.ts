import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { ModelRequest } from '@holdfast/core';
import { tinyFormat, tinyModelUrl } from '@holdfast/model-tiny';
import { getLlama, type LlamaContextSequence, LlamaLogLevel, type LlamaModel, type Token } from 'node-llama-cpp';
import { maxTokens } from './tiny-model.ts';

/** The binding without our code: the unavoidable cost. */
export interface BareModel extends AsyncDisposable {
  /** Generates an answer and returns its number of tokens. */
  answer(request: ModelRequest): Promise<number>;
  /** Reads a request and generates one token. */
  first(request: ModelRequest): Promise<Token>;
}

export async function loadBare(): Promise<BareModel> {
  const llama = await getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    logLevel: LlamaLogLevel.error,
    maxThreads: 1,
  });
  const model = await llama.loadModel({ modelPath: fileURLToPath(tinyModelUrl), gpuLayers: 0 });
  const context = await model.createContext({ contextSize: model.trainContextSize, threads: 1 });
  const sequence = context.getSequence();
  return {
    answer: async (request) => {
      let count = 0;
      for await (const token of write(model, sequence, request)) {
        count += 1;
        if (model.isEogToken(token) || count >= maxTokens) break;
      }
      return count;
    },
    first: async (request) => {
      for await (const token of write(model, sequence, request)) return token;
      throw new Error('the binding wrote nothing');
    },
    [Symbol.asyncDispose]: () => llama.dispose(),
  };
}

async function* write(
  model: LlamaModel,
  sequence: LlamaContextSequence,
  request: ModelRequest,
): AsyncGenerator<Token, void, undefined> {
  await sequence.clearHistory();
  const tokens = tinyFormat
    .toPrompt(request.messages, request.tools)
    .flatMap((part) => (typeof part === 'string' ? model.tokenize(part) : model.tokenize(part.special, true)));
  yield* sequence.evaluate(tokens, { temperature: 0 });
}

/** The bytes of the model's file, read as any file. */
export async function readModelFile(): Promise<number> {
  const { length } = await readFile(tinyModelUrl);
  return length;
}
