import {
  type FinishReason,
  HoldfastError,
  type Model,
  type ModelEvent,
  type ModelRequest,
  type ModelUsage,
  type ToolCall,
} from '@holdfast/core';

/** One message of a scripted model. */
export interface ScriptedTurn {
  /** Streamed word by word. */
  readonly text?: string;
  /** Follow the text, in this order. */
  readonly calls?: readonly ToolCall[];
  /** Default: `tool-calls` if there are calls, else `stop`. */
  readonly finish?: FinishReason;
  readonly usage?: ModelUsage;
}

/** One step of a scripted model: a message, a function from the request to a message, or an error to throw. */
export type ScriptStep =
  | ScriptedTurn
  | { readonly throw: unknown }
  | ((request: ModelRequest) => ScriptedTurn | Promise<ScriptedTurn>);

export interface ScriptedModelOptions {
  /** Default `scripted:model`. */
  readonly id?: string;
}

/** A model that plays a script and records its requests. */
export interface ScriptedModel extends Model {
  /** All requests, with the messages at that time. */
  readonly requests: readonly ModelRequest[];
}

/**
 * Creates a model that plays `script`, one step per request. It stops on abort like a real one. A request after the last step throws
 * HoldfastError `script.invalid`.
 */
export function scriptedModel(
  script: readonly ScriptStep[],
  { id = 'scripted:model' }: ScriptedModelOptions = {},
): ScriptedModel {
  const requests: ModelRequest[] = [];
  return {
    id,
    requests,
    stream(request) {
      // An aborted request is not recorded; `play` throws its reason.
      if (!request.signal.aborted) requests.push(new KeptRequest(request));
      return play(script, requests.length - 1, request);
    },
  };
}

/** A recorded request. The caller's array only grows, so its length is enough for a copy. */
class KeptRequest implements ModelRequest {
  readonly tools: ModelRequest['tools'];
  readonly signal: AbortSignal;
  readonly deadline: ModelRequest['deadline'];
  readonly output: ModelRequest['output'];
  readonly maxTokens: ModelRequest['maxTokens'];
  readonly #messages: ModelRequest['messages'];
  readonly #count: number;

  constructor({ messages, tools, signal, deadline, output, maxTokens }: ModelRequest) {
    this.tools = tools;
    this.signal = signal;
    this.deadline = deadline;
    this.output = output;
    this.maxTokens = maxTokens;
    this.#messages = messages;
    this.#count = messages.length;
  }

  get messages(): ModelRequest['messages'] {
    return this.#messages.slice(0, this.#count);
  }
}

async function* play(
  script: readonly ScriptStep[],
  index: number,
  request: ModelRequest,
): AsyncGenerator<ModelEvent, void, undefined> {
  request.signal.throwIfAborted();
  const step = script[index];
  if (step === undefined) {
    throw new HoldfastError(
      'script.invalid',
      `The script has ${script.length} turns and was asked for turn ${index + 1}: add a turn, or end the run earlier.`,
      { data: { reason: 'exhausted', turns: script.length } },
    );
  }
  if (typeof step === 'object' && 'throw' in step) throw step.throw;
  const { text = '', calls = [], finish, usage } = typeof step === 'function' ? await step(request) : step;
  if (text !== '') {
    for (const word of text.split(/(?=\s\S)/)) {
      request.signal.throwIfAborted();
      yield { type: 'text-delta', text: word };
    }
  }
  for (const call of calls) {
    request.signal.throwIfAborted();
    yield { type: 'tool-call', ...call };
  }
  const reason = finish ?? (calls.length > 0 ? 'tool-calls' : 'stop');
  yield { type: 'finish', reason, usage };
}
