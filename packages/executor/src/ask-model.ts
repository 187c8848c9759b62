import {
  describeThrown,
  type FinishReason,
  isHoldfastError,
  type Json,
  type Message,
  type Model,
  type ModelEvent,
  type ModelUsage,
  type ThrownError,
  type ToolCall,
  type ToolDeclaration,
} from '@holdfast/core';
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
  readonly signal: AbortSignal;
  readonly lifetime: Lifetime;
  readonly onText: ((text: string) => void) | undefined;
}

/** Reads one message from the model's stream. Never rejects, and does not wait for a model that ignores its signal. */
export async function askModel(
  model: Model,
  { messages, tools, signal, lifetime, onText }: AskModelOptions,
): Promise<Asked> {
  const calls: ToolCall[] = [];
  let text = '';
  let stopListening: () => void = () => undefined;
  const over = lifetime.endless
    ? undefined
    : new Promise<EndOfLife>((resolve) => {
        stopListening = lifetime.onEnd(resolve);
      });
  let iterator: AsyncIterator<ModelEvent> | undefined;
  try {
    iterator = model.stream({ messages, tools, signal, deadline: lifetime.deadline })[Symbol.asyncIterator]();
    for (;;) {
      const next = iterator.next();
      // Racing costs as much as the rest of a short message, so it is left out where nothing can end the run.
      const step = await (over === undefined ? next : Promise.race([next, over]));
      if (typeof step === 'string') return { type: 'ended', by: step, text };
      if (step.done === true)
        return {
          type: 'failed',
          error: { name: 'ModelError', message: 'The model ended its message without `finish`.' },
          text,
        };
      const event = step.value;
      switch (event.type) {
        case 'text-delta':
          text += event.text;
          onText?.(event.text);
          break;
        case 'tool-call':
          calls.push({ id: event.id, name: String(event.name), arguments: event.arguments });
          break;
        case 'finish':
          return {
            type: 'message',
            text,
            calls,
            reason: event.reason,
            usage: event.usage,
            providerMetadata: event.providerMetadata,
          };
        default:
          return {
            type: 'failed',
            error: {
              name: 'ModelError',
              message: `The model sent an event of unknown type \`${String((event satisfies never as ModelEvent).type)}\`.`,
            },
            text,
          };
      }
    }
  } catch (thrown) {
    if (lifetime.ended !== undefined) return { type: 'ended', by: lifetime.ended, text };
    return { type: 'failed', error: toThrownError(thrown), text };
  } finally {
    stopListening();
    closeStream(iterator);
  }
}

// The message is there or its failure known; how the clean-up went changes neither.
const nothingToTell = (): void => undefined;

/** Lets the model clean up, without waiting for it. */
function closeStream(iterator: AsyncIterator<ModelEvent> | undefined): void {
  const closing = iterator?.return?.();
  closing?.then(undefined, nothingToTell);
}

function toThrownError(thrown: unknown): ThrownError {
  const message = describeThrown(thrown);
  if (!(thrown instanceof Error)) return { name: typeof thrown, message };
  return {
    name: thrown.name,
    message,
    ...(isHoldfastError(thrown) ? { code: thrown.code, data: thrown.data } : {}),
    ...(thrown.stack === undefined ? {} : { stack: thrown.stack }),
  };
}
