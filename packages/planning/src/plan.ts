import * as v from 'valibot';

/** The progress of a step. Several steps may be `in_progress`. */
export type StepStatus = 'pending' | 'in_progress' | 'done';

// Types rather than interfaces: only a type alias is assignable to the JSON that a slice holds.

export type TodoStep = {
  /** Counts up from 1; never reused within a plan. */
  readonly step_id: number;
  readonly title: string;
  readonly status: StepStatus;
};

/** A to-do list kept by the model. */
export type TodoPlan = {
  readonly objective: string;
  /** `completed` once there are steps and all are done; a completed plan never changes. */
  readonly status: 'active' | 'completed';
  /** Ordered by id. */
  readonly steps: readonly TodoStep[];
};

/** The change to one step; absent fields stay the same. */
export interface StepChange {
  readonly title?: string | undefined;
  readonly status?: StepStatus | undefined;
}

export const stepStatuses: readonly ['pending', 'in_progress', 'done'] = ['pending', 'in_progress', 'done'];

// No length limit here: a redactor may replace a title with a longer mask. The tools check input from the model.
export const stepSchema: v.GenericSchema<unknown, TodoStep> = v.object({
  step_id: v.pipe(v.number(), v.integer(), v.minValue(1)),
  title: v.string(),
  status: v.picklist(stepStatuses),
});

export const planSchema: v.GenericSchema<unknown, TodoPlan> = v.pipe(
  v.object({ objective: v.string(), status: v.picklist(['active', 'completed']), steps: v.array(stepSchema) }),
  v.check(({ steps }) => isIncreasing(steps), 'Step ids must be increasing.'),
  v.check(
    ({ status, steps }) => status === statusOf(steps),
    'A plan must be `completed` exactly when it has steps and all are done.',
  ),
);

/** Creates a plan; step ids start at 1. */
export function createPlan(objective: string, titles: readonly string[]): TodoPlan {
  return { objective, status: 'active', steps: toSteps(titles, 1) };
}

export function addSteps(plan: TodoPlan, titles: readonly string[]): TodoPlan {
  return { ...plan, steps: [...plan.steps, ...toSteps(titles, nextId(plan))] };
}

export function changeStep(step: TodoStep, { title, status }: StepChange): TodoStep {
  return { ...step, title: title ?? step.title, status: status ?? step.status };
}

/** Updates one step and completes the plan if all steps are now done. An unknown id changes nothing. */
export function updateStep(plan: TodoPlan, id: number, change: StepChange): TodoPlan {
  const steps = plan.steps.map((step) => (step.step_id === id ? changeStep(step, change) : step));
  return { ...plan, status: statusOf(steps), steps };
}

/** The id of the next added step. */
export function nextId({ steps }: TodoPlan): number {
  return (steps.at(-1)?.step_id ?? 0) + 1;
}

export function countDone({ steps }: TodoPlan): number {
  return steps.filter(({ status }) => status === 'done').length;
}

function toSteps(titles: readonly string[], firstId: number): readonly TodoStep[] {
  return titles.map((title, index) => ({ step_id: firstId + index, title, status: 'pending' }));
}

function statusOf(steps: readonly TodoStep[]): TodoPlan['status'] {
  return steps.length > 0 && steps.every(({ status }) => status === 'done') ? 'completed' : 'active';
}

function isIncreasing(steps: readonly TodoStep[]): boolean {
  return steps.every(({ step_id: id }, index) => index === 0 || id > (steps[index - 1]?.step_id ?? 0));
}
