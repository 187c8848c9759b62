import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ConversationFormat, describeThrown, HoldfastError, isHoldfastError, type Model } from '@holdfast/core';
import type { LlamaContext, LlamaModel as LoadedModel } from 'node-llama-cpp';
import { type Answering, Grammars } from './answering.ts';
import { type Binding, importBinding, startLlama } from './binding.ts';
import { answerInChat } from './chat-answer.ts';
import { answerInFormat } from './format-answer.ts';
import type { LoweredSchema } from './grammar.ts';
import { readWhile } from './read-while.ts';
import { Sequences } from './sequences.ts';

export interface LlamaModelOptions {
  /** A GGUF file. */
  readonly modelPath: string | URL;
  /** Integer from 1 on, default 1: more than there are idle cores make it slower, hundreds of times on busy ones. */
  readonly threads?: number;
  /** Tokens of one conversation with its answer, from 16 on. Default: what the model was trained on, at most 8,192. */
  readonly contextSize?: number;
  /** Requests that are answered side by side, each with a context of its own; more wait in order. Integer from 1 on, default 1. */
  readonly sequences?: number;
  /** Integer from 0 on: with a temperature above 0, the same one gives the same answer. Default: another one each time. */
  readonly seed?: number;
  /** From 0 on. Default 0: always the likeliest token. */
  readonly temperature?: number;
  /**
   * Longest answer, in tokens; a longer one is cut and ends with `length`. A request may want a shorter one. Default: what the context has
   * room for.
   */
  readonly maxTokens?: number;
  /** How the model is written to. Default: by the chat template in its file. */
  readonly format?: ConversationFormat;
  /** Whether calls and output are held to their schemas by a grammar. Default true. `false` is for comparing, and needs `format`. */
  readonly constrain?: boolean;
  /** Told of what a grammar does not hold of a schema, once a grammar. */
  readonly onLowered?: (lowered: LoweredSchema) => void;
  /** Imports the binding, for programs that are bundled. Default `import('node-llama-cpp')`. */
  readonly importBinding?: () => Promise<unknown>;
}

/** A model in this process. */
export interface LlamaModel extends Model, AsyncDisposable {
  /** Tokens of one conversation with its answer. */
  readonly contextSize: number;
  /** Ends what is being answered, with `llama.closed`, and frees the memory. May be called again. */
  close(): Promise<void>;
}

const largestDefaultContext = 8192;
const smallestContext = 16;
/** Beyond, the memory that the binding reckons with overflows, and the system ends the process. */
const mostTokens = 2 ** 24;

/**
 * Loads a language model from a GGUF file into this process, for processors, with llama.cpp from the package `node-llama-cpp`, which
 * is installed by whoever uses this one. A call of a tool that was not offered cannot be written.
 *
 * While it is asked it throws `model.context_overflow` with `data: { tokens, contextSize }`, `llama.closed`, `model.failed`, and the
 * reason of the request's signal.
 *
 * @throws HoldfastError `options.invalid`, `llama.binding_missing`, `llama.model_missing`, `llama.model_broken`, and
 * `llama.context_failed` when there is not enough memory for the contexts.
 */
export async function loadLlamaModel(options: LlamaModelOptions): Promise<LlamaModel> {
  checkOptions(options);
  const { threads = 1, sequences = 1, temperature = 0, constrain = true, seed, format } = options;
  const path = typeof options.modelPath === 'string' ? options.modelPath : fileURLToPath(options.modelPath);
  await checkFile(path);
  // Whatever is imported is used as this package, or fails when it is.
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
    closing.abort(new HoldfastError('llama.closed', `\`${id}\` was closed. Load it again to ask it.`));
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
    if (contextSize * sequences > mostTokens) throw new Error(`At most ${mostTokens} tokens are taken together.`);
    return await model.createContext({
      contextSize,
      sequences,
      threads,
      batchSize: Math.min(contextSize * sequences, 512),
      failedCreationRemedy: false,
    });
  } catch (cause) {
    throw new HoldfastError(
      'llama.context_failed',
      `There is no room for ${sequences} contexts of ${contextSize} tokens: ${describeThrown(cause).slice(0, 300)} Lower \`contextSize\` or \`sequences\`.`,
      { data: { contextSize, sequences }, cause },
    );
  }
}

const magic = 'GGUF';
/** Magic, version, and the numbers of tensors and of entries about the model. */
const headerBytes = 24;
/** Without name and value. */
const leastTensorBytes = 24;
const leastEntryBytes = 13;

/** The binding believes what the header says: numbers beyond the file keep it busy for ever. */
async function checkFile(path: string): Promise<void> {
  const start = Buffer.alloc(headerBytes);
  let size: number;
  try {
    await using file = await open(path, 'r');
    await file.read(start, 0, headerBytes, 0);
    ({ size } = await file.stat());
  } catch (cause) {
    throw new HoldfastError(
      'llama.model_missing',
      `There is no model to read at \`${path}\`: ${describeThrown(cause)}. Expected a GGUF file.`,
      { data: { path }, cause },
    );
  }
  if (start.toString('latin1', 0, magic.length) !== magic) throw broken(path, `it does not begin with \`${magic}\``);
  const version = start.readUInt32LE(4);
  if (version < 2 || version > 3) throw broken(path, `its version is ${version}, and 2 and 3 are known`);
  const tensors = Number(start.readBigUInt64LE(8));
  const entries = Number(start.readBigUInt64LE(16));
  if (headerBytes + tensors * leastTensorBytes + entries * leastEntryBytes > size) {
    throw broken(path, `${size} bytes are too few for the ${tensors} tensors and ${entries} entries that it announces`);
  }
}

function broken(path: string, why: string, cause?: unknown): HoldfastError {
  return new HoldfastError(
    'llama.model_broken',
    `\`${path}\` is no GGUF file that llama.cpp can load: ${why.slice(0, 300)}. Compare its size and checksum with where it came from.`,
    { data: { path }, cause },
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
      throw invalid(name, `an integer from ${least} on`, value);
    }
  }
  if ((options.contextSize ?? 0) * (options.sequences ?? 1) > mostTokens) {
    throw invalid('contextSize', `at most ${mostTokens} for all \`sequences\` together`, options.contextSize);
  }
  if (!(Number.isFinite(temperature) && temperature >= 0))
    throw invalid('temperature', 'a number from 0 on', temperature);
  const { callShare = 0 } = format ?? {};
  if (!(callShare >= 0 && callShare <= 1)) throw invalid('format.callShare', 'a number from 0 to 1', callShare);
  if (!constrain && format === undefined) throw invalid('constrain', 'true where there is no `format`', constrain);
}

function invalid(name: string, expected: string, value: unknown): HoldfastError {
  return new HoldfastError('options.invalid', `\`${name}\` must be ${expected}, got \`${String(value)}\`.`);
}
