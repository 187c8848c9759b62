/** The session of a child, under the call that opened it. The session of the run itself is `undefined`. */
export interface Place {
  readonly sessionId: string;
  /** The key of that call. */
  readonly around: string;
}

/** What tells of two calls in sessions under each other, whose ids may be the same. */
export function toCallKey(callId: string, place: Place | undefined): string {
  return JSON.stringify([place?.sessionId ?? null, callId]);
}

/** Of the run that goes on in a session of a child. */
export function toRunKey({ sessionId }: Place): string {
  return JSON.stringify([sessionId]);
}

/** The place of what is wrapped as happening in a session that the call `callId` has opened. */
export function enterChild(callId: string, sessionId: string, outer: Place | undefined): Place {
  return { sessionId, around: toCallKey(callId, outer) };
}

/**
 * The key of the call or run that something stands under; `undefined` when it stands by itself. `running`: whether a run goes on in
 * the session of a child.
 */
export function toParentKey(
  { callId, parentId }: { readonly callId?: string | undefined; readonly parentId?: string | undefined },
  place: Place | undefined,
  running: (runKey: string) => boolean,
): string | undefined {
  // The first call in a session of a child names the call outside of it as its parent; a nested one has an id made of its parent's.
  const isNested = parentId !== undefined && (place === undefined || callId?.startsWith(`${parentId}/`) === true);
  if (isNested) return toCallKey(parentId, place);
  if (place === undefined) return undefined;
  const run = toRunKey(place);
  return running(run) ? run : place.around;
}
