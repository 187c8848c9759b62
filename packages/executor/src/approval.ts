import {
  type ApprovalAnswer,
  describeThrown,
  type JsonObject,
  type PendingApproval,
  type PolicyDecision,
  type PreparedCall,
} from '@holdfast/core';
import type { CallScope } from './call-scope.ts';
import type { Lifetime } from './lifetime.ts';

const unanswered = Symbol('unanswered');

/** How a host answers an ask. Throwing, or answering anything else, denies. */
export type Approve = (pending: PendingApproval) => ApprovalAnswer | Promise<ApprovalAnswer>;

export function toPending(
  { id, tool }: PreparedCall,
  decisions: readonly PolicyDecision[],
  { scope: { parent }, recorded }: { readonly scope: CallScope; readonly recorded: JsonObject },
): PendingApproval {
  return Object.freeze({
    callId: id,
    ...(parent === undefined ? {} : { parentId: parent.call.id }),
    name: tool.name,
    input: recorded,
    dangerous: tool.dangerous,
    asks: decisions.filter(({ type }) => type === 'ask'),
  });
}

/** Asks the host. `undefined`: the run ended before there was an answer. */
export async function askHost(
  approve: Approve,
  pending: PendingApproval,
  lifetime: Lifetime,
): Promise<ApprovalAnswer | undefined> {
  let stopListening: () => void = () => undefined;
  const ended = new Promise<typeof unanswered>((resolve) => {
    stopListening = lifetime.onEnd(() => resolve(unanswered));
  });
  try {
    const answer = await Promise.race([approve(pending), ended]);
    return answer === unanswered ? undefined : readAnswer(answer);
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
