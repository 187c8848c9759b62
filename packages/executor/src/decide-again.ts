import type { Json, PolicyDecision, PreparedCall } from '@holdfast/core';
import type { SessionTransaction } from '@holdfast/session';
import { authorise, type Verdict } from './authorise.ts';
import type { CallScope } from './call-scope.ts';
import { type Ending, failure } from './ending.ts';
import { keepsState } from './host-policies.ts';
import { endOfLife } from './permit.ts';
import type { PolicyBinding } from './policy-state.ts';
import type { Entered } from './settle.ts';
import { watchSurroundings } from './watched-surroundings.ts';

/** A nested call that was allowed and has succeeded, and counts when the call around it does. */
export interface NestedDecision {
  readonly call: PreparedCall;
  readonly scope: CallScope;
  readonly approved: ReadonlySet<string> | undefined;
  /** Those nested in it, in order. */
  readonly nested: readonly NestedDecision[];
  /** What the policies have made of its own success. */
  readonly changes: readonly Json[];
}

/**
 * Whether a call that has succeeded was decided on what no longer holds, because others have counted in the meantime. What has
 * touched the world has happened, and is not decided again: that is what `reserve` of a policy is for.
 */
export function isOvertaken({ trail, call, scope }: Entered): boolean {
  const { decidedAt } = trail;
  return decidedAt !== undefined && decidedAt !== scope.moves.count && call.tool.effects !== 'external';
}

/**
 * Asks the policies whose answer may be another by now about a call that has succeeded, as if it came only now, and about those that are nested in it.
 * Answers at once when they do. `undefined`: it may count, unless it has been overtaken once more.
 */
export function decideAgain(entered: Entered): Ending | undefined | Promise<Ending | undefined> {
  const { trail, call, scope, resources } = entered;
  trail.decidedAt = scope.moves.count;
  const policies = scope.moves.looked ? scope.policiesFor(call.tool.name) : statefulFor(call, scope);
  const verdict = policies.length === 0 ? undefined : authorise(call, withPolicies(scope, policies), trail.approved);
  if (verdict instanceof Promise || resources.nestedDecisions !== undefined) return decideSlowly(verdict, entered);
  return verdict && toRefusal(verdict, entered);
}

async function decideSlowly(
  first: Verdict | undefined | Promise<Verdict>,
  entered: Entered,
): Promise<Ending | undefined> {
  const { scope, resources } = entered;
  const verdict = first instanceof Promise ? await first : first;
  const refusal = verdict && toRefusal(verdict, entered);
  if (refusal !== undefined) return refusal;
  const transaction = scope.state.begin();
  try {
    for (const decision of resources.nestedDecisions ?? []) {
      const refusing = await findRefusal(decision, transaction, scope);
      if (refusing !== undefined) return toRefusal(refusing, entered);
    }
    return undefined;
  } finally {
    transaction.discard();
  }
}

/** Decides a nested call on what `transaction` has, which then has what became of it. Answers with the verdict that refuses it. */
async function findRefusal(
  { call, scope, approved, nested, changes }: NestedDecision,
  transaction: SessionTransaction,
  outermost: CallScope,
): Promise<Verdict | undefined> {
  for (const policy of statefulFor(call, scope)) {
    // What a policy keeps in itself has the success of this very call in it already.
    if (policy.slice === undefined) continue;
    const { surroundings, looked } = watchSurroundings(scope.surroundings);
    // The call around it has had its word, which ended the time of what is nested.
    const { lifetime } = outermost;
    const asked = { ...withPolicies(scope, [policy]), state: transaction, surroundings, lifetime };
    const verdict = await authorise(call, asked, approved);
    // What it looked at has by now in it what the call itself has changed. Files have a check of their own.
    if (verdict.type !== 'allow' && !looked()) return verdict;
  }
  for (const inner of nested) {
    const refusing = await findRefusal(inner, transaction, outermost);
    if (refusing !== undefined) return refusing;
  }
  transaction.reapply(changes);
  return undefined;
}

/** Any other answers by the call alone, as far as can be known. */
export function statefulFor({ tool }: PreparedCall, { policiesFor }: CallScope): readonly PolicyBinding[] {
  return policiesFor(tool.name).filter(keepsState);
}

function withPolicies(scope: CallScope, policies: readonly PolicyBinding[]): CallScope {
  return { ...scope, policiesFor: () => policies };
}

function toRefusal({ type, decisions }: Verdict, { trail, call, scope }: Entered): Ending | undefined {
  if (type === 'allow') return undefined;
  const over = endOfLife(call, scope, 'counted');
  if (over !== undefined) return over.ending;
  trail.decisions = merge(trail.decisions, decisions);
  const reasons = decisions.filter((decision) => decision.type === type).map(({ reason = '' }) => reason);
  const needs = type === 'ask' ? ' It needs approval by now.' : '';
  const message = `Denied: ${reasons.join(' ')}${needs} It was allowed when it began; another call came before it, and nothing of it was kept.`;
  return failure('denied', { code: 'policy.denied', message });
}

/** Every policy once, with its last word. */
function merge(before: readonly PolicyDecision[], now: readonly PolicyDecision[]): readonly PolicyDecision[] {
  const last = new Map([...before, ...now].map((decision) => [decision.policy, decision]));
  return [...last.values()];
}
