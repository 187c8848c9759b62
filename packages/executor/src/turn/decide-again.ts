import type { FilesystemReader, PlaceView, PolicyDecision, SessionReader, ToolCallEndEvent } from '@holdfast/core';
import type { SessionTransaction } from '@holdfast/session';
import { authorize } from '../approval/authorize.ts';
import { endOfLife, failure } from '../call/ending.ts';
import type { PolicyMoves, PolicySurroundings } from '../call/policies.ts';
import { type PolicyBinding, policiesFor, statefulFor } from '../call/policies.ts';
import type { RunningCall } from '../call/running-call.ts';
import type { CallScope } from '../call/scope.ts';
import { isOvertaken } from '../call/settle.ts';
import type { Ending, NestedDecision, Verdict } from '../call/types.ts';

/** Decides a stale call again until no other call commits in between, then commits it. */
export async function commitOvertaken(
  commit: () => ToolCallEndEvent | Ending,
  call: RunningCall,
): Promise<ToolCallEndEvent | Ending> {
  let leave: (() => void) | undefined;
  try {
    while (isOvertaken(call)) {
      const deciding = decideAgain(call);
      const refusal = deciding instanceof Promise ? await deciding : deciding;
      if (refusal !== undefined) return refusal;
      // Stale again while policies ran: from now on calls queue, or each would be decided once per other call.
      if (leave === undefined && isOvertaken(call)) leave = await takeTurn(call.scope.moves);
    }
    // Synchronous, so nothing can come in between.
    return commit();
  } finally {
    leave?.();
  }
}

/** Waits in the queue. Returns a function that lets the next call continue. */
async function takeTurn(moves: PolicyMoves): Promise<() => void> {
  const { turn } = moves;
  const { promise, resolve } = Promise.withResolvers<void>();
  moves.turn = promise;
  await turn;
  return resolve;
}

/**
 * Re-runs policies with possibly changed answers for a successful call and its nested calls, on the current state. Synchronous if they
 * are. `undefined`: it may count, unless it is stale again.
 */
function decideAgain(running: RunningCall): Ending | undefined | Promise<Ending | undefined> {
  const { call, scope } = running;
  running.decidedAt = scope.moves.count;
  const policies = scope.moves.looked ? policiesFor(scope, call.tool.name) : statefulFor(call, scope);
  const verdict = policies.length === 0 ? undefined : authorize(call, withPolicies(scope, policies), running.approved);
  const { decisions = [] } = running.nestedWork ?? {};
  if (verdict instanceof Promise || decisions.length > 0) return decideSlowly(verdict, running, decisions);
  return verdict && toRefusal(verdict, running);
}

async function decideSlowly(
  first: Verdict | undefined | Promise<Verdict>,
  running: RunningCall,
  decisions: readonly NestedDecision[],
): Promise<Ending | undefined> {
  const { scope } = running;
  const verdict = first instanceof Promise ? await first : first;
  const refusal = verdict && toRefusal(verdict, running);
  if (refusal !== undefined) return refusal;
  const transaction = scope.state.begin();
  try {
    for (const decision of decisions) {
      const refusing = await findRefusal(decision, transaction, scope);
      if (refusing !== undefined) return toRefusal(refusing, running);
    }
    return undefined;
  } finally {
    transaction.discard();
  }
}

/** Decides a nested call on the state of `transaction`, which then includes its changes. Returns a refusal. */
async function findRefusal(
  { call, scope, approved, nested, changes }: NestedDecision,
  transaction: SessionTransaction,
  outermost: CallScope,
): Promise<Verdict | undefined> {
  for (const policy of statefulFor(call, scope)) {
    // A policy's internal state already includes this call's success.
    if (policy.slice === undefined) continue;
    const { surroundings, looked } = watchSurroundings(scope.surroundings);
    // The outer call has finished, which ended the lifetime of nested calls.
    const { lifetime } = outermost;
    const asked = { ...withPolicies(scope, [policy]), state: transaction, surroundings, lifetime };
    const verdict = await authorize(call, asked, approved);
    // The policy may have seen this call's own changes. Files have a separate check.
    if (verdict.type !== 'allow' && !looked()) return verdict;
  }
  for (const inner of nested) {
    const refusing = await findRefusal(inner, transaction, outermost);
    if (refusing !== undefined) return refusing;
  }
  transaction.reapply(changes);
  return undefined;
}

function withPolicies(scope: CallScope, policies: readonly PolicyBinding[]): CallScope {
  return { ...scope, policiesOf: () => policies };
}

function toRefusal({ type, decisions }: Verdict, running: RunningCall): Ending | undefined {
  if (type === 'allow') return undefined;
  const { call, scope } = running;
  const over = endOfLife(call.tool.name, scope.lifetime.ended, 'counted');
  if (over !== undefined) return over.ending;
  running.decisions = merge(running.decisions, decisions);
  const reasons = decisions.filter((decision) => decision.type === type).map(({ reason = '' }) => reason);
  const needs = type === 'ask' ? ' It now needs approval.' : '';
  const message = `Denied: ${reasons.join(' ')}${needs} It was allowed when it began; another call committed first, so its changes were discarded.`;
  return failure('denied', { code: 'policy.denied', message });
}

/** The latest decision of every policy. */
function merge(before: readonly PolicyDecision[], now: readonly PolicyDecision[]): readonly PolicyDecision[] {
  const last = new Map([...before, ...now].map((decision) => [decision.policy, decision]));
  return [...last.values()];
}

/** Surroundings that note if a policy reads anything that other calls may change. */
export function watchSurroundings({ session, filesystem, place, ...others }: PolicySurroundings): {
  readonly surroundings: PolicySurroundings;
  looked(): boolean;
} {
  let looked = false;
  const noticing =
    <Parameters extends readonly unknown[], Answer>(method: (...parameters: Parameters) => Answer) =>
    (...parameters: Parameters): Answer => {
      looked = true;
      return method(...parameters);
    };
  const watchedSession: SessionReader = Object.freeze({
    read: noticing((slice) => session.read(slice)) as SessionReader['read'],
  });
  const watchedFilesystem: FilesystemReader | undefined =
    filesystem === undefined
      ? undefined
      : Object.freeze({
          resolve: noticing((path: string) => filesystem.resolve(path)),
          stat: noticing((path: string) => filesystem.stat(path)),
          read: noticing((path: string, options?: { readonly peek?: boolean }) => filesystem.read(path, options)),
          readText: noticing((path: string) => filesystem.readText(path)),
          list: noticing((path: string) => filesystem.list(path)),
          walk: noticing((path?: string) => filesystem.walk(path)),
        });
  const disk = place?.disk;
  const watchedPlace: PlaceView | undefined =
    place === undefined || disk === undefined
      ? place
      : Object.freeze({
          ...place,
          disk: Object.freeze({
            folds: disk.folds,
            look: noticing((path: string) => disk.look(path)),
            list: noticing((path: string) => disk.list(path)),
            readText: noticing((path: string, maxBytes: number) => disk.readText(path, maxBytes)),
          }),
        });
  return {
    surroundings: { ...others, session: watchedSession, filesystem: watchedFilesystem, place: watchedPlace },
    looked: () => looked,
  };
}
