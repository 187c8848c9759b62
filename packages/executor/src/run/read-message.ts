import type { FinishReason, Json, Model, ModelEvent, ModelRequest, ModelUsage, ToolCall } from '@holdfast/core';
import { parseJson, toModelUsage } from '@holdfast/core/internal';
import { isThenable } from '../call/execute.ts';

/** The result of reading one message of a model. `text`: everything received so far. */
export type MessageReading =
  | {
      readonly type: 'message';
      readonly text: string;
      /** As sent by the model, unvalidated. */
      readonly calls: readonly ToolCall[];
      /** `other` for an unknown reason. */
      readonly reason: FinishReason;
      /** Absent if the counts are invalid. */
      readonly usage: ModelUsage | undefined;
      readonly providerMetadata: Json | undefined;
    }
  | { readonly type: 'ended'; readonly text: string }
  | { readonly type: 'threw'; readonly thrown: unknown; readonly text: string }
  /** The model violated its contract. `problem` is a sentence. */
  | {
      readonly type: 'wrong';
      readonly problem: string;
      readonly text: string;
      /** Set if only the end of the message is missing: the calls so far, the last perhaps incomplete. */
      readonly calls?: readonly ToolCall[];
    };

export interface ReadMessageOptions {
  /** Calls its argument at the end of the wait, or at once if already over; returns a function that removes it. Absent: no end. */
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
  // Racing each step against one long-lived promise would retain every step until the end.
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
      // Handled here: an unhandled rejection would end the process.
      void Promise.allSettled([stream]);
      return wrong('`stream` of the model did not return an async iterable.');
    }
    iterator = stream[Symbol.asyncIterator]();
    for (;;) {
      const next: Step | PromiseLike<Step> = iterator.next();
      // Costs as much as the rest of a short message, so skipped if nothing can end the run.
      const step = await (onEnd === undefined || !isThenable(next) ? next : beforeTheEnd(next));
      if (isEnded || step === isOver) return { type: 'ended', text };
      if (step.done === true) return { ...wrong('The model ended its message without `finish`.'), calls };
      const event = step.value;
      switch (event.type) {
        case 'text-delta': {
          const delta: unknown = event.text;
          if (typeof delta !== 'string') return wrong('The model sent a `text-delta` whose `text` is not a string.');
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
      // Counts parts without text too: an endless synchronous stream would leave no chance to stop it.
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

/** True if the arguments are incomplete JSON. */
function isCutShort({ arguments: raw }: ToolCall): boolean {
  if (typeof raw !== 'string' || raw.trim() === '') return false;
  const parsed = parseJson(raw);
  return !parsed.ok && parsed.reason === 'syntax';
}

// A symbol, because a faulty model may yield any value.
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
    // The result is known, and a failed clean-up does not change it.
  }
}
