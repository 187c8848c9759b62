import {
  type ApprovalAnswer,
  describeThrown,
  type PendingApproval,
  type PolicyDecision,
  type PreparedCall,
} from '@holdfast/core';
import type { CallScope } from './call-scope.ts';
import type { Lifetime } from './lifetime.ts';

/** How a host answers an ask. Throwing, or answering anything else, denies. */
export type Approve = (pending: PendingApproval) => ApprovalAnswer | Promise<ApprovalAnswer>;

export function toPending(
  { id, tool, input }: PreparedCall,
  decisions: readonly PolicyDecision[],
  { parent }: CallScope,
): PendingApproval {
  return Object.freeze({
    callId: id,
    ...(parent === undefined ? {} : { parentId: parent.call.id }),
    name: tool.name,
    input,
    dangerous: tool.dangerous,
    asks: decisions.filter(({ type }) => type === 'ask'),
  });
}

/** Asks the host; the end of the run counts as a no. */
export async function askHost(approve: Approve, pending: PendingApproval, lifetime: Lifetime): Promise<ApprovalAnswer> {
  let stopListening: () => void = () => undefined;
  const ended = new Promise<ApprovalAnswer>((resolve) => {
    stopListening = lifetime.onEnd(() => resolve({ type: 'deny', reason: 'the run ended before there was an answer' }));
  });
  try {
    return readAnswer(await Promise.race([approve(pending), ended]));
  } catch (thrown) {
    return { type: 'deny', reason: `asking failed: ${describeThrown(thrown)}` };
  } finally {
    stopListening();
  }
}

function readAnswer(answer: unknown): ApprovalAnswer {
  if (typeof answer === 'object' && answer !== null && 'type' in answer) {
    const { type } = answer;
    if (type === 'approve') return { type, grant: 'grant' in answer && answer.grant === true };
    const reason: unknown = 'reason' in answer ? answer.reason : undefined;
    if (type === 'deny') return typeof reason === 'string' && reason !== '' ? { type, reason } : { type };
  }
  return { type: 'deny', reason: 'the answer was neither `approve` nor `deny`' };
}
