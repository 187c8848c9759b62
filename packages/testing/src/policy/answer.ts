import { ask, type Decision } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';

/** A policy's decision on a call, or its failure. */
export type PolicyAnswer =
  | { readonly type: 'decision'; readonly decision: Decision }
  | { readonly type: 'fault'; readonly what: string };

/** Runs a check. Anything but a decision with a reason is a fault. */
export async function hearAnswer(ask: () => unknown): Promise<PolicyAnswer> {
  try {
    return readAnswer(await ask());
  } catch (thrown) {
    return { type: 'fault', what: `it threw: ${describeThrown(thrown)}` };
  }
}

function readAnswer(answer: unknown): PolicyAnswer {
  const fault: PolicyAnswer = { type: 'fault', what: 'it answered neither `allow`, `ask` nor `deny`' };
  if (typeof answer !== 'object' || answer === null || !('type' in answer)) return fault;
  const { type } = answer;
  if (type === 'allow') {
    const observed = 'observed' in answer ? answer.observed : undefined;
    if (observed === undefined) return { type: 'decision', decision: { type } };
    const noted = readAnswer(observed);
    if (noted.type === 'fault' || noted.decision.type === 'allow') return fault;
    return { type: 'decision', decision: { type, observed: noted.decision } };
  }
  if (type !== 'ask' && type !== 'deny') return fault;
  const reason = 'reason' in answer ? answer.reason : undefined;
  if (typeof reason !== 'string' || reason.trim() === '') return { type: 'fault', what: `its ${type} gives no reason` };
  if (type === 'deny') return { type: 'decision', decision: { type, reason } };
  const grantable = !('grantable' in answer) || answer.grantable === undefined || answer.grantable === true;
  return { type: 'decision', decision: ask(reason, { grantable }) };
}

/** Equal for equal decisions. */
export function describeAnswer(answer: PolicyAnswer | undefined): string {
  if (answer === undefined) return 'no answer';
  return answer.type === 'fault' ? answer.what : describeDecision(answer.decision);
}

function describeDecision(decision: Decision): string {
  if (decision.type === 'deny') return `deny (${decision.reason})`;
  if (decision.type === 'ask') return `ask (${decision.reason})${decision.grantable === false ? ', each call' : ''}`;
  return decision.observed === undefined ? 'allow' : `allow, observed ${describeDecision(decision.observed)}`;
}
