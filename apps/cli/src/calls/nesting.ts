/** A child session, under the call that opened it. `undefined` for the session of the run itself. */
export interface Place {
  readonly sessionId: string;
  /** The key of that call. */
  readonly around: string;
}

/** Distinguishes calls with the same id in nested sessions. */
export function toCallKey(callId: string, place: Place | undefined): string {
  return JSON.stringify([place?.sessionId ?? null, callId]);
}

/** The key of the run in a child session. */
export function toRunKey({ sessionId }: Place): string {
  return JSON.stringify([sessionId]);
}

/** The place of events from a session that the call `callId` opened. */
export function enterChild(callId: string, sessionId: string, outer: Place | undefined): Place {
  return { sessionId, around: toCallKey(callId, outer) };
}

/**
 * The key of the enclosing call or run; `undefined` at the top level. `running`: true if the run with this key is active in a child
 * session.
 */
export function toParentKey(
  { callId, parentId }: { readonly callId?: string | undefined; readonly parentId?: string | undefined },
  place: Place | undefined,
  running: (runKey: string) => boolean,
): string | undefined {
  // The first call in a child session names the call outside as its parent; a nested call's id begins with its parent's.
  const isNested = parentId !== undefined && (place === undefined || callId?.startsWith(`${parentId}/`) === true);
  if (isNested) return toCallKey(parentId, place);
  if (place === undefined) return undefined;
  const run = toRunKey(place);
  return running(run) ? run : place.around;
}
