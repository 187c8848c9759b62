import { isPlainObject } from '@holdfast/core/internal';
import { CLIENT_CAPABILITIES_META_KEY, type Transport } from '@modelcontextprotocol/server';
import type { QuestionKind } from '../client/elicit.ts';

/** The client for which a server is connected. */
export interface FirstClient {
  /** The kinds of questions that its user can be asked. */
  readonly asks: readonly QuestionKind[];
}

/** Of many clients each can be asked what it can be asked. */
export const anyClient: FirstClient = { asks: ['form', 'url'] };

/** Reports what the first message of a client says of it, before the SDK has the message. */
export function hearFirst(transport: Transport, hear: (client: FirstClient) => void): void {
  let listener = transport.onmessage;
  let isFirst = true;
  const listen: NonNullable<Transport['onmessage']> = (message, extra) => {
    if (isFirst) hear(readClient(message));
    isFirst = false;
    listener?.(message, extra);
  };
  // The SDK sets its own listener when it starts the transport.
  Object.defineProperty(transport, 'onmessage', {
    configurable: true,
    get: () => (listener === undefined ? undefined : listen),
    set: (next: Transport['onmessage']) => {
      listener = next;
    },
  });
}

/** Of `initialize`, or in the revision of 2026 of any request. */
function readClient(message: unknown): FirstClient {
  const params = isPlainObject(message) && isPlainObject(message['params']) ? message['params'] : {};
  const meta = isPlainObject(params['_meta']) ? params['_meta'][CLIENT_CAPABILITIES_META_KEY] : undefined;
  const capabilities = isPlainObject(meta) ? meta : params['capabilities'];
  const elicitation = isPlainObject(capabilities) ? capabilities['elicitation'] : undefined;
  if (!isPlainObject(elicitation)) return { asks: [] };
  const { form, url } = elicitation;
  // Before there were kinds, a question was a form.
  const hasForm = form !== undefined || url === undefined;
  return { asks: [...(hasForm ? (['form'] as const) : []), ...(url === undefined ? [] : (['url'] as const))] };
}
