import { HoldfastError, type ModelEvent } from '@holdfast/core';
import { toFinishReason, toUnifiedReason, toUsage } from './finish.ts';
import type { MessageContent } from './message-content.ts';
import type { AiSdkStream, StreamPart } from './specification.ts';

// What the stream says of its own end comes too late to matter: the message is there, or its failure is known.
const nothingToTell = (): void => undefined;

/** Reads one message. Throws what the stream gives as an error; the caller says what it means. */
export async function* readStream(
  stream: AiSdkStream,
  { content, signal }: { readonly content: MessageContent; readonly signal: AbortSignal },
): AsyncGenerator<ModelEvent, void, undefined> {
  const reader = stream.getReader();
  const cancel = (): void => void reader.cancel().then(nothingToTell, nothingToTell);
  // Also for a provider that does not look at the signal: a cancelled reader ends at once.
  signal.addEventListener('abort', cancel, { once: true });
  const inputs = new Map<string, OpenInput>();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done)
        throw new HoldfastError('model.failed', 'The stream of the provider ended before its message did.', {
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
            throw new HoldfastError('model.failed', 'The provider ended its message with an error.', {
              data: unfinished,
            });
          for (const { id, toolName, text, inputEncoding } of inputs.values()) {
            const input = inputEncoding === 'text' ? JSON.stringify(text) : text;
            content.add({ type: 'tool-call', toolCallId: id, toolName, input });
            yield toCall(id, toolName, input);
          }
          yield {
            type: 'finish',
            // A call that was begun and never given whole means that the message was cut, whatever the provider calls it.
            reason: inputs.size > 0 ? 'length' : toFinishReason(reason),
            usage: toUsage(part.usage),
            providerMetadata: content.toMetadata(),
          };
          return;
        }
        default:
          // What `content` keeps, and parts of types that came up later.
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

/** The arguments stay text: one place parses them, strictly. */
function toCall(id: string, name: string, input: string): ModelEvent {
  return { type: 'tool-call', ...(id === '' ? {} : { id }), name, arguments: input };
}
