import {
  isHoldfastError,
  type Json,
  type Operation,
  type OutcomeKind,
  type PreparedCall,
  type ToolCallEndEvent,
} from '@holdfast/core';
import { describeThrown, isOperation, toProblem } from '@holdfast/core/internal';
import type { Problem } from '@holdfast/core/types';
import type { SessionTransaction } from '@holdfast/session';
import type { OpenCall } from '@holdfast/session/internal';
import { isClaimed } from '../approval/claims.ts';
import { failure } from '../call/ending.ts';
import { isThenable, waitForAnswer } from '../call/execute.ts';
import type { PolicyBinding } from '../call/policies.ts';
import type { CallRecord, RunningCall } from '../call/running-call.ts';
import { type CallScope, companionOf } from '../call/scope.ts';
import { toEndEvent, toLogEntry } from '../call/settle.ts';
import type { Ended, Ending, Reservations } from '../call/types.ts';

/** Collects the policies' reservations, which count if the call ends in doubt, or fails under a policy that counts failures. A faulty answer denies the call. */
export function askReservations(running: RunningCall): Ended | undefined {
  const { call, scope } = running;
  let staging: SessionTransaction | undefined;
  let others = 0;
  const mayEndInDoubt = call.tool.effects === 'external' && call.tool.repeat !== 'safe';
  for (const bound of scope.observers) {
    if (bound.policy.reserve === undefined || !(mayEndInDoubt || bound.policy.countsFailures === true)) continue;
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
  // A repeated call has one effect, so new reservations replace the earlier ones.
  const earlier = running.reservations
    .get(call.id)
    ?.filter((change) => !fresh.some((other) => sliceOf(change) === sliceOf(other)));
  running.reservations.set(call.id, earlier === undefined ? fresh : [...earlier, ...fresh]);
  return undefined;
}

/** The reservations of an interrupted call, from its start record. */
export function readReservations({ start }: OpenCall): Reservations | undefined {
  if (start?.reserved === undefined) return undefined;
  return new Map(start.reserved.map(({ callId, changes }) => [callId, changes]));
}

/** The reservations of the calls nested in a call. */
export function reservedWithin(reservations: Reservations, callId: string): Reservations {
  if (!reservations.has(callId)) return reservations;
  const nested = new Map(reservations);
  nested.delete(callId);
  return nested;
}

/** The reservations that count for a call that did not succeed, including those of its nested calls. */
function reservedBy(reservations: Reservations, { source, scope }: CallRecord, kind: OutcomeKind): Reservations {
  if (kind === 'in-doubt' || kind === 'ok') return reservations;
  const counting = new Set<unknown>(
    scope.observers.flatMap(({ policy, slice }) => (policy.countsFailures === true ? (slice?.id ?? []) : [])),
  );
  const own = reservations.get(source.id)?.filter((change) => counting.has(sliceOf(change))) ?? [];
  const nested = reservedWithin(reservations, source.id);
  return own.length === 0 ? nested : new Map([...nested, [source.id, own]]);
}

/** Adds the reservations of a call that has begun. */
export function joinReserved({ reservations, scope }: RunningCall): void {
  if (reservations !== undefined) join(scope, reservations);
}

/** Hands over the reservations of a released call to its start record. */
export function leaveReserved({ reservations, scope }: RunningCall): void {
  if (reservations !== undefined) leave(scope, reservations);
}

/** Removes the reservations of a successful call. */
export function endReserved({ reservations, scope }: RunningCall): void {
  if (reservations === undefined) return;
  leave(scope, reservations);
  passUp(reservations, scope);
}

/** Records the end of a call whose own changes do not count, with its reservations. `undefined` if there are none. */
export function recordReserved(call: CallRecord, ending: Ending): ToolCallEndEvent | undefined {
  const { reservations, scope } = call;
  if (reservations === undefined) return undefined;
  leave(scope, reservations);
  const reserved = reservedBy(reservations, call, ending.kind);
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
  const { kind, code, message, value } = ending;
  const because = code === undefined ? { code: 'policy.denied', reason: 'reserve' } : { code, reason: ending.reason };
  const extended = `${message} Its reservations could not be recorded: ${describeThrown(misfit)}`;
  return { ...ending, ...failure(kind === 'ok' ? 'failed' : kind, { ...because, message: extended }, { value }) };
}

function join({ session }: CallScope, reservations: Reservations): void {
  companionOf(session).reserved.add(reservations);
}

/** The call has ended: the state includes its reservations. */
function leave({ session }: CallScope, reservations: Reservations): void {
  companionOf(session).reserved.delete(reservations);
}

/** A nested call has committed into `scope`: its reservations now depend on the outer call. */
function passUp(reservations: Reservations, scope: CallScope): void {
  const { parent } = scope;
  if (parent === undefined || !scope.nested) return;
  parent.reservations ??= new Map();
  for (const [callId, changes] of reservations) parent.reservations.set(callId, changes);
  join(parent.scope, parent.reservations);
}

/** Stages reservations without running a policy. Returns an error if the policy now stores its state differently. */
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

/** The scope of the call if the outer call is still running, else one further out. */
function openScopeOf(scope: CallScope): CallScope {
  if (scope.parent === undefined || !scope.nested) return scope;
  try {
    scope.state.begin().discard();
    return scope;
  } catch (thrown) {
    // The transaction has ended.
    if (!isHoldfastError(thrown) || thrown.code !== 'context.closed') throw thrown;
    return openScopeOf(scope.parent.scope);
  }
}

/** Stages the reservations of all other running calls: any of them may end in doubt. */
function stageOthers(call: PreparedCall, { session, run, parent }: CallScope, staging: SessionTransaction): void {
  for (const reservations of companionOf(session).reserved) {
    const around = findAround(parent, reservations);
    // Earlier calls of the outer calls are in their transactions.
    const own = around && new Map([[around.call.id, reservations.get(around.call.id) ?? []]]);
    for (const changes of (own ?? reservations).values()) staging.reapply(changes);
  }
  for (const { callId, start, ...place } of session.openWork().calls) {
    // Calls running here are staged above; a released one runs elsewhere.
    if (start?.reserved === undefined || (!start.interrupted && isClaimed(session, place.run ?? callId))) continue;
    const isSame = callId === call.id && place.run === run?.startSeq && place.turn === run?.turn;
    if (isSame && parent === undefined) continue;
    for (const { changes } of start.reserved) staging.reapply(changes);
  }
}

/** The outer call, at any level, with these reservations. */
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
    const said = isHoldfastError(thrown) ? message : `\`reserve\` of the policy \`${policyKey}\` failed: ${message}`;
    return toProblem(thrown, { code: 'policy.denied', reason: 'reserve' }, `Denied: ${said}`);
  }
  if (answer === undefined) return undefined;
  try {
    if (slice?.kind !== 'keyed') throw new TypeError('it requires keyed state');
    staging.apply(slice, toKeyedOperations(answer));
    return undefined;
  } catch (thrown) {
    staging.discard();
    const message = `Denied: \`reserve\` of the policy \`${policyKey}\` returned an invalid change: ${describeThrown(thrown)}`;
    return { code: 'policy.denied', reason: 'reserve', message };
  }
}

/** Accepts only operations that commute with concurrent calls. */
function toKeyedOperations(answer: unknown): readonly Operation[] {
  if (isThenable(answer)) {
    // Handled here: an unhandled rejection would end the process.
    void waitForAnswer(answer);
    throw new TypeError('it returned a promise; it must be synchronous');
  }
  const operations: readonly unknown[] = Array.isArray(answer) ? answer : [answer];
  const isKeyed = (each: unknown): each is Operation =>
    isOperation(each) && (each.op === 'upsert' || each.op === 'remove');
  if (operations.every(isKeyed)) return operations;
  throw new TypeError('it must return only `upsert` and `remove`, because other calls may change the state first');
}

function sliceOf(change: Json): unknown {
  // Created by a transaction.
  return (change as { readonly slice?: unknown }).slice;
}
