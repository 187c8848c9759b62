import { HoldfastError, type ModelEvent } from '@holdfast/core';
import { toFinishReason, toUnifiedReason, toUsage } from './finish.ts';
import type { MessageContent } from './message-content.ts';
import type { AiSdkStream, StreamPart } from './specification.ts';

// The stream's own end no longer matters: the message is complete, or its failure is known.
const nothingToTell = (): void => undefined;

/** Reads one message. Throws the error parts of the stream unchanged, for the caller to interpret. */
export async function* readStream(
  stream: AiSdkStream,
  { content, signal }: { readonly content: MessageContent; readonly signal: AbortSignal },
): AsyncGenerator<ModelEvent, void, undefined> {
  const reader = stream.getReader();
  const cancel = (): void => void reader.cancel().then(nothingToTell, nothingToTell);
  // A canceled reader ends at once, even if the provider ignores the signal.
  signal.addEventListener('abort', cancel, { once: true });
  const inputs = new Map<string, OpenInput>();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done)
        throw new HoldfastError('model.failed', "The provider's stream ended before its message was complete.", {
          data: unfinished,
        });
      const part = value as StreamPart;
      content.add(part);
      switch (part.type) {
        case 'text-delta':
          if (part.delta !== '') yield { type: 'text-delta', text: part.delta };
          break;
        case 'tool-input-start':
          if (part.providerExecuted !== true) inputs.set(part.id, { ...part, text: '' });
          break;
        case 'tool-input-delta': {
          const input = inputs.get(part.id);
          if (input !== undefined) input.text += part.delta;
          break;
        }
        case 'tool-call':
          inputs.delete(part.toolCallId);
          if (part.providerExecuted !== true) yield toCall(part.toolCallId, part.toolName, part.input);
          break;
        case 'error':
          throw part.error;
        case 'finish': {
          const reason = toUnifiedReason(part.finishReason);
          if (reason === 'error')
            throw new HoldfastError(
              'model.failed',
              'The provider reported an error instead of completing its message.',
              {
                data: unfinished,
              },
            );
          for (const { id, toolName, text, inputEncoding } of inputs.values()) {
            const input = inputEncoding === 'text' ? JSON.stringify(text) : text;
            content.add({ type: 'tool-call', toolCallId: id, toolName, input });
            yield toCall(id, toolName, input);
          }
          yield {
            type: 'finish',
            // An incomplete call means that the message was cut off, whatever reason the provider gives.
            reason: inputs.size > 0 ? 'length' : toFinishReason(reason),
            usage: toUsage(part.usage),
            providerMetadata: content.toMetadata(),
          };
          return;
        }
        default:
          // Parts that `content` collects, and part types of later versions.
          break;
      }
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}

const unfinished = { status: null, retryAfterMs: null };

interface OpenInput {
  readonly id: string;
  readonly toolName: string;
  readonly inputEncoding?: 'json' | 'text';
  text: string;
}

/** The arguments stay text: the executor alone parses them, strictly. */
function toCall(id: string, name: string, input: string): ModelEvent {
  return { type: 'tool-call', ...(id === '' ? {} : { id }), name, arguments: input };
}
