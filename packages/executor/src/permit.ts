import type { PendingApproval, PreparedCall, Tool } from '@holdfast/core';
import type { LogEntry } from '@holdfast/session';
import { type Answered, askHost, reportRequest, toPending } from './approval.ts';
import { authorise, type Verdict } from './authorise.ts';
import type { CallScope } from './call-scope.ts';
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
import { denied, type Ending, failure } from './ending.ts';
import { grantTool } from './grants.ts';
import type { Trail } from './trail.ts';

/** What is decided about a call before it begins. */
export type Permitted =
  | { readonly type: 'permitted' }
  | { readonly type: 'suspended'; readonly pending: PendingApproval }
  | Ended;

export interface Ended {
  readonly type: 'ended';
  readonly ending: Ending;
}

const permitted: Permitted = { type: 'permitted' };

/** Authorise, and approval if somebody has to be asked. Answers at once when every policy does and nobody has to be asked. */
export function permit(call: PreparedCall, trail: Trail, scope: CallScope): Permitted | Promise<Permitted> {
  const over = endOfLife(call, scope);
  if (over !== undefined) return over;
  trail.decidedAt = scope.moves.count;
  const verdict = authorise(call, scope);
  if (verdict instanceof Promise || verdict.type !== 'allow' || scope.resuming === true)
    return permitWithApproval(verdict, call, trail, scope);
  trail.decisions = verdict.decisions;
  return permitted;
}

/** Policies are asked again after a yes. */
async function permitWithApproval(
  first: Verdict | Promise<Verdict>,
  call: PreparedCall,
  trail: Trail,
  scope: CallScope,
): Promise<Permitted> {
  const approved = new Set<string>();
  trail.approved = approved;
  let earlier: EarlierAnswers | undefined;
  for (let verdict = await first; ; verdict = await askAgain()) {
    trail.decisions = verdict.decisions;
    const over = endOfLife(call, scope);
    if (over !== undefined) return over;
    // Nobody asks any more, but somebody has been asked, and a no stays one.
    const settled = verdict.type === 'allow' && (scope.resuming !== true || earlier !== undefined);
    if (settled) return permitted;
    if (verdict.type === 'deny') return { type: 'ended', ending: denied(verdict.decisions) };

    const unanswerable = nobodyToAsk(scope);
    if (unanswerable !== undefined && scope.resuming !== true) return refusedApproval(unanswerable, verdict, call);
    const question = await toPending(call, verdict.decisions, {
      scope,
      recorded: trail.input ?? {},
      raw: trail.call.arguments,
    });
    if (earlier === undefined) {
      earlier = scope.resuming === true ? readEarlierAnswers(question, scope) : noEarlierAnswers;
      const { refusal, by = 'person' } = earlier;
      if (verdict.type === 'allow' && refusal?.code !== 'approval.denied') return permitted;
      if (refusal !== undefined) {
        trail.approval = { type: 'deny', by };
        return refusedApproval(refusal, verdict, call);
      }
      if (earlier.approved.size > 0) {
        trail.approval = { type: 'approve', by };
        if (earlier.grant) grantTool(scope.rootSession, question);
        for (const policy of earlier.approved) approved.add(policy);
        continue;
      }
    }
    const { waiting, outdated } = earlier;
    if (unanswerable !== undefined)
      return refusedApproval(outdated ? { ...unanswerable, why: outdatedYes } : unanswerable, verdict, call);
    const pending = waiting !== undefined && asksTheSame(waiting, question) ? waiting : question;
    if (pending === question) reportRequest(scope, question, trail.call.arguments);
    const askedAtMs = scope.clock.now();
    const answered = scope.approve === undefined ? 'later' : await askHost(scope.approve, pending, scope);
    trail.waitedMs += scope.clock.now() - askedAtMs;
    if (answered === 'later') {
      if (scope.parent !== undefined) return refusedApproval(nestedCannotWait, verdict, call);
      await scope.session.sync();
      return { type: 'suspended', pending };
    }
    // Nobody has said no: the call ends as the run does.
    if (answered === undefined)
      return endOfLife(call, scope) ?? refusedApproval(deniedBecause(undefined), verdict, call);
    const taken = answered === 'expired' ? findAnswer(pending, scope) : takeAnswer(scope, pending, answered);
    if (taken === undefined) return refusedApproval(expired, verdict, call);
    const { answer, by } = taken;
    await scope.rootSession.sync();
    trail.approval = { type: answer.type, by };
    if (answer.type === 'deny') return refusedApproval(deniedBecause(answer.reason), verdict, call);
    if (answer.grant === true) grantTool(scope.rootSession, pending);
    for (const { policy } of pending.asks) approved.add(policy);
  }

  function askAgain(): Verdict | Promise<Verdict> {
    trail.decidedAt = scope.moves.count;
    return authorise(call, scope, approved);
  }
}

// The call around it is under way and cannot be stored and gone on with.
const nestedCannotWait: Refusal = {
  code: 'approval.nested',
  why: 'a nested call cannot wait for it; call it on its own, or have it granted',
};
const unattendedCannot: Refusal = { code: 'approval.unattended', why: 'nobody is there to approve it' };

// Else somebody who has said yes would look for that answer in vain.
const outdatedYes =
  'the call, its tool or the policies have changed since it was approved, and nobody is there to approve it anew';

function nobodyToAsk({ unattended, approve, parent }: CallScope): Refusal | undefined {
  if (unattended) return unattendedCannot;
  return approve === undefined && parent !== undefined ? nestedCannotWait : undefined;
}

/** Spends a call from every budget; or says that none remains. */
export function takeCall({ tool }: PreparedCall, { budgets }: CallScope): Ended | undefined {
  for (const [index, budget] of budgets.entries()) {
    if (budget.takeCall()) continue;
    for (const taken of budgets.slice(0, index)) taken.returnCall();
    const message = `\`${tool.name}\` was not run: all ${budget.view.limits.maxCalls} calls of the budget are used.`;
    return { type: 'ended', ending: failure('denied', { code: 'budget.calls', message }) };
  }
  return undefined;
}

const ends = {
  aborted: { kind: 'cancelled', code: 'call.aborted', what: 'The run was cancelled' },
  deadline: { kind: 'timed-out', code: 'call.deadline', what: 'The deadline passed' },
  budget: { kind: 'timed-out', code: 'call.budget', what: 'The time of the budget was used up' },
} as const;

/** What a call ends as that has not begun, or does not count yet, when it has to stop. */
export function endOfLife(
  { tool }: { readonly tool: Pick<Tool, 'name'> },
  { lifetime }: CallScope,
  before: 'began' | 'counted' = 'began',
): Ended | undefined {
  const { ended } = lifetime;
  if (ended === undefined) return undefined;
  const { kind, code, what } = ends[ended];
  return { type: 'ended', ending: failure(kind, { code, message: `${what} before \`${tool.name}\` ${before}.` }) };
}

function refusedApproval({ code, why }: Refusal, { decisions }: Verdict, { tool }: PreparedCall): Ended {
  const { name } = tool;
  const reasons = decisions.filter(({ type }) => type === 'ask').map(({ reason = '' }) => reason);
  const message = `Denied: \`${name}\` needs approval, and ${why}. ${reasons.join(' ')}`;
  return { type: 'ended', ending: failure('denied', { code, message }) };
}

/** The first answer to a question is the one that counts: somebody may have recorded another while the host was asked. */
function takeAnswer(scope: CallScope, pending: PendingApproval, answered: Answered): Answered {
  const recorded = findAnswer(pending, scope);
  if (recorded !== undefined) return recorded;
  reportAnswer(scope, pending, answered);
  return answered;
}

function reportAnswer({ session, emit }: CallScope, pending: PendingApproval, { answer, by }: Answered): void {
  const { callId, run, turn, digest } = pending;
  const event = { type: 'approval-answer', callId, run, turn, digest, answer, by } as const;
  // Made of JSON; an interface does not say so to the compiler.
  session.record(event as unknown as LogEntry);
  emit?.(event);
}
