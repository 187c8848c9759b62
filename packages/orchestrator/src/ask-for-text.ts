import {
  type Deadline,
  describeThrown,
  type FinishReason,
  type Message,
  type Model,
  type ModelEvent,
  type ModelUsage,
  toModelUsage,
} from '@holdfast/core';

export interface AskForTextOptions {
  readonly messages: readonly Message[];
  readonly signal?: AbortSignal | undefined;
  readonly deadline?: Deadline | undefined;
  /** A longer answer is a failure, and is not read to its end; an event without text counts as one character. Default 1,000,000. */
  readonly maxCharacters?: number;
}

/** What came of asking a model for one text without offering it a tool. */
export type AskedText =
  | {
      readonly type: 'text';
      readonly text: string;
      readonly reason: FinishReason;
      /** How many tools it called all the same. */
      readonly calls: number;
      readonly usage: ModelUsage | undefined;
    }
  /** `text` is what had come until then. */
  | { readonly type: 'failed'; readonly message: string; readonly cause: unknown; readonly text: string };

/**
 * Reads one message of `model`. Whatever the model does is an answer; only the reason of an aborted `signal` is thrown, at once, also
 * where the model does not heed it.
 */
export async function askForText(
  model: Model,
  { messages, signal: outer, deadline, maxCharacters = 1_000_000 }: AskForTextOptions,
): Promise<AskedText> {
  outer?.throwIfAborted();
  const own = new AbortController();
  let stopWaiting: () => void = () => undefined;
  const stop = (): void => {
    own.abort(outer?.reason);
    stopWaiting();
  };
  outer?.addEventListener('abort', stop, { once: true });
  let iterator: AsyncIterator<ModelEvent> | undefined;
  let text = '';
  let calls = 0;
  let length = 0;
  const failed = (message: string, cause?: unknown): AskedText => ({ type: 'failed', message, cause, text });
  try {
    const stream: unknown = model.stream({ messages, tools: [], signal: own.signal, deadline });
    if (!isStream(stream)) {
      // The rejection of an async function, which nobody will hear, must not end the process.
      void Promise.allSettled([stream]);
      return failed('`stream` of the model answered with what is no async iterable.');
    }
    const events = stream[Symbol.asyncIterator]();
    iterator = events;
    for (;;) {
      outer?.throwIfAborted();
      // A race against one promise for all of them would keep every step until the last.
      const step = await new Promise<IteratorResult<ModelEvent> | undefined>((resolve, reject) => {
        stopWaiting = () => resolve(undefined);
        Promise.resolve(events.next()).then(resolve, reject);
      });
      outer?.throwIfAborted();
      if (step === undefined || step.done === true) return failed('The model ended its message without `finish`.');
      const event = step.value;
      switch (event.type) {
        case 'text-delta':
          if (typeof event.text !== 'string') return failed('The model sent a `text-delta` whose `text` is no string.');
          text += event.text;
          length += Math.max(1, event.text.length);
          break;
        case 'tool-call':
          calls += 1;
          length += 1;
          break;
        case 'finish':
          return { type: 'text', text, reason: event.reason, calls, usage: toModelUsage(event.usage) };
        default:
          return failed(
            `The model sent an event of unknown type \`${String((event satisfies never as ModelEvent).type)}\`.`,
          );
      }
      // Also of what says nothing there is an end: events that come at once would leave no time in which to stop it.
      if (length > maxCharacters) return failed(`The model sent more than ${maxCharacters} characters.`);
    }
  } catch (thrown) {
    outer?.throwIfAborted();
    return failed(describeThrown(thrown), thrown);
  } finally {
    outer?.removeEventListener('abort', stop);
    // What the model still does is for nobody: it is told so, and its clean-up is not waited for.
    own.abort();
    void closeStream(iterator);
  }
}

function isStream(value: unknown): value is AsyncIterable<ModelEvent> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

async function closeStream(iterator: AsyncIterator<ModelEvent> | undefined): Promise<void> {
  try {
    await iterator?.return?.();
  } catch {
    // The answer is there or its failure known; how the clean-up went changes neither.
  }
}
