import {
  defineSlice,
  isPlainObject,
  type KeyedState,
  remove,
  type SessionReader,
  type Slice,
  upsert,
} from '@holdfast/core';
import type { Session } from '@holdfast/session';

/** A tool that a person let pass without further questions, for this session. */
export interface Grant {
  readonly name: string;
  /** SHA-256 of the tool as it was then, in hex: another one under its name is asked about again. */
  readonly toolDigest: string;
}

/** By the tool's name. Rolls back and is logged like all state. */
const grants: Slice<KeyedState<string>> = defineSlice<string>({
  id: 'holdfast/grants',
  kind: 'keyed',
  reducers: {
    'holdfast/tool-granted': (_state, payload) =>
      isPlainObject(payload)
        ? upsert(String(payload['name']), String(payload['toolDigest']))
        : // Written by version 0.1: a name alone says nothing about which tool was meant.
          upsert(String(payload), ''),
    'holdfast/tool-grant-withdrawn': (_state, payload) => remove(String(payload)),
  },
});

/** The slices of the executor itself: what `replay` and `createSession` need for sessions that it ran calls in. */
export const builtInSlices: readonly Slice[] = Object.freeze([grants]);

/** The digest that a tool was granted by; `undefined` when it was not. */
export function grantOf(session: SessionReader, toolName: string): string | undefined {
  return session.read(grants).get(toolName);
}

export function grantTool(session: Session, { name, toolDigest }: Grant): void {
  session.register(grants);
  session.dispatch({ type: 'holdfast/tool-granted', payload: { name, toolDigest } });
}

/** The tools that were granted for the session, in the order of their names. */
export function listGrants(session: Session): readonly Grant[] {
  return [...session.read(grants)]
    .map(([name, toolDigest]) => ({ name, toolDigest }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Asks again at the next call of the tool. False when it was not granted. */
export function withdrawGrant(session: Session, toolName: string): boolean {
  if (grantOf(session, toolName) === undefined) return false;
  session.dispatch({ type: 'holdfast/tool-grant-withdrawn', payload: toolName });
  return true;
}
