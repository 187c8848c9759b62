import type { Session } from '@holdfast/session';
import type { RunningCall } from '../call/running-call.ts';

/** The `idempotencyKey` of a call; `undefined` for a direct one. */
export function keyInRun({ call, scope, turn }: RunningCall): string | undefined {
  const { parent, run, session } = scope;
  // The id of a nested call continues that of its parent; any other id may contain anything.
  if (parent !== undefined && scope.nested) return parent.key + call.id.slice(parent.call.id.length);
  return run === undefined ? undefined : `${sessionKey(session)}/${run.startSeq}.${turn}/${escapeId(call.id)}`;
}

/** The common prefix of the keys of direct calls with one id. */
export function directCallKey(session: Session, callId: string): string {
  return `${sessionKey(session)}/${escapeId(callId)}`;
}

function sessionKey({ id, nonce }: Session): string {
  return nonce === '' ? id : `${id}.${nonce}`;
}

/** Escapes the separators of a key. */
function escapeId(callId: string): string {
  return callId.replaceAll('%', '%25').replaceAll('/', '%2F').replaceAll('.', '%2E');
}
