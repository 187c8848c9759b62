import { type Outcome, type ToolCallEndEvent, toolOk } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { EffectCheck } from '@holdfast/core/types';
import type { OpenCall, OpenStart } from '@holdfast/session/internal';
import { refuseMasked } from '../approval/masked-calls.ts';
import { failure } from '../call/ending.ts';
import { prepare } from '../call/prepare.ts';
import { finish, tellStart } from '../call/run-call.ts';
import { CallRecord, RunningCall } from '../call/running-call.ts';
import type { CallScope } from '../call/scope.ts';
import { recordEnd, settle } from '../call/settle.ts';
import type { Answer, Ending, IdentifiedCall, Prepared } from '../call/types.ts';
import { readReservations, reservedWithin, stageReserved } from '../nested/reservations.ts';
import { probe } from './probe.ts';

/** A call that began in a process that has ended. */
export type BegunCall = OpenCall & { readonly start: OpenStart };

export function isBegun(call: OpenCall | undefined): call is BegunCall {
  return call?.start !== undefined;
}

/** Ends an interrupted call with whatever is known about its result. `undefined` if it may run again with the same idempotency key. */
export async function recoverCall(
  call: IdentifiedCall,
  open: BegunCall,
  scope: CallScope,
): Promise<Outcome | undefined> {
  const { start, resolution } = open;
  const prepared = prepareAgain(call, scope);
  // Both versions of the tool count: the one that began and the current one.
  const repeatable = start.repeat !== 'never' && prepared?.call.tool.repeat !== 'never';
  if (resolution === undefined && repeatable) return undefined;
  const { record, running } = reopen(call, { open, prepared, scope });
  const check = resolution ?? (running && (await probe(running))) ?? { type: 'unknown' };
  // A `not-done` also covers everything that the call itself called.
  if (check.type !== 'not-done') record.reservations = readReservations(open);
  if (check.type === 'done' && running !== undefined) {
    const result = toolOk(check.value ?? null, check.message ?? 'It took effect before its process ended.');
    return finish(await conclude({ type: 'returned', value: result }, running), scope);
  }
  return finish(recordEnd(toEnding(call, check), record), scope);
}

/** The parsed call; `undefined` if its tool no longer exists, rejects the arguments, or the log has only masks. */
export function prepareAgain(call: IdentifiedCall, scope: CallScope): Prepared | undefined {
  const prepared = refuseMasked(call) === undefined ? prepare(call, scope) : undefined;
  return prepared?.type === 'prepared' ? prepared : undefined;
}

/** The record of a call that began earlier, continued in this process. */
export function reopen(
  call: IdentifiedCall,
  {
    open,
    prepared,
    scope,
  }: { readonly open: BegunCall; readonly prepared: Prepared | undefined; readonly scope: CallScope },
): { readonly record: CallRecord; readonly running: RunningCall | undefined } {
  const { start } = open;
  const startedAtMs = start.atMs;
  tellStart(call, scope);
  const running = prepared && new RunningCall(call, prepared, { scope, startedAtMs });
  const record = running ?? new CallRecord(call, scope, startedAtMs);
  record.input = isPlainObject(start.input) ? start.input : {};
  const answered = open.approvals.findLast(({ answer }) => answer !== undefined);
  if (answered?.answer !== undefined) {
    record.approval = { type: answered.answer.type, by: answered.answeredBy ?? 'person' };
  }
  return { record, running };
}

/** Settles a recovered result like any other: validated, passed to policies and committed. */
export async function conclude(answer: Answer, call: RunningCall): Promise<ToolCallEndEvent> {
  const { reservations } = call;
  if (reservations !== undefined) {
    // Its nested calls ended with the process and will not be settled.
    const misfit = stageReserved(reservedWithin(reservations, call.source.id), call.transaction);
    if (misfit !== undefined) call.broke(misfit.thrown);
  }
  return settle(answer, call);
}

function toEnding({ name }: IdentifiedCall, check: EffectCheck): Ending {
  const said = check.message === undefined ? '' : ` ${check.message}`;
  switch (check.type) {
    case 'not-done': {
      const message = `\`${name}\` was interrupted and did not take effect; call it again if you still need it.${said}`;
      return failure('cancelled', { code: 'call.not_done', message });
    }
    case 'done': {
      const message = `\`${name}\` took effect, but its result cannot be accepted: the tool no longer exists, or rejects its arguments.${said}`;
      return failure('in-doubt', { code: 'call.interrupted', message });
    }
    case 'unknown': {
      const message = `It is not known whether \`${name}\` took effect: the process ended while it ran. Find out before calling it again.${said}`;
      return failure('in-doubt', { code: 'call.interrupted', message });
    }
  }
}

/** The ending of a call whose process ended before it began. */
export function neverBegan({ name }: IdentifiedCall): Ending {
  const message = `\`${name}\` was not run: the process ended before it began. Call it again if you still need it.`;
  return failure('cancelled', { code: 'call.interrupted', message });
}
