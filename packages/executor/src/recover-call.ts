import { type EffectCheck, isPlainObject, type Outcome, toolOk } from '@holdfast/core';
import type { OpenCall, OpenStart } from '@holdfast/session';
import { CallResources } from './call-resources.ts';
import type { CallScope } from './call-scope.ts';
import { finish, type Prepared, prepare } from './conduct-call.ts';
import { type Ending, failure } from './ending.ts';
import type { IdentifiedCall } from './identified-call.ts';
import { refuseMasked } from './masked-calls.ts';
import { probe } from './probe.ts';
import { recordEnd } from './record-end.ts';
import { readReservations, reservedBy, stageReserved } from './reservations.ts';
import { settle } from './settle.ts';
import { startTrail, type Trail } from './trail.ts';

/** A call that was begun, and whose process ended. */
export type BegunCall = OpenCall & { readonly start: OpenStart };

export function isBegun(call: OpenCall | undefined): call is BegunCall {
  return call?.start !== undefined;
}

/**
 * Ends a call whose process ended under it, as far as it is known what came of it. `undefined`: it may be run again, with the same
 * idempotency key.
 */
export async function recoverCall(
  call: IdentifiedCall,
  open: BegunCall,
  scope: CallScope,
): Promise<Outcome | undefined> {
  const { start, resolution } = open;
  // Asked about masks, a probe would speak of something else.
  const prepared = refuseMasked(call) === undefined ? prepare(call, scope) : undefined;
  const known = prepared?.type === 'prepared' ? prepared : undefined;
  // What either version of the tool says: the one that began, or the one that would go on.
  const repeatable = start.repeat !== 'never' && known?.call.tool.repeat !== 'never';
  if (resolution === undefined && repeatable) return undefined;
  const trail = { ...startTrail(call, scope), startedAtMs: start.atMs };
  trail.input = isPlainObject(start.input) ? start.input : {};
  const answered = open.approvals.findLast(({ answer }) => answer !== undefined);
  if (answered?.answer !== undefined) {
    trail.approval = { type: answered.answer.type, by: answered.answeredBy ?? 'person' };
  }
  const check = resolution ?? (known && (await probePrepared(known, scope))) ?? { type: 'unknown' };
  // Who says that it did not take effect says so of all that it called.
  if (check.type !== 'not-done') trail.reservations = readReservations(open);
  if (check.type === 'done' && known !== undefined) return conclude(check, known, { trail, scope });
  return finish(recordEnd(trail, toEnding(call, check), scope), scope);
}

function probePrepared(prepared: Prepared, scope: CallScope): Promise<EffectCheck> {
  // Nothing is staged: only what names the call is asked of it.
  const transaction = scope.state.begin();
  const { key } = new CallResources(prepared, scope, transaction);
  transaction.discard();
  return probe(prepared.call, key, scope);
}

/** What the tool would have returned goes the way of all answers: it is checked, policies hear of it, and it is committed. */
async function conclude(
  { value = null, message }: Extract<EffectCheck, { type: 'done' }>,
  prepared: Prepared,
  { trail, scope }: { readonly trail: Trail; readonly scope: CallScope },
): Promise<Outcome> {
  const { call, compiled } = prepared;
  const transaction = scope.state.begin();
  const resources = new CallResources(prepared, scope, transaction);
  const { reservations } = trail;
  if (reservations !== undefined) {
    resources.reservations = reservations;
    // What it called is not going to be concluded: that ended with the process.
    const misfit = stageReserved(reservedBy(reservations, call.id, 'failed'), transaction);
    if (misfit !== undefined) resources.broke(misfit.thrown);
  }
  const returned = toolOk(value, message ?? 'It took effect before its process ended.');
  return finish(
    await settle({ type: 'returned', value: returned }, { scope, trail, call, compiled, transaction, resources }),
    scope,
  );
}

function toEnding({ name }: IdentifiedCall, check: EffectCheck): Ending {
  const said = check.message === undefined ? '' : ` ${check.message}`;
  switch (check.type) {
    case 'not-done': {
      const message = `\`${name}\` was interrupted and did not take effect; call it again if it is still wanted.${said}`;
      return failure('cancelled', { code: 'call.not_done', message });
    }
    case 'done': {
      const message = `\`${name}\` took effect, but cannot be concluded: the tool is not here any more, or refuses its arguments.${said}`;
      return failure('in-doubt', { code: 'call.interrupted', message });
    }
    case 'unknown': {
      const message = `It is not known whether \`${name}\` took effect: the process ended while it ran. Find out before calling it again.${said}`;
      return failure('in-doubt', { code: 'call.interrupted', message });
    }
  }
}

/** A call that never began, because its process ended before. */
export function neverBegan({ name }: IdentifiedCall): Ending {
  const message = `\`${name}\` was not run: the process ended before it began. Call it again if it is still wanted.`;
  return failure('cancelled', { code: 'call.interrupted', message });
}
