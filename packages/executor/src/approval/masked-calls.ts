import { HoldfastError } from '@holdfast/core';
import { hasMask, isPlainObject } from '@holdfast/core/internal';
import type { Session } from '@holdfast/session';
import { openSealed, type SealedPlace, sealContent } from '@holdfast/session/internal';
import { failure } from '../call/ending.ts';
import { identifyCall } from '../call/prepare.ts';
import { type Kept, keptBeside } from '../call/scope.ts';
import type { Ending, IdentifiedCall } from '../call/types.ts';

/** Suspended calls with unmasked arguments, kept while the process has the session; the log has only masks. */
const waiting: Kept<Map<string, readonly IdentifiedCall[]>> = { make: () => new Map() };

/** Keeps suspended calls so that this process can resume them. */
export function keepCalls(session: Session, place: SealedPlace, calls: readonly IdentifiedCall[]): void {
  if (session.redactor === undefined) return;
  keptBeside(session, waiting).set(keyOf(place), calls);
}

/** Seals the arguments of a call for other processes until it has ended, if the log masks them and the session has a vault. */
export function sealCall(
  session: Session,
  place: SealedPlace,
  { id, name, arguments: raw }: Omit<IdentifiedCall, 'problem'>,
): void {
  sealContent(session, { ...place, callId: id }, { name, arguments: raw });
}

/** The call with its sealed arguments, or as recorded. */
function openCall(session: Session, place: SealedPlace, call: IdentifiedCall): IdentifiedCall {
  const { id, name, arguments: masked } = call;
  if (!hasMask(masked)) return call;
  const content = openSealed(session, { ...place, callId: id }, { name, arguments: masked });
  if (!isPlainObject(content)) return call;
  return identifyCall({ id, name, arguments: content['arguments'] }, () => id);
}

/** The kept or sealed calls, or those `recorded`. */
export function takeCalls(
  session: Session,
  place: SealedPlace,
  recorded: readonly IdentifiedCall[],
): readonly IdentifiedCall[] {
  return keptBeside(session, waiting).get(keyOf(place)) ?? recorded.map((call) => openCall(session, place, call));
}

/** Drops the calls of a place once they have ended. */
export function dropCalls(session: Session, place: SealedPlace): void {
  keptBeside(session, waiting).delete(keyOf(place));
}

/** @throws HoldfastError `replay.failed`: a log without content cannot be resumed. */
export function checkContent({ id, content }: Session): void {
  if (content !== 'none') return;
  throw new HoldfastError(
    'replay.failed',
    `The log of the session \`${id}\` has no content, so nothing in it can be resumed; pass \`approve\` to answer at once.`,
    { data: { reason: 'no_content', sessionId: id } },
  );
}

/** Refuses a call of which only masks are left. */
export function refuseMasked(call: IdentifiedCall): Ending | undefined {
  if (!hasMask(call.arguments)) return undefined;
  const message = `\`${call.name}\` was not run: its arguments contained a secret, which the log does not store. Call it again if you still need it.`;
  return failure('cancelled', { code: 'call.redacted', message });
}

function keyOf({ run, turn, callId }: SealedPlace): string {
  return callId === undefined ? `${run}.${turn}` : `/${callId}`;
}
