import type { CompletionChecker } from '@holdfast/core';
import type { Completion } from '@holdfast/core/types';
import { countDone, type TodoPlan } from './plan.ts';
import { planSlice } from './plan-slice.ts';
import { formatCount } from './planning-text.ts';

export interface PlanCompletedOptions {
  /** Let the model stop without a plan. Default false. */
  readonly optional?: boolean;
}

const maxNamed = 3;

/** Lets a run end once the plan of its session is completed; until then, the feedback names the open steps. */
export function planCompleted({ optional = false }: PlanCompletedOptions = {}): CompletionChecker {
  return Object.freeze({
    name: 'plan-completed',
    check({ session }): Completion {
      const plan = session.read(planSlice);
      if (plan === null) return optional ? { complete: true } : { complete: false, feedback: withoutPlan };
      return plan.status === 'completed' ? { complete: true } : { complete: false, feedback: describeOpen(plan) };
    },
  } satisfies CompletionChecker);
}

const withoutPlan =
  'There is no plan yet. Set one up with `planning_setup_plan`, do its steps, and mark each as done with `planning_update_step`.';

function describeOpen(plan: TodoPlan): string {
  const open = plan.steps.filter(({ status }) => status !== 'done');
  if (open.length === 0) {
    return 'The plan has no steps. Add some with `planning_add_step`, do them, and mark each as done with `planning_update_step`.';
  }
  const named = open.slice(0, maxNamed).map(({ step_id: id, title }) => `${id} (${title})`);
  const end = open.length > maxNamed ? ', ...' : '.';
  return (
    `The plan is not completed: ${countDone(plan)} of ${formatCount(plan.steps.length, 'step')} done. ` +
    `Still open: ${named.join(', ')}${end} ` +
    'Do them and mark each as done with `planning_update_step`, or replace the plan with `planning_setup_plan`.'
  );
}
