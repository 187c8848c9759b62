import type { Model, ModelRequest } from '@holdfast/core';
import { type MessageReading, readMessage } from './read-message.ts';

export interface ReadOneMessageOptions {
  /** Ends the wait at once, also where the model does not heed it. */
  readonly signal?: AbortSignal | undefined;
  /** As of `readMessage`. */
  readonly maxCharacters?: number | undefined;
}

// Made once, as each would take a stack with it; and no `DOMException`, which not every runtime has.
const isRead: Error = Object.assign(new Error('The message has been read.'), { name: 'AbortError' });

/** As `readMessage`, with a signal of the request's own: what the model still does behind its message is for nobody, and it is told so. */
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
