import { type EffectCheck, isPlainObject, type Outcome, type ToolCallEndEvent, toolOk } from '@holdfast/core';
import type { OpenCall, OpenStart } from '@holdfast/session';
import { refuseMasked } from '../approval/masked-calls.ts';
import { failure } from '../call/ending.ts';
import { prepare } from '../call/prepare.ts';
import { finish, tellStart } from '../call/run-call.ts';
import { CallRecord, RunningCall } from '../call/running-call.ts';
import type { CallScope } from '../call/scope.ts';
import { recordEnd, settle } from '../call/settle.ts';
import type { Ending, IdentifiedCall } from '../call/types.ts';
import { readReservations, reservedBy, stageReserved } from '../nested/reservations.ts';
import { probe } from './probe.ts';

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
  const startedAtMs = start.atMs;
  tellStart(call, scope);
  const running = known && new RunningCall(call, known, { scope, startedAtMs });
  const record = running ?? new CallRecord(call, scope, startedAtMs);
  record.input = isPlainObject(start.input) ? start.input : {};
  const answered = open.approvals.findLast(({ answer }) => answer !== undefined);
  if (answered?.answer !== undefined) {
    record.approval = { type: answered.answer.type, by: answered.answeredBy ?? 'person' };
  }
  const check = resolution ?? (running && (await probe(running))) ?? { type: 'unknown' };
  // Who says that it did not take effect says so of all that it called.
  if (check.type !== 'not-done') record.reservations = readReservations(open);
  if (check.type === 'done' && running !== undefined) return finish(await conclude(check, running), scope);
  return finish(recordEnd(toEnding(call, check), record), scope);
}

/** What the tool would have returned goes the way of all answers: it is checked, policies hear of it, and it is committed. */
async function conclude(
  { value = null, message }: Extract<EffectCheck, { type: 'done' }>,
  call: RunningCall,
): Promise<ToolCallEndEvent> {
  const { reservations } = call;
  if (reservations !== undefined) {
    // What it called is not going to be concluded: that ended with the process.
    const misfit = stageReserved(reservedBy(reservations, call.source.id, 'failed'), call.transaction);
    if (misfit !== undefined) call.broke(misfit.thrown);
  }
  return settle(
    { type: 'returned', value: toolOk(value, message ?? 'It took effect before its process ended.') },
    call,
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
