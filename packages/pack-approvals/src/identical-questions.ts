import type { ApprovalAnswer, PendingApproval } from '@holdfast/core';
import { toCanonicalJson } from '@holdfast/core/internal';

/** What of a question says what it is about. */
export type Question = Pick<PendingApproval, 'name' | 'input' | 'asks'>;

/** Questions about the same call for the same reasons. At least one. */
export interface QuestionGroup<Asked extends Question> {
  /** Equal for identical questions, of any turn and session. */
  readonly key: string;
  readonly questions: readonly Asked[];
}

/**
 * Puts questions together that ask the same: the same tool, the same arguments, the same policies for the same reasons. In their order.
 */
export function groupIdentical<Asked extends Question>(questions: readonly Asked[]): readonly QuestionGroup<Asked>[] {
  return [...Map.groupBy(questions, keyOf)].map(([key, group]) => ({ key, questions: group }));
}

/**
 * An `approve` for a run that answers identical questions of one turn alike after a no: a person who has refused a call is not asked about
 * the same call again. A yes is for one call; that it holds for identical ones is for `rememberIdentical`.
 */
export function answerIdentical<Answer extends ApprovalAnswer | { readonly type: 'later' }>(
  approve: (pending: PendingApproval) => Answer | Promise<Answer>,
): (pending: PendingApproval) => Promise<Answer> {
  let turn = '';
  const refusals = new Map<string, Answer>();
  return async (pending) => {
    const current = JSON.stringify([pending.run ?? null, pending.turn ?? null]);
    // Only of the turn that goes on; a direct call is none.
    if (current !== turn || pending.turn === undefined) refusals.clear();
    turn = current;
    const key = keyOf(pending);
    const earlier = refusals.get(key);
    if (earlier !== undefined) return earlier;
    const answer = await approve(pending);
    if (answer.type === 'deny') refusals.set(key, answer);
    return answer;
  };
}

function keyOf({ name, input, asks }: Question): string {
  const reasons = asks.map(({ policy, reason = null }) => [policy, reason]);
  return toCanonicalJson([name, input, reasons]);
}
