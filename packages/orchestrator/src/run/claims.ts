import { HoldfastError } from '@holdfast/core';
import type { Session } from '@holdfast/session';
import type { CheckedPlan } from '../check/plan.ts';
import type { SettledNode } from './inputs.ts';

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

/** What the log of a run has only with masks. */
export interface KeptPlan {
  readonly checked: CheckedPlan;
  readonly settled: readonly (SettledNode | undefined)[];
}

/** Of runs that wait for people. For as long as the process has the session. */
const kept = new WeakMap<Session, Map<number, KeptPlan>>();

/** Keeps what who goes on with the run in this process needs. */
export function keepPlan(session: Session, run: number, plan: KeptPlan): void {
  if (session.redactor === undefined) return;
  const plans = kept.get(session) ?? new Map<number, KeptPlan>();
  kept.set(session, plans.set(run, plan));
}

export function findKeptPlan(session: Session, run: number): KeptPlan | undefined {
  return kept.get(session)?.get(run);
}

export function dropPlan(session: Session, run: number): void {
  kept.get(session)?.delete(run);
}
