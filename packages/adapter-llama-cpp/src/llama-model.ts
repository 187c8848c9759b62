import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HoldfastError, isHoldfastError, type Model } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import type { ConversationFormat } from '@holdfast/core/types';
import type { LlamaContext, LlamaModel as LoadedModel } from 'node-llama-cpp';
import { type Answering, Grammars } from './answering.ts';
import { type Binding, importBinding, startLlama } from './binding.ts';
import { answerInChat } from './chat-answer.ts';
import { answerInFormat } from './format-answer.ts';
import type { LoweredSchema } from './grammar.ts';
import { readWhile } from './read-while.ts';
import { Sequences } from './sequences.ts';

export interface LlamaModelOptions {
  /** Path or `file:` URL of a GGUF file. */
  readonly modelPath: string | URL;
  /** Integer, at least 1; default 1. More threads than idle cores are slower, on a busy machine hundreds of times. */
  readonly threads?: number;
  /** Tokens of one conversation with its answer, at least 16. Default: the length the model was trained with, at most 8,192. */
  readonly contextSize?: number;
  /** Requests answered in parallel, each with its own context; further requests wait in order. Integer, at least 1; default 1. */
  readonly sequences?: number;
  /** Integer, at least 0. With a temperature above 0, the same seed gives the same answer. Default: random. */
  readonly seed?: number;
  /** At least 0. Default 0: always the most likely token. */
  readonly temperature?: number;
  /**
   * Maximum answer length in tokens; a longer answer is cut off and ends with `length`. A request can lower it.
   * Default: the remaining context.
   */
  readonly maxTokens?: number;
  /** The model's conversation format. Default: the chat template in its file. */
  readonly format?: ConversationFormat;
  /** Enforces the schemas of calls and output with a grammar. Default true. `false` is for comparison and requires `format`. */
  readonly constrain?: boolean;
  /** Called once per grammar with the keywords that it does not enforce. */
  readonly onLowered?: (lowered: LoweredSchema) => void;
  /** Imports the binding, for bundled programs. Default `import('node-llama-cpp')`. */
  readonly importBinding?: () => Promise<unknown>;
}

/** A model that runs in this process. */
export interface LlamaModel extends Model, AsyncDisposable {
  /** Tokens of one conversation with its answer. */
  readonly contextSize: number;
  /** Aborts running requests with `llama.unavailable` and frees the memory. Idempotent. */
  close(): Promise<void>;
}

const largestDefaultContext = 8192;
const smallestContext = 16;
/** With more tokens, a size in the binding overflows and the system kills the process. */
const mostTokens = 2 ** 24;

/**
 * Loads a language model from a GGUF file into this process and runs it on the CPU, with llama.cpp from the package
 * `node-llama-cpp`, which you install. The model can only call offered tools.
 *
 * A request throws `model.context_overflow` with `data: { tokens, contextSize }`, `llama.unavailable`, `model.failed`, or
 * the reason of its signal.
 *
 * @throws HoldfastError `options.invalid`, `llama.unavailable` if there is not enough memory for the contexts.
 */
export async function loadLlamaModel(options: LlamaModelOptions): Promise<LlamaModel> {
  checkOptions(options);
  const { threads = 1, sequences = 1, temperature = 0, constrain = true, seed, format } = options;
  const path = typeof options.modelPath === 'string' ? options.modelPath : fileURLToPath(options.modelPath);
  await checkFile(path);
  // The import is trusted to be this package; anything else fails on first use.
  const load = (options.importBinding ?? importBinding) as () => Promise<Binding>;
  const { binding, llama } = await startLlama(load, threads);
  try {
    const model = await llama.loadModel({ modelPath: path, gpuLayers: 0 }).catch((cause: unknown) => {
      throw broken(path, describeThrown(cause), cause);
    });
    const contextSize = options.contextSize ?? Math.min(model.trainContextSize, largestDefaultContext);
    const context = await createContext(model, { contextSize, sequences, threads });
    const answering: Answering = {
      id: `llama:${basename(path).replace(/\.gguf$/i, '')}`,
      binding,
      model,
      sequences: new Sequences(Array.from({ length: sequences }, () => context.getSequence())),
      grammars: new Grammars(llama, options.onLowered),
      batchSize: context.batchSize,
      contextSize,
      maxTokens: options.maxTokens,
      sampling: { temperature, topK: 0, topP: 1, ...(seed === undefined ? {} : { seed }) },
      constrain,
    };
    return toModel(answering, { format, dispose: () => llama.dispose() });
  } catch (error) {
    await llama.dispose();
    throw error;
  }
}

function toModel(
  answering: Answering,
  { format, dispose }: { readonly format: ConversationFormat | undefined; readonly dispose: () => Promise<void> },
): LlamaModel {
  const { id, contextSize, sequences } = answering;
  const answer = format === undefined ? answerInChat(answering) : answerInFormat(format, answering);
  const closing = new AbortController();
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing.abort(
      new HoldfastError('llama.unavailable', `\`${id}\` is closed. Load the model again to use it.`, {
        data: { reason: 'closed' },
      }),
    );
    closed ??= sequences.idle().then(dispose);
    return closed;
  };
  return {
    id,
    contextSize,
    close,
    [Symbol.asyncDispose]: close,
    stream: (request) =>
      readWhile(AbortSignal.any([request.signal, closing.signal]), async (push, stopped) => {
        try {
          await answer(request, push, stopped);
        } catch (cause) {
          if (isHoldfastError(cause)) throw cause;
          const why = describeThrown(cause).slice(0, 300);
          throw new HoldfastError('model.failed', `\`${id}\` failed: ${why}`, { cause });
        }
      }),
  };
}

async function createContext(
  model: LoadedModel,
  { contextSize, sequences, threads }: { contextSize: number; sequences: number; threads: number },
): Promise<LlamaContext> {
  try {
    if (contextSize * sequences > mostTokens) throw new Error(`The total is limited to ${mostTokens} tokens.`);
    return await model.createContext({
      contextSize,
      sequences,
      threads,
      batchSize: Math.min(contextSize * sequences, 512),
      failedCreationRemedy: false,
    });
  } catch (cause) {
    throw new HoldfastError(
      'llama.unavailable',
      `Cannot create ${sequences} contexts of ${contextSize} tokens: ${describeThrown(cause).slice(0, 300)} Lower \`contextSize\` or \`sequences\`.`,
      { data: { reason: 'memory', contextSize, sequences }, cause },
    );
  }
}

const magic = 'GGUF';
/** Magic, version, number of tensors, number of metadata entries. */
const headerBytes = 24;
/** Without name and value. */
const leastTensorBytes = 24;
const leastEntryBytes = 13;

/** The binding trusts the header: counts beyond the file would keep it busy forever. */
async function checkFile(path: string): Promise<void> {
  const start = Buffer.alloc(headerBytes);
  let size: number;
  try {
    await using file = await open(path, 'r');
    await file.read(start, 0, headerBytes, 0);
    ({ size } = await file.stat());
  } catch (cause) {
    throw new HoldfastError(
      'llama.unavailable',
      `Cannot read the model \`${path}\`: ${describeThrown(cause)}. Expected a GGUF file.`,
      { data: { reason: 'model_missing', path }, cause },
    );
  }
  if (start.toString('latin1', 0, magic.length) !== magic) throw broken(path, `it does not start with \`${magic}\``);
  const version = start.readUInt32LE(4);
  if (version < 2 || version > 3) throw broken(path, `version ${version} is not supported, only 2 and 3`);
  const tensors = Number(start.readBigUInt64LE(8));
  const entries = Number(start.readBigUInt64LE(16));
  if (headerBytes + tensors * leastTensorBytes + entries * leastEntryBytes > size) {
    throw broken(path, `${size} bytes are too few for the ${tensors} tensors and ${entries} entries in its header`);
  }
}

function broken(path: string, why: string, cause?: unknown): HoldfastError {
  return new HoldfastError(
    'llama.unavailable',
    `llama.cpp cannot load \`${path}\` as a GGUF file: ${why.slice(0, 300)}. Compare its size and checksum with the original.`,
    { data: { reason: 'model_broken', path }, cause },
  );
}

function checkOptions(options: LlamaModelOptions): void {
  const { modelPath, temperature = 0, format, constrain = true } = options;
  if (!(modelPath instanceof URL) && (typeof modelPath !== 'string' || modelPath === '')) {
    throw invalid('modelPath', 'the path of a GGUF file, or its `file:` URL', modelPath);
  }
  if (modelPath instanceof URL && modelPath.protocol !== 'file:')
    throw invalid('modelPath', 'a `file:` URL', modelPath.href);
  const counts = [
    ['threads', options.threads, 1],
    ['contextSize', options.contextSize, smallestContext],
    ['sequences', options.sequences, 1],
    ['seed', options.seed, 0],
    ['maxTokens', options.maxTokens, 1],
  ] as const;
  for (const [name, value, least] of counts) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= least && value < 2 ** 31)) {
      throw invalid(name, `an integer of at least ${least}`, value);
    }
  }
  if ((options.contextSize ?? 0) * (options.sequences ?? 1) > mostTokens) {
    throw invalid('contextSize', `at most ${mostTokens} for all \`sequences\` together`, options.contextSize);
  }
  if (!(Number.isFinite(temperature) && temperature >= 0))
    throw invalid('temperature', 'a number of at least 0', temperature);
  const { callShare = 0 } = format ?? {};
  if (!(callShare >= 0 && callShare <= 1)) throw invalid('format.callShare', 'a number from 0 to 1', callShare);
  if (!constrain && format === undefined) throw invalid('constrain', 'true without a `format`', constrain);
}

function invalid(name: string, expected: string, value: unknown): HoldfastError {
  return new HoldfastError('options.invalid', `\`${name}\` must be ${expected}, got \`${String(value)}\`.`);
}
