import { createHash } from 'node:crypto';

const plain = /^[a-z0-9][a-z0-9-]{0,79}$/;

/** The id of our session for one of an agent: its own where that can name a file. */
export function toSessionId(agent: string, sessionId: string): string {
  const name = plain.test(sessionId) ? sessionId : createHash('sha256').update(sessionId).digest('hex').slice(0, 32);
  return `${agent}-${name}`;
}
