import type { ApprovalAnswer, PendingApproval } from '@holdfast/core';
import { toCanonicalJson } from '@holdfast/core/internal';

/** The part of a question that tells what it is about. */
export type Question = Pick<PendingApproval, 'name' | 'input' | 'asks'>;

/** At least one question about the same call for the same reasons. */
export interface QuestionGroup<Asked extends Question> {
  /** Equal for identical questions, across turns and sessions. */
  readonly key: string;
  readonly questions: readonly Asked[];
}

/**
 * Groups questions with the same tool, arguments, policies and reasons, in order.
 */
export function groupIdentical<Asked extends Question>(questions: readonly Asked[]): readonly QuestionGroup<Asked>[] {
  return [...Map.groupBy(questions, keyOf)].map(([key, group]) => ({ key, questions: group }));
}

/**
 * Wraps `approve` so that a denial also answers identical questions of the same turn. An approval covers one call; to extend it to
 * identical calls, use `rememberIdentical`.
 */
export function answerIdentical<Answer extends ApprovalAnswer | { readonly type: 'later' }>(
  approve: (pending: PendingApproval) => Answer | Promise<Answer>,
): (pending: PendingApproval) => Promise<Answer> {
  let turn = '';
  const refusals = new Map<string, Answer>();
  return async (pending) => {
    const current = JSON.stringify([pending.run ?? null, pending.turn ?? null]);
    // Only for the current turn of a run; direct calls have none.
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
