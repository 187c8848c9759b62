import { HoldfastError } from '@holdfast/core';
import { hasMask, isPlainObject } from '@holdfast/core/internal';
import { openSealed, type Session, sealContent } from '@holdfast/session';
import { failure } from '../call/ending.ts';
import { identifyCall } from '../call/prepare.ts';
import { type Kept, keptBeside } from '../call/scope.ts';
import type { Ending, IdentifiedCall } from '../call/types.ts';

/** Calls that wait, with their arguments as they came: the log has masks in them. For as long as the process has the session. */
const waiting: Kept<Map<string, readonly IdentifiedCall[]>> = { make: () => new Map() };

/** Where calls are: the run and turn; a direct call is at its own id. */
export interface CallPlace {
  readonly run?: number | undefined;
  readonly turn?: number | undefined;
  readonly callId?: string;
}

/** Keeps calls that were suspended for who goes on with them in this process. */
export function keepCalls(session: Session, place: CallPlace, calls: readonly IdentifiedCall[]): void {
  if (session.redactor === undefined) return;
  keptBeside(session, waiting).set(keyOf(place), calls);
}

/** Keeps the arguments of a call for other processes until it has ended, if the log gets masks of them and the session has a vault. */
export function sealCall(
  session: Session,
  place: CallPlace,
  { id, name, arguments: raw }: Omit<IdentifiedCall, 'problem'>,
): void {
  sealContent(session, { ...place, callId: id }, { name, arguments: raw });
}

/** The call with its arguments where they were sealed, or as it was recorded. */
function openCall(session: Session, place: CallPlace, call: IdentifiedCall): IdentifiedCall {
  const { id, name, arguments: masked } = call;
  if (!hasMask(masked)) return call;
  const content = openSealed(session, { ...place, callId: id }, { name, arguments: masked });
  if (!isPlainObject(content)) return call;
  return identifyCall({ id, name, arguments: content['arguments'] }, () => id);
}

/** The calls that were kept or sealed, or those `recorded`. */
export function takeCalls(
  session: Session,
  place: CallPlace,
  recorded: readonly IdentifiedCall[],
): readonly IdentifiedCall[] {
  return keptBeside(session, waiting).get(keyOf(place)) ?? recorded.map((call) => openCall(session, place, call));
}

/** The calls have ended. */
export function dropCalls(session: Session, place: CallPlace): void {
  keptBeside(session, waiting).delete(keyOf(place));
}

/** @throws HoldfastError `replay.no_content`: a log without content is nothing to go on with. */
export function checkContent({ id, content }: Session): void {
  if (content !== 'none') return;
  throw new HoldfastError(
    'replay.no_content',
    `The log of the session \`${id}\` was kept without content, so nothing in it can be gone on with; pass \`approve\` to answer at once.`,
    { data: { sessionId: id } },
  );
}

/** Ends a call of which only masks are left; `undefined` for any other. */
export function refuseMasked(call: IdentifiedCall): Ending | undefined {
  if (!hasMask(call.arguments)) return undefined;
  const message = `\`${call.name}\` was not run: its arguments held a secret, which the log does not have. Call it again if it is still wanted.`;
  return failure('cancelled', { code: 'call.redacted', message });
}

function keyOf({ run, turn, callId }: CallPlace): string {
  return callId === undefined ? `${run}.${turn}` : `/${callId}`;
}
