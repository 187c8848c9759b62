import {
  defineSlice,
  type JsonObject,
  type KeyedState,
  type Operation,
  type PendingApproval,
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

/**
 * By the tool's name. Without reducers, as policies' states are: a log is replayed without this definition. Rolls back and is logged
 * like all state.
 */
const grants: Slice<KeyedState<string>> = defineSlice<string>({ id: 'holdfast/grants', kind: 'keyed', reducers: {} });

/** The digest that a tool was granted by; `undefined` when it was not. */
export function grantOf(session: SessionReader, toolName: string): string | undefined {
  return session.read(grants).get(toolName);
}

/** Grants what an answer about a call has granted. The record names the call: no answer grants twice. */
export function grantTool(session: Session, { name, toolDigest, callId, run, turn }: PendingApproval): void {
  const place = run === undefined || turn === undefined ? {} : { run, turn };
  change(session, upsert(name, toolDigest), { callId, ...place });
}

function change(session: Session, operation: Operation, cause: JsonObject = {}): void {
  const transaction = session.begin();
  try {
    transaction.apply(grants, [operation]);
    transaction.commit({ type: 'event', ...cause, events: [], changes: [...transaction.changes] });
  } finally {
    transaction.discard();
  }
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
  change(session, remove(toolName));
  return true;
}
