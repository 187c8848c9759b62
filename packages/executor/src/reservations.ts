import {
  describeThrown,
  isHoldfastError,
  isOperation,
  type Json,
  type Operation,
  type OutcomeKind,
  type PreparedCall,
  type Problem,
} from '@holdfast/core';
import type { OpenCall, SessionTransaction } from '@holdfast/session';
import { CallResources, type SourceCall } from './call-resources.ts';
import type { CallScope } from './call-scope.ts';
import { failure, thrownCode } from './ending.ts';
import { isThenable, waitForAnswer } from './invoke.ts';
import { isNested } from './is-nested.ts';
import type { Ended } from './permit.ts';
import type { PolicyBinding } from './policy-state.ts';
import type { Trail } from './trail.ts';
import { join, leave, reservationsUnderWay } from './under-way.ts';

/** Changes of policies' states that count unless what was done is counted itself: by the id of the call, and of those nested in it. */
export type Reservations = Map<string, readonly Json[]>;

/** Asks the policies what is kept of a call should it not be known whether it took effect. A faulty answer keeps it from beginning. */
export function askReservations(call: PreparedCall, trail: Trail, scope: CallScope): Ended | undefined {
  let staging: SessionTransaction | undefined;
  let others = 0;
  for (const bound of scope.observers) {
    if (bound.policy.reserve === undefined) continue;
    if (staging === undefined) {
      staging = scope.state.begin();
      stageOthers(call, scope, staging);
      others = staging.changes.length;
    }
    const problem = stageAnswer(bound, { call, raw: trail.call.arguments, scope, staging });
    if (problem !== undefined) return { type: 'ended', ending: failure('denied', problem) };
  }
  if (staging === undefined) return undefined;
  staging.discard();
  const fresh = staging.changes.slice(others);
  if (fresh.length === 0) return undefined;
  trail.reservations ??= new Map();
  // A call that is begun again has one effect: what a policy says now takes the place of what it said then.
  const earlier = trail.reservations.get(call.id)?.filter((change) => !fresh.some((other) => isOfSame(change, other)));
  trail.reservations.set(call.id, earlier === undefined ? fresh : [...earlier, ...fresh]);
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

/** A call has succeeded. */
export function endReserved(reservations: Reservations, scope: CallScope): void {
  leave(scope.session, reservations);
  passUp(reservations, scope);
}

/** A call is over, and has committed into `scope`: what counts of it depends on the call around it now. */
export function passUp(reservations: Reservations, scope: CallScope): void {
  const { parent } = scope;
  if (parent === undefined || !isNested(scope)) return;
  parent.reservations ??= new Map();
  for (const [callId, changes] of reservations) parent.reservations.set(callId, changes);
  join(parent.scope.session, parent.reservations);
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
export function openScopeOf(scope: CallScope): CallScope {
  if (scope.parent === undefined || !isNested(scope)) return scope;
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
  for (const reservations of reservationsUnderWay(session)) {
    const around = findAround(parent, reservations);
    // What calls around this one have called so far is in their transactions, which are read through.
    const own = around && new Map([[around.call.id, reservations.get(around.call.id) ?? []]]);
    for (const changes of (own ?? reservations).values()) staging.reapply(changes);
  }
  for (const { callId, start, ...place } of session.openWork().calls) {
    if (start?.interrupted !== true || start.reserved === undefined) continue;
    const isSame = callId === call.id && place.run === run?.startSeq && place.turn === run?.turn;
    if (isSame && parent === undefined) continue;
    for (const { changes } of start.reserved) staging.reapply(changes);
  }
}

/** The call around, at any distance, that the reservations are of. */
function findAround(parent: CallResources | undefined, reservations: Reservations): CallResources | undefined {
  for (let around = parent; around !== undefined; around = around.scope.parent) {
    if (around.reservations === reservations) return around;
  }
  return undefined;
}

interface Staging extends SourceCall {
  readonly scope: CallScope;
  readonly staging: SessionTransaction;
}

function stageAnswer(bound: PolicyBinding, { call, raw, scope, staging }: Staging): Problem | undefined {
  const { key: policyKey, policy, slice } = bound;
  const { key } = new CallResources({ call, raw }, scope, staging);
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
    void waitForAnswer({ type: 'unstoppable', value: answer });
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
