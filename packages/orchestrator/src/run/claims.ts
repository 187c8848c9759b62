import { HoldfastError } from '@holdfast/core';
import type { Session } from '@holdfast/session';
import type { CheckedPlan } from '../check/plan.ts';
import { perSession } from '../limits/per-session.ts';
import type { SettledNode } from './inputs.ts';

/** Runs of plans that this process is at. */
const claims = perSession(() => new Set<number>());

/** Keeps everybody else in this process from the run until the answer is called. @throws HoldfastError `plan.under_way`. */
export function claimPlan(session: Session, run: number): () => void {
  const claimed = claims(session);
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

/** Of runs that wait for people. */
const kept = perSession(() => new Map<number, KeptPlan>());

/** Keeps what who goes on with the run in this process needs. */
export function keepPlan(session: Session, run: number, plan: KeptPlan): void {
  if (session.redactor !== undefined) kept(session).set(run, plan);
}

export function findKeptPlan(session: Session, run: number): KeptPlan | undefined {
  return kept(session).get(run);
}

export function dropPlan(session: Session, run: number): void {
  kept(session).delete(run);
}
