import type { Model, ModelRequest } from '@holdfast/core';
import { type MessageReading, readMessage } from './read-message.ts';

export interface ReadOneMessageOptions {
  /** Ends the wait at once, even if the model ignores it. */
  readonly signal?: AbortSignal | undefined;
  /** As in `readMessage`. */
  readonly maxCharacters?: number | undefined;
}

// Created once to avoid a stack per request; not a `DOMException`, which some runtimes lack.
const isRead: Error = Object.assign(new Error('The message has been read.'), { name: 'AbortError' });

/** Like `readMessage`, with its own signal for the request, aborted once the message has been read. */
export async function readOneMessage(
  model: Model,
  request: Omit<ModelRequest, 'signal'>,
  { signal: outer, maxCharacters }: ReadOneMessageOptions = {},
): Promise<MessageReading> {
  const own = new AbortController();
  const onEnd = (end: () => void): (() => void) => {
    const stop = (): void => {
      own.abort(outer?.reason);
      end();
    };
    outer?.addEventListener('abort', stop, { once: true });
    if (outer?.aborted === true) stop();
    return () => outer?.removeEventListener('abort', stop);
  };
  const reading = await readMessage(model, { ...request, signal: own.signal }, { onEnd, maxCharacters });
  own.abort(isRead);
  return reading;
}
