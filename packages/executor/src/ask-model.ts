import {
  copyJson,
  describeThrown,
  type FinishReason,
  isHoldfastError,
  type Json,
  type JsonObject,
  type Message,
  type Model,
  type ModelEvent,
  type ModelUsage,
  type ThrownError,
  type ToolCall,
  type ToolDeclaration,
  toModelUsage,
} from '@holdfast/core';
import { isThenable } from './invoke.ts';
import type { EndOfLife, Lifetime } from './lifetime.ts';

/** What came of asking a model for its next message. */
export type Asked =
  | {
      readonly type: 'message';
      readonly text: string;
      readonly calls: readonly ToolCall[];
      readonly reason: FinishReason;
      readonly usage: ModelUsage | undefined;
      readonly providerMetadata: Json | undefined;
    }
  | { readonly type: 'ended'; readonly by: EndOfLife; readonly text: string }
  | { readonly type: 'failed'; readonly error: ThrownError; readonly text: string };

export interface AskModelOptions {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDeclaration[];
  readonly output: JsonObject | undefined;
  readonly signal: AbortSignal;
  readonly lifetime: Lifetime;
  readonly onText: ((text: string) => void) | undefined;
}

/**
 * Reads one message from the model's stream. Never rejects, and does not wait for a model that ignores its signal. Calls are as
 * the model sent them, whatever that is; a reason that is none is `other`, and token counts that are none are not reported.
 */
export async function askModel(
  model: Model,
  { messages, tools, output, signal, lifetime, onText }: AskModelOptions,
): Promise<Asked> {
  const calls: ToolCall[] = [];
  let text = '';
  let endedBy: EndOfLife = 'aborted';
  let isEnded = false;
  let stopWaiting: () => void = () => undefined;
  const stopListening = lifetime.onEnd((by) => {
    endedBy = by;
    isEnded = true;
    stopWaiting();
  });
  // A race against one promise for all steps would keep each of them until the last.
  const beforeTheEnd = (next: PromiseLike<Step>): Promise<Step | typeof isOver> =>
    new Promise((resolve, reject) => {
      stopWaiting = () => resolve(isOver);
      if (isEnded) stopWaiting();
      next.then(resolve, reject);
    });
  let iterator: AsyncIterator<ModelEvent> | undefined;
  try {
    const stream: unknown = model.stream({ messages, tools, output, signal, deadline: lifetime.deadline });
    if (!isAsyncIterable(stream)) {
      // The rejection of an async function, which nobody will hear, must not end the process.
      void Promise.allSettled([stream]);
      return wrong('`stream` of the model answered with what is no async iterable.', text);
    }
    iterator = stream[Symbol.asyncIterator]();
    for (;;) {
      const next: Step | PromiseLike<Step> = iterator.next();
      // That costs as much as the rest of a short message, so it is left out where nothing can end the run.
      const step = await (lifetime.endless || !isThenable(next) ? next : beforeTheEnd(next));
      if (step === isOver) return { type: 'ended', by: endedBy, text };
      if (step.done === true) return wrong('The model ended its message without `finish`.', text);
      const event = step.value;
      switch (event.type) {
        case 'text-delta': {
          const delta: unknown = event.text;
          if (typeof delta !== 'string') return wrong('The model sent a `text-delta` whose `text` is no string.', text);
          text += delta;
          onText?.(delta);
          break;
        }
        case 'tool-call':
          calls.push({ id: event.id, name: event.name, arguments: event.arguments });
          break;
        case 'finish':
          return {
            type: 'message',
            text,
            calls,
            reason: finishReasons.has(event.reason) ? event.reason : 'other',
            usage: toModelUsage(event.usage),
            providerMetadata: event.providerMetadata,
          };
        default: {
          const type = String((event satisfies never as ModelEvent).type);
          return wrong(`The model sent an event of unknown type \`${type}\`.`, text);
        }
      }
    }
  } catch (thrown) {
    if (lifetime.ended !== undefined) return { type: 'ended', by: lifetime.ended, text };
    return { type: 'failed', error: toThrownError(thrown), text };
  } finally {
    stopListening();
    void closeStream(iterator);
  }
}

type Step = IteratorResult<ModelEvent>;

const isOver: unique symbol = Symbol('the run is over');

const finishReasons: ReadonlySet<FinishReason> = new Set(['stop', 'tool-calls', 'length', 'content-filter', 'other']);

function wrong(message: string, text: string): Asked {
  return { type: 'failed', error: { name: 'ModelError', message }, text };
}

function isAsyncIterable(value: unknown): value is AsyncIterable<ModelEvent> {
  return (
    typeof value === 'object' &&
    value !== null &&
    Symbol.asyncIterator in value &&
    typeof value[Symbol.asyncIterator] === 'function'
  );
}

/** Lets the model clean up, without waiting for it. */
async function closeStream(iterator: AsyncIterator<ModelEvent> | undefined): Promise<void> {
  try {
    await iterator?.return?.();
  } catch {
    // The message is there or its failure known; how the clean-up went changes neither.
  }
}

function toThrownError(thrown: unknown): ThrownError {
  const message = describeThrown(thrown);
  try {
    if (!(thrown instanceof Error)) return { name: typeof thrown, message };
    const { stack } = thrown;
    return {
      name: String(thrown.name),
      message,
      ...(isHoldfastError(thrown) ? { code: thrown.code, data: toJson(thrown.data) } : {}),
      ...(typeof stack === 'string' ? { stack } : {}),
    };
  } catch {
    // An Error whose own properties throw, or a revoked proxy; that is all that can be said of it.
    return { name: 'Error', message };
  }
}

// It goes into the log, and the error may be of a copy of the class that takes anything.
function toJson(data: unknown): Json {
  const copied = copyJson(data);
  return copied.ok ? copied.value : null;
}
