import { HoldfastError } from '@holdfast/core';
import type { Session } from '@holdfast/session';

/** Runs of plans that this process is at. */
const claims = new WeakMap<Session, Set<number>>();

/** Keeps everybody else in this process from the run until the answer is called. @throws HoldfastError `plan.under_way`. */
export function claimPlan(session: Session, run: number): () => void {
  let claimed = claims.get(session);
  if (claimed === undefined) {
    claimed = new Set();
    claims.set(session, claimed);
  }
  if (claimed.has(run)) {
    throw new HoldfastError(
      'plan.under_way',
      `The run ${run} of a plan in the session \`${session.id}\` is under way already; wait for its end.`,
      { data: { run } },
    );
  }
  claimed.add(run);
  return () => void claimed.delete(run);
}
