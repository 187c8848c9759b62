import { HoldfastError, type Outcome } from '@holdfast/core';
import type { OpenCall, Session } from '@holdfast/session';
import { checkCallId, claimCall, isClaimed } from '../approval/claims.ts';
import { checkContent, dropCalls, refuseMasked, takeCalls } from '../approval/masked-calls.ts';
import { endOfLife } from '../call/ending.ts';
import { identifyCall } from '../call/prepare.ts';
import { type Released, type RunCallOptions, runCall } from '../call/run-call.ts';
import type { CallOptions, CallScope } from '../call/scope.ts';
import type { Ending, IdentifiedCall, Suspended } from '../call/types.ts';
import { openScope } from '../direct/features.ts';
import { type RecoveryFailure, recoverResources } from '../resources/recover.ts';
import { type BegunCall, isBegun, recoverCall } from './recover-call.ts';
import { resuming } from './resuming.ts';

/**
 * Goes on with a direct call that waits for a person, or whose process ended under it: as `resumeRun`, for one call. Policies are
 * asked again; a call that still has no answer stays suspended.
 *
 * @throws HoldfastError `call.not_open`, `call.under_way`, `replay.no_content`, and as `executeToolCall`.
 */
export async function resumeToolCall(callId: string, options: CallOptions): Promise<Outcome | Suspended> {
  const scope = openScope(options);
  try {
    return await resumeIn(scope, callId);
  } finally {
    scope.lifetime.dispose();
  }
}

/** As `resumeToolCall`. */
export async function resumeIn<Elsewhere extends Released = never>(
  scope: CallScope,
  callId: string,
  elsewhere?: RunCallOptions<Elsewhere>['elsewhere'],
): Promise<Outcome | Suspended | NoInfer<Elsewhere>> {
  findCall(scope, callId);
  const release = claimCall(scope.session, callId);
  try {
    await recoverResources(scope);
    return await goOn(findCall(scope, callId), scope, elsewhere);
  } finally {
    release();
  }
}

/** What `recoverSession` did. */
export interface RecoveredSession {
  /** Of direct calls that were under way. */
  readonly outcomes: readonly Outcome[];
  /** Direct calls that were begun and may be run again, by `resumeToolCall`. */
  readonly repeatable: readonly OpenCall[];
  /** Changes of staged resources that could not be completed or put back; the log has them too. */
  readonly failures: readonly RecoveryFailure[];
}

/**
 * Settles what was in flight when the process of a session ended, outside of runs: to be called after `replay`, before the session is
 * used. Direct calls that were begun end, unless they may be repeated; changes of staged resources are completed or put back by the
 * log, as they are before any first call. What belongs to a run that has not ended is settled by `resumeRun`, which does the rest as well.
 *
 * @throws HoldfastError as `executeToolCall`.
 */
export async function recoverSession(options: CallOptions): Promise<RecoveredSession> {
  const scope = openScope(options);
  try {
    const failures = (await recoverResources(scope)) ?? [];
    const outcomes: Outcome[] = [];
    const repeatable: OpenCall[] = [];
    for (const { callId } of begunCalls(scope.session)) {
      if (isClaimed(scope.session, callId)) continue;
      const release = claimCall(scope.session, callId);
      try {
        // Meanwhile somebody else may have settled it.
        const found = scope.session.openCall({ callId });
        const open = isBegun(found) ? found : undefined;
        const outcome = open && (await recoverCall(identify(open, scope), open, scope));
        if (outcome !== undefined) {
          outcomes.push(outcome);
          dropCalls(scope.session, { callId });
        } else if (open !== undefined) repeatable.push(open);
      } finally {
        release();
      }
    }
    return Object.freeze({ outcomes, repeatable, failures });
  } finally {
    scope.lifetime.dispose();
  }
}

function begunCalls(session: Session): readonly BegunCall[] {
  return session
    .openWork()
    .calls.filter(isBegun)
    .filter(({ run }) => run === undefined);
}

async function goOn<Elsewhere extends Released>(
  open: OpenCall,
  scope: CallScope,
  elsewhere: RunCallOptions<Elsewhere>['elsewhere'],
): Promise<Outcome | Suspended | NoInfer<Elsewhere>> {
  const call = identify(open, scope);
  const outcome = isBegun(open) ? await recoverCall(call, open, scope) : undefined;
  const refusal = giveUp(call, scope) ?? refuseMasked(call);
  const ended = outcome ?? (await runCall(call, { ...scope, resuming }, { refusal, elsewhere }));
  if (ended.kind !== 'suspended' && ended.kind !== 'released') dropCalls(scope.session, { callId: open.callId });
  return ended;
}

/** How a call ends whose time is over, where the log lacks what would be needed to get that far. */
function giveUp({ name }: IdentifiedCall, scope: CallScope): Ending | undefined {
  return scope.session.content === 'none' ? endOfLife(name, scope.lifetime.ended)?.ending : undefined;
}

export function identify({ callId, name, rawArguments }: OpenCall, { session }: CallScope): IdentifiedCall {
  const recorded = identifyCall({ id: callId, name, arguments: rawArguments }, () => callId);
  return takeCalls(session, { callId }, [recorded])[0] ?? recorded;
}

export function findCall({ session, lifetime }: CallScope, callId: string): OpenCall {
  checkCallId(callId);
  // To give something up nothing has to be known of it.
  if (lifetime.ended === undefined) checkContent(session);
  const open = session.openCall({ callId });
  if (open === undefined) {
    throw new HoldfastError(
      'call.not_open',
      `No direct call \`${callId.slice(0, 100)}\` of the session \`${session.id}\` waits or was interrupted.`,
      { data: { callId } },
    );
  }
  return open;
}
