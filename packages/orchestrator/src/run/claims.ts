import { HoldfastError } from '@holdfast/core';
import type { Session } from '@holdfast/session';
import type { CheckedPlan } from '../check/plan.ts';
import { perSession } from '../limits/per-session.ts';
import type { SettledNode } from './inputs.ts';

/** Plan runs that are active in this process. */
const claims = perSession(() => new Set<number>());

/** Claims the run within this process; call the result to release it. @throws HoldfastError `work.under_way`. */
export function claimPlan(session: Session, run: number): () => void {
  const claimed = claims(session);
  if (claimed.has(run)) {
    throw new HoldfastError(
      'work.under_way',
      `Run ${run} of a plan in the session \`${session.id}\` is already active. Wait until it ends.`,
      { data: { reason: 'plan', run } },
    );
  }
  claimed.add(run);
  return () => void claimed.delete(run);
}

/** Data that the log of a run holds only masked. */
export interface KeptPlan {
  readonly checked: CheckedPlan;
  readonly settled: readonly (SettledNode | undefined)[];
}

/** The kept data of runs that wait for approval. */
const kept = perSession(() => new Map<number, KeptPlan>());

/** Keeps data for resuming the run in this process. */
export function keepPlan(session: Session, run: number, plan: KeptPlan): void {
  if (session.redactor !== undefined) kept(session).set(run, plan);
}

export function findKeptPlan(session: Session, run: number): KeptPlan | undefined {
  return kept(session).get(run);
}

export function dropPlan(session: Session, run: number): void {
  kept(session).delete(run);
}
