import type { JsonObject } from '@holdfast/core';
import type { Elicit } from './elicit.ts';
import type { McpEvent } from './events.ts';
import type { TraceContext } from './trace-context.ts';

/** The resource under which a serving host finds the result of the server as it came. */
export const relayResource = 'mcp-relay';

/** The client whose call a request to a server belongs to. */
export interface CallClient {
  readonly principal: string;
  /** Asks the user of the client. Absent where the client cannot ask. */
  readonly ask?: Elicit | undefined;
  /** Hears what the server asks for while the call runs. */
  note(event: McpEvent): void;
}

/** Takes the result of one call past the executor, so that it reaches the client as the server sent it. */
export interface Relay {
  /** The request of the client: a result of another kind is none that it can read. */
  readonly method: string;
  /** The call of the client. Calls that its tool makes have results of their own. */
  callId?: string;
  result: JsonObject | undefined;
  /** The error of the protocol that the server answered with. */
  error?: Error;
  /** The trace that the client is in: it goes on to the server. */
  readonly trace?: TraceContext | undefined;
  /** Whose call it is, with the id of the call. */
  readonly client?: ((callId: string) => CallClient) | undefined;
}

export function isRelay(value: unknown): value is Relay {
  return typeof value === 'object' && value !== null && 'result' in value;
}

/** Whom a server asks that has these requests to answer. None if it could be the question of another one. */
export function findAsker(clients: Iterable<CallClient>): Elicit | undefined {
  const all = [...clients];
  const principals = new Set(all.map(({ principal }) => principal));
  return principals.size === 1 ? all.findLast(({ ask }) => ask !== undefined)?.ask : undefined;
}
