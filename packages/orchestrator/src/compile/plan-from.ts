import type { Json, Planner } from '@holdfast/core';

/**
 * A planner that answers with one plan, whatever it is asked: what somebody wrote by hand or kept, as a value or as text with a plan in
 * it. It is checked like any other.
 */
export function planFrom(source: unknown): Planner {
  return {
    id: 'plan',
    // A value that is no JSON is refused where it is read.
    plan: async () => (typeof source === 'string' ? { text: source } : { plan: source as Json }),
  };
}
