import { cutMiddle, toPrintable } from '@holdfast/core/internal';
import type { Session } from '@holdfast/session';
import type { McpEvent } from '../client/events.ts';

const longestText = 1_000;
/** Refusals of one principal that a process records: a client that is refused again and again must not fill the log. */
const mostRefusals = 200;

/** Requests of clients that were refused before there was a call. */
export class Refusals {
  readonly #recorded = new Map<string, number>();
  #strangers = 0;

  /** A request without a valid token, from another page or by another name of the host: it has no session. */
  countStranger(): void {
    this.#strangers += 1;
  }

  /** Records how many strangers were refused before this session was used. */
  noteStrangers(session: Session): void {
    if (this.#strangers === 0) return;
    const count = this.#strangers;
    this.#strangers = 0;
    session.record({ type: 'mcp-refused', reason: 'no-access', count });
  }

  note(session: Session, principal: string, reason: 'tool-name' | 'request-state', name: string): void {
    const before = this.#recorded.get(principal) ?? 0;
    if (before === mostRefusals) return;
    this.#recorded.set(principal, before + 1);
    const isLast = before + 1 === mostRefusals;
    session.record({ type: 'mcp-refused', reason, name: toShort(name), ...(isLast ? { last: true } : {}) });
  }
}

/** Records what a server asked for while a call ran. */
export function noteEvent(event: McpEvent, callId: string, session: Session): void {
  const { server } = event;
  if (event.type === 'request-refused') {
    session.record({ type: 'mcp-refused', reason: 'server-request', callId, server, method: toShort(event.method) });
  } else if (event.type === 'elicitation') {
    const { action } = event;
    session.record({ type: 'mcp-question', callId, server, message: toShort(event.message), action });
  }
}

function toShort(text: string): string {
  return toPrintable(cutMiddle(text, longestText));
}
