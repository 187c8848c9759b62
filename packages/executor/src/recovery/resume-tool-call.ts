import { HoldfastError, type Outcome } from '@holdfast/core';
import type { OpenCall } from '@holdfast/session/internal';
import { checkCallId, claimCall, isClaimed } from '../approval/claims.ts';
import { checkContent, dropCalls, refuseMasked, takeCalls } from '../approval/masked-calls.ts';
import { endOfLife } from '../call/ending.ts';
import { identifyCall } from '../call/prepare.ts';
import { type Released, type RunCallOptions, runCall } from '../call/run-call.ts';
import type { CallOptions, CallScope } from '../call/scope.ts';
import type { Ending, IdentifiedCall, Suspended } from '../call/types.ts';
import { openScope } from '../direct/features.ts';
import { type RecoveryFailure, recoverResources } from '../resources/recover.ts';
import { isBegun, recoverCall } from './recover-call.ts';
import { resuming } from './resuming.ts';

/**
 * Resumes a suspended or interrupted direct call, like `resumeRun` for one call. Policies run again; without an answer the call stays
 * suspended.
 *
 * @throws HoldfastError `work.not_open`, `work.under_way`, `replay.failed`, and as `executeToolCall`.
 */
export async function resumeToolCall(callId: string, options: CallOptions): Promise<Outcome | Suspended> {
  const scope = openScope(options);
  try {
    return await resumeIn(scope, callId);
  } finally {
    scope.lifetime.dispose();
  }
}

/** Like `resumeToolCall`. */
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

/** The result of `recoverSession`. */
export interface RecoveredSession {
  /** Of interrupted direct calls. */
  readonly outcomes: readonly Outcome[];
  /** Interrupted direct calls that may run again, with `resumeToolCall`. */
  readonly repeatable: readonly OpenCall[];
  /** Changes of staged resources that could not be completed or rolled back; also in the log. */
  readonly failures: readonly RecoveryFailure[];
}

/**
 * Settles what an ended process left open outside of runs; call it after `replay`, before using the session. Ends interrupted direct
 * calls that may not be repeated, and completes or rolls back changes of staged resources. `resumeRun` does the same for an open run.
 *
 * @throws HoldfastError as `executeToolCall`.
 */
export async function recoverSession(options: CallOptions): Promise<RecoveredSession> {
  const scope = openScope(options);
  try {
    const failures = (await recoverResources(scope)) ?? [];
    const outcomes: Outcome[] = [];
    const repeatable: OpenCall[] = [];
    for (const { callId, run, start } of scope.session.openWork().calls) {
      if (run !== undefined || start === undefined || isClaimed(scope.session, callId)) continue;
      const release = claimCall(scope.session, callId);
      try {
        // Another caller may have settled it meanwhile.
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

/** Ends a call whose time is over, if the log lacks what resuming it would need. */
function giveUp({ name }: IdentifiedCall, scope: CallScope): Ending | undefined {
  return scope.session.content === 'none' ? endOfLife(name, scope.lifetime.ended)?.ending : undefined;
}

export function identify({ callId, name, rawArguments }: OpenCall, { session }: CallScope): IdentifiedCall {
  const recorded = identifyCall({ id: callId, name, arguments: rawArguments }, () => callId);
  return takeCalls(session, { callId }, [recorded])[0] ?? recorded;
}

export function findCall({ session, lifetime }: CallScope, callId: string): OpenCall {
  checkCallId(callId);
  // Giving up needs no content.
  if (lifetime.ended === undefined) checkContent(session);
  const open = session.openCall({ callId });
  if (open === undefined) {
    throw new HoldfastError(
      'work.not_open',
      `The session \`${session.id}\` has no suspended or interrupted direct call \`${callId.slice(0, 100)}\`.`,
      { data: { reason: 'call', callId } },
    );
  }
  return open;
}
