import {
  isHoldfastError,
  type Json,
  type Operation,
  type OutcomeKind,
  type PreparedCall,
  type Problem,
  type ToolCallEndEvent,
} from '@holdfast/core';
import { describeThrown, isOperation } from '@holdfast/core/internal';
import type { OpenCall, SessionTransaction } from '@holdfast/session';
import { isClaimed } from '../approval/claims.ts';
import type { PolicyBinding } from '../call/authorize.ts';
import { failure, thrownCode } from '../call/ending.ts';
import { isThenable, waitForAnswer } from '../call/execute.ts';
import type { CallRecord, RunningCall } from '../call/running-call.ts';
import { type CallScope, companionOf } from '../call/scope.ts';
import { toEndEvent, toLogEntry } from '../call/settle.ts';
import type { Ended, Ending, Reservations } from '../call/types.ts';

/** Asks the policies what is kept of a call should it not be known whether it took effect. A faulty answer keeps it from beginning. */
export function askReservations(running: RunningCall): Ended | undefined {
  const { call, scope } = running;
  let staging: SessionTransaction | undefined;
  let others = 0;
  for (const bound of scope.observers) {
    if (bound.policy.reserve === undefined) continue;
    if (staging === undefined) {
      staging = scope.state.begin();
      stageOthers(call, scope, staging);
      others = staging.changes.length;
    }
    const problem = stageAnswer(bound, running, staging);
    if (problem !== undefined) return { type: 'ended', ending: failure('denied', problem) };
  }
  if (staging === undefined) return undefined;
  staging.discard();
  const fresh = staging.changes.slice(others);
  if (fresh.length === 0) return undefined;
  running.reservations ??= new Map();
  // A call that is begun again has one effect: what a policy says now takes the place of what it said then.
  const earlier = running.reservations
    .get(call.id)
    ?.filter((change) => !fresh.some((other) => isOfSame(change, other)));
  running.reservations.set(call.id, earlier === undefined ? fresh : [...earlier, ...fresh]);
  return undefined;
}

/** Of a call whose process ended, as its start record has them. */
export function readReservations({ start }: OpenCall): Reservations | undefined {
  if (start?.reserved === undefined) return undefined;
  return new Map(start.reserved.map(({ callId, changes }) => [callId, changes]));
}

/** What counts of a call that ended as `kind` when its success does not: also what was nested in it has happened. */
export function reservedBy(reservations: Reservations, callId: string, kind: OutcomeKind): Reservations {
  if (kind === 'in-doubt' || kind === 'ok' || !reservations.has(callId)) return reservations;
  const nested = new Map(reservations);
  nested.delete(callId);
  return nested;
}

/** A call with reservations has begun, or one that has begun has its first. */
export function joinReserved({ reservations, scope }: RunningCall): void {
  if (reservations !== undefined) join(scope, reservations);
}

/** A call runs elsewhere: its start record has what it reserved. */
export function leaveReserved({ reservations, scope }: RunningCall): void {
  if (reservations !== undefined) leave(scope, reservations);
}

/** A call has succeeded. */
export function endReserved({ reservations, scope }: RunningCall): void {
  if (reservations === undefined) return;
  leave(scope, reservations);
  passUp(reservations, scope);
}

/**
 * Writes down how a call ended whose own changes do not count, with what may have happened nevertheless: it is a part of the same
 * record. `undefined`: there is nothing of it.
 */
export function recordReserved(call: CallRecord, ending: Ending): ToolCallEndEvent | undefined {
  const { reservations, scope, source } = call;
  if (reservations === undefined) return undefined;
  leave(scope, reservations);
  const reserved = reservedBy(reservations, source.id, ending.kind);
  if (reserved.size === 0) return undefined;
  const open = openScopeOf(scope);
  const transaction = open.state.begin();
  const misfit = stageReserved(reserved, transaction);
  if (misfit !== undefined) {
    transaction.discard();
    const extended = withMisfit(ending, misfit.thrown);
    const event = toEndEvent(extended, call);
    scope.session.record(toLogEntry(event, extended, call));
    return event;
  }
  const { events, changes } = transaction;
  const event = toEndEvent(ending, call, { events, changes, touched: new Map(), mark: undefined });
  transaction.commit(toLogEntry(event, ending, call));
  if (!open.nested) open.moves.count += 1;
  passUp(reserved, open);
  return event;
}

function withMisfit(ending: Ending, misfit: unknown): Ending {
  const { kind, code = 'policy.reserve_failed', message, value } = ending;
  const extended = `${message} What policies have reserved for it could not be kept: ${describeThrown(misfit)}`;
  return { ...ending, ...failure(kind === 'ok' ? 'failed' : kind, { code, message: extended }, { value }) };
}

function join({ session }: CallScope, reservations: Reservations): void {
  companionOf(session).reserved.add(reservations);
}

/** It has ended: what counts of it is in the state. */
function leave({ session }: CallScope, reservations: Reservations): void {
  companionOf(session).reserved.delete(reservations);
}

/** A call is over, and has committed into `scope`: what counts of it depends on the call around it now. */
function passUp(reservations: Reservations, scope: CallScope): void {
  const { parent } = scope;
  if (parent === undefined || !scope.nested) return;
  parent.reservations ??= new Map();
  for (const [callId, changes] of reservations) parent.reservations.set(callId, changes);
  join(parent.scope, parent.reservations);
}

/**
 * Stages what was reserved, without asking a policy; or says why that cannot be: the policy of today keeps its state in another way
 * than the one that has reserved it.
 */
export function stageReserved(
  reservations: Reservations,
  transaction: SessionTransaction,
): { readonly thrown: unknown } | undefined {
  try {
    for (const changes of reservations.values()) transaction.reapply(changes);
    return undefined;
  } catch (thrown) {
    return { thrown };
  }
}

/** The scope of the call if the one around it goes on, else of one further out. */
function openScopeOf(scope: CallScope): CallScope {
  if (scope.parent === undefined || !scope.nested) return scope;
  try {
    scope.state.begin().discard();
    return scope;
  } catch (thrown) {
    // That is how a transaction says that it has ended.
    if (!isHoldfastError(thrown) || thrown.code !== 'context.closed') throw thrown;
    return openScopeOf(scope.parent.scope);
  }
}

/** What all other calls that are under way have reserved: any of them may yet be in doubt. */
function stageOthers(call: PreparedCall, { session, run, parent }: CallScope, staging: SessionTransaction): void {
  for (const reservations of companionOf(session).reserved) {
    const around = findAround(parent, reservations);
    // What calls around this one have called so far is in their transactions, which are read through.
    const own = around && new Map([[around.call.id, reservations.get(around.call.id) ?? []]]);
    for (const changes of (own ?? reservations).values()) staging.reapply(changes);
  }
  for (const { callId, start, ...place } of session.openWork().calls) {
    // Those that are under way here have been staged above; a released one runs elsewhere.
    if (start?.reserved === undefined || (!start.interrupted && isClaimed(session, place.run ?? callId))) continue;
    const isSame = callId === call.id && place.run === run?.startSeq && place.turn === run?.turn;
    if (isSame && parent === undefined) continue;
    for (const { changes } of start.reserved) staging.reapply(changes);
  }
}

/** The call around, at any distance, that the reservations are of. */
function findAround(parent: RunningCall | undefined, reservations: Reservations): RunningCall | undefined {
  for (let around = parent; around !== undefined; around = around.scope.parent) {
    if (around.reservations === reservations) return around;
  }
  return undefined;
}

function stageAnswer(
  bound: PolicyBinding,
  { call, scope, key }: RunningCall,
  staging: SessionTransaction,
): Problem | undefined {
  const { key: policyKey, policy, slice } = bound;
  const context = Object.freeze({ ...bound.context(staging, scope.surroundings), callKey: key });
  let answer: unknown;
  try {
    answer = policy.reserve?.(call, context);
  } catch (thrown) {
    staging.discard();
    const message = describeThrown(thrown);
    const refusal = thrownCode(thrown, '');
    if (refusal !== '') return { code: refusal, message: `Denied: ${message}` };
    return {
      code: 'policy.reserve_failed',
      message: `Denied: \`reserve\` of the policy \`${policyKey}\` failed: ${message}`,
    };
  }
  if (answer === undefined) return undefined;
  try {
    if (slice?.kind !== 'keyed') throw new TypeError('it needs a policy whose state is keyed');
    staging.apply(slice, toKeyedOperations(answer));
    return undefined;
  } catch (thrown) {
    staging.discard();
    const message = `Denied: \`reserve\` of the policy \`${policyKey}\` answered what cannot be: ${describeThrown(thrown)}`;
    return { code: 'policy.reserve_failed', message };
  }
}

/** Whatever else has changed the state, these can be made. */
function toKeyedOperations(answer: unknown): readonly Operation[] {
  if (isThenable(answer)) {
    // Its rejection, which nobody will hear, must not end the process.
    void waitForAnswer(answer);
    throw new TypeError('it answered with a promise; it has to answer at once');
  }
  const operations: readonly unknown[] = Array.isArray(answer) ? answer : [answer];
  const isKeyed = (each: unknown): each is Operation =>
    isOperation(each) && (each.op === 'upsert' || each.op === 'remove');
  if (operations.every(isKeyed)) return operations;
  throw new TypeError(
    'it has to answer `upsert` and `remove` only, as other calls may change the state before it counts',
  );
}

function isOfSame(one: Json, other: Json): boolean {
  return sliceOf(one) === sliceOf(other);
}

function sliceOf(change: Json): unknown {
  // As a transaction has made it.
  return (change as { readonly slice?: unknown }).slice;
}
