import type { PendingApproval, PreparedCall } from '@holdfast/core';
import type { LogEntry } from '@holdfast/session';
import { denied, endOfLife, failure } from '../call/ending.ts';
import type { RunningCall } from '../call/running-call.ts';
import type { CallScope } from '../call/scope.ts';
import type { Ended, Permitted, Verdict } from '../call/types.ts';
import { type Answered, askHost, reportRequest, toPending } from './ask.ts';
import { authorize } from './authorize.ts';
import {
  asksTheSame,
  deniedBecause,
  type EarlierAnswers,
  expired,
  findAnswer,
  noEarlierAnswers,
  type Refusal,
  readEarlierAnswers,
} from './earlier-answers.ts';
import { grantTool } from './grants.ts';

const permitted: Permitted = { type: 'permitted' };

/** Runs the approval loop. Policies run again after an approval. */
export async function permitWithApproval(first: Verdict | Promise<Verdict>, running: RunningCall): Promise<Permitted> {
  const { call, scope } = running;
  const approved = new Set<string>();
  running.approved = approved;
  let earlier: EarlierAnswers | undefined;
  for (let verdict = await first; ; verdict = await askAgain()) {
    running.decisions = verdict.decisions;
    const over = endOfLife(call.tool.name, scope.lifetime.ended);
    if (over !== undefined) return over;
    // When resuming, a recorded denial still counts even if no policy asks any more.
    const settled = verdict.type === 'allow' && (scope.resuming === undefined || earlier !== undefined);
    if (settled) return permitted;
    if (verdict.type === 'deny') return { type: 'ended', ending: denied(verdict.decisions) };

    const unanswerable = nobodyToAsk(scope);
    if (unanswerable !== undefined && scope.resuming === undefined) return refusedApproval(unanswerable, verdict, call);
    const question = await toPending(call, verdict.decisions, {
      scope,
      recorded: running.input ?? {},
      raw: running.source.arguments,
    });
    if (earlier === undefined) {
      earlier = scope.resuming !== undefined ? readEarlierAnswers(question, scope) : noEarlierAnswers;
      const { refusal, by = 'person' } = earlier;
      if (verdict.type === 'allow' && refusal?.code !== 'approval.denied') return permitted;
      if (refusal !== undefined) {
        running.approval = { type: 'deny', by };
        return refusedApproval(refusal, verdict, call);
      }
      if (earlier.approved.size > 0) {
        running.approval = { type: 'approve', by };
        if (earlier.grant) grantTool(scope.rootSession, question);
        for (const policy of earlier.approved) approved.add(policy);
        continue;
      }
    }
    const { waiting, outdated } = earlier;
    if (unanswerable !== undefined)
      return refusedApproval(outdated ? { ...unanswerable, why: outdatedYes } : unanswerable, verdict, call);
    const pending = waiting !== undefined && asksTheSame(waiting, question) ? waiting : question;
    if (pending === question) reportRequest(scope, question, running.source.arguments);
    const askedAtMs = scope.clock.now();
    const answered = scope.approve === undefined ? 'later' : await askHost(scope.approve, pending, scope);
    running.waitedMs += scope.clock.now() - askedAtMs;
    if (answered === 'later') {
      if (scope.parent !== undefined) return refusedApproval(nestedCannotWait, verdict, call);
      await scope.session.sync();
      return { type: 'suspended', pending };
    }
    // Unanswered because the run ended: the call ends the same way.
    if (answered === undefined)
      return (
        endOfLife(call.tool.name, scope.lifetime.ended) ?? refusedApproval(deniedBecause(undefined), verdict, call)
      );
    const taken = answered === 'expired' ? findAnswer(pending, scope) : takeAnswer(scope, pending, answered);
    if (taken === undefined) return refusedApproval(expired, verdict, call);
    const { answer, by } = taken;
    await scope.rootSession.sync();
    running.approval = { type: answer.type, by };
    if (answer.type === 'deny') return refusedApproval(deniedBecause(answer.reason), verdict, call);
    // The facts may have changed while the person decided; then the answer was about something else.
    if (scope.facts?.renew(call) === true) {
      approved.clear();
      continue;
    }
    if (answer.grant === true) grantTool(scope.rootSession, pending);
    for (const { policy } of pending.asks) approved.add(policy);
  }

  function askAgain(): Verdict | Promise<Verdict> {
    running.decidedAt = scope.moves.count;
    return authorize(call, scope, approved);
  }
}

// The outer call is running and cannot be stored and resumed.
const nestedCannotWait: Refusal = {
  code: 'approval.nested',
  why: 'a nested call cannot wait for it; call the tool directly, or grant it for the session',
};
const unattendedCannot: Refusal = { code: 'approval.unattended', why: 'no one is available to approve it' };

// Tells a person who approved why their answer had no effect.
const outdatedYes =
  'the call, its tool or the policies have changed since it was approved, and no one is available to approve it again';

function nobodyToAsk({ unattended, approve, parent }: CallScope): Refusal | undefined {
  if (unattended) return unattendedCannot;
  return approve === undefined && parent !== undefined ? nestedCannotWait : undefined;
}

function refusedApproval({ code, why }: Refusal, { decisions }: Verdict, { tool }: PreparedCall): Ended {
  const { name } = tool;
  const reasons = decisions.filter(({ type }) => type === 'ask').map(({ reason = '' }) => reason);
  const message = `Denied: \`${name}\` needs approval, and ${why}. ${reasons.join(' ')}`;
  return { type: 'ended', ending: failure('denied', { code, message }) };
}

/** Returns the first recorded answer: another process may have answered while the host was asked. */
function takeAnswer(scope: CallScope, pending: PendingApproval, answered: Answered): Answered {
  const recorded = findAnswer(pending, scope);
  if (recorded !== undefined) return recorded;
  reportAnswer(scope, pending, answered);
  return answered;
}

function reportAnswer({ session, emit }: CallScope, pending: PendingApproval, { answer, by }: Answered): void {
  const { callId, run, turn, digest } = pending;
  const event = { type: 'approval-answer', callId, run, turn, digest, answer, by } as const;
  // JSON by construction; TypeScript cannot see that of an interface.
  session.record(event as unknown as LogEntry);
  emit?.(event);
}
