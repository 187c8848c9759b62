import type { FinishReason, Json, Model, ModelEvent, ModelRequest, ModelUsage, ToolCall } from '@holdfast/core';
import { parseJson, toModelUsage } from '@holdfast/core/internal';
import { isThenable } from '../call/execute.ts';

/** What came of reading one message of a model. `text` is what had come until then. */
export type MessageReading =
  | {
      readonly type: 'message';
      readonly text: string;
      /** As the model sent them, whatever that is. */
      readonly calls: readonly ToolCall[];
      /** `other` for one that is none. */
      readonly reason: FinishReason;
      /** Absent where the counts are none. */
      readonly usage: ModelUsage | undefined;
      readonly providerMetadata: Json | undefined;
    }
  | { readonly type: 'ended'; readonly text: string }
  | { readonly type: 'threw'; readonly thrown: unknown; readonly text: string }
  /** It did not keep to what a model is. `problem` is a sentence. */
  | {
      readonly type: 'wrong';
      readonly problem: string;
      readonly text: string;
      /** Only where nothing is wrong but the end of the message: what was called until then, the last perhaps not whole. */
      readonly calls?: readonly ToolCall[];
    };

export interface ReadMessageOptions {
  /** Calls the function that it is given when nobody waits any more, at once if that has been; the answer takes it back. Absent: nothing ends it. */
  readonly onEnd?: ((end: () => void) => () => void) | undefined;
  readonly onText?: ((text: string) => void) | undefined;
  /** A longer message is not read to its end; a part without text counts as one character. Default: no limit. */
  readonly maxCharacters?: number | undefined;
}

/** Reads one message from the model's stream. Never rejects, and does not wait for a model that ignores its signal. */
export async function readMessage(
  model: Model,
  request: ModelRequest,
  { onEnd, onText, maxCharacters = Number.POSITIVE_INFINITY }: ReadMessageOptions = {},
): Promise<MessageReading> {
  const calls: ToolCall[] = [];
  let text = '';
  let length = 0;
  let isEnded = false;
  let stopWaiting: () => void = () => undefined;
  const stopListening = onEnd?.(() => {
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
  const wrong = (problem: string): Wrong => ({ type: 'wrong', problem, text });
  let iterator: AsyncIterator<ModelEvent> | undefined;
  try {
    const stream: unknown = model.stream(request);
    if (!isAsyncIterable(stream)) {
      // The rejection of an async function, which nobody will hear, must not end the process.
      void Promise.allSettled([stream]);
      return wrong('`stream` of the model answered with what is no async iterable.');
    }
    iterator = stream[Symbol.asyncIterator]();
    for (;;) {
      const next: Step | PromiseLike<Step> = iterator.next();
      // That costs as much as the rest of a short message, so it is left out where nothing can end the run.
      const step = await (onEnd === undefined || !isThenable(next) ? next : beforeTheEnd(next));
      if (isEnded || step === isOver) return { type: 'ended', text };
      if (step.done === true) return { ...wrong('The model ended its message without `finish`.'), calls };
      const event = step.value;
      switch (event.type) {
        case 'text-delta': {
          const delta: unknown = event.text;
          if (typeof delta !== 'string') return wrong('The model sent a `text-delta` whose `text` is no string.');
          text += delta;
          length += Math.max(1, delta.length);
          onText?.(delta);
          break;
        }
        case 'tool-call':
          calls.push({ id: event.id, name: event.name, arguments: event.arguments });
          length += 1;
          break;
        case 'finish':
          if (typeof event.reason !== 'string' && calls.some(isCutShort))
            return {
              ...wrong("The model ended its message without a reason, in the middle of a call's arguments."),
              calls,
            };
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
          return wrong(`The model sent an event of unknown type \`${type}\`.`);
        }
      }
      // Also of what says nothing there is an end: parts that come at once would leave no time in which to stop them.
      if (length > maxCharacters) return wrong(`The model sent more than ${maxCharacters} characters.`);
    }
  } catch (thrown) {
    return isEnded ? { type: 'ended', text } : { type: 'threw', thrown, text };
  } finally {
    stopListening?.();
    void closeStream(iterator);
  }
}

type Step = IteratorResult<ModelEvent>;
type Wrong = Extract<MessageReading, { readonly type: 'wrong' }>;

/** Whether the arguments are text that ends too early to be JSON. */
function isCutShort({ arguments: raw }: ToolCall): boolean {
  if (typeof raw !== 'string' || raw.trim() === '') return false;
  const parsed = parseJson(raw);
  return !parsed.ok && parsed.reason === 'syntax';
}

// A step of a faulty model may be anything.
const isOver: unique symbol = Symbol('nobody waits any more');

const finishReasons: ReadonlySet<FinishReason> = new Set(['stop', 'tool-calls', 'length', 'content-filter', 'other']);

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
