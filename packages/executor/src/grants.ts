import { defineSlice, type KeyedState, type SessionReader, type Slice, upsert } from '@holdfast/core';
import type { Session } from '@holdfast/session';

/** Tools that a person let pass without further questions, by name. Rolls back and is logged like all state. */
const grants: Slice<KeyedState<boolean>> = defineSlice<boolean>({
  id: 'holdfast/grants',
  kind: 'keyed',
  reducers: { 'holdfast/tool-granted': (_state, payload) => upsert(String(payload), true) },
});

/** The slices of the executor itself: what `replay` and `createSession` need for sessions that it ran calls in. */
export const builtInSlices: readonly Slice[] = Object.freeze([grants]);

export function isGranted(session: SessionReader, toolName: string): boolean {
  return session.read(grants).has(toolName);
}

export function grantTool(session: Session, toolName: string): void {
  session.register(grants);
  session.dispatch({ type: 'holdfast/tool-granted', payload: toolName });
}
