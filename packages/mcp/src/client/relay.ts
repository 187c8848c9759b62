import type { JsonObject } from '@holdfast/core';

/** The resource under which a serving host finds the result of the server as it came. */
export const relayResource = 'mcp-relay';

/** Takes the result of one call past the executor, so that it reaches the client as the server sent it. */
export interface Relay {
  result: JsonObject | undefined;
  /** The error of the protocol that the server answered with. */
  error?: Error;
}

export function isRelay(value: unknown): value is Relay {
  return typeof value === 'object' && value !== null && 'result' in value;
}
