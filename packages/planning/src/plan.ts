import * as v from 'valibot';

/** Where a step stands. Several may be `in_progress`. */
export type StepStatus = 'pending' | 'in_progress' | 'done';

// Types, not interfaces: a slice holds JSON, and only of a type the compiler knows that it has no other keys.

export type TodoStep = {
  /** Counts up from 1, and stands for no other step of the plan. */
  readonly step_id: number;
  readonly title: string;
  readonly status: StepStatus;
};

/** What a model means to do, and how far it is. */
export type TodoPlan = {
  readonly objective: string;
  /** `completed` when there are steps and all are done; such a plan changes no more. */
  readonly status: 'active' | 'completed';
  /** In the order of their ids. */
  readonly steps: readonly TodoStep[];
};

/** What becomes of one step; what is absent stays. */
export interface StepChange {
  readonly title?: string | undefined;
  readonly status?: StepStatus | undefined;
}

export const stepStatuses: readonly ['pending', 'in_progress', 'done'] = ['pending', 'in_progress', 'done'];

// Of any length: a redactor may put a mask into a title that is longer than what it hides. Tools check what a model gives.
export const stepSchema: v.GenericSchema<unknown, TodoStep> = v.object({
  step_id: v.pipe(v.number(), v.integer(), v.minValue(1)),
  title: v.string(),
  status: v.picklist(stepStatuses),
});

export const planSchema: v.GenericSchema<unknown, TodoPlan> = v.pipe(
  v.object({ objective: v.string(), status: v.picklist(['active', 'completed']), steps: v.array(stepSchema) }),
  v.check(({ steps }) => isIncreasing(steps), 'The ids of the steps must count up.'),
  v.check(({ status, steps }) => status === statusOf(steps), 'A plan is completed when it has steps and all are done.'),
);

/** A new plan; its steps are numbered from 1 on. */
export function createPlan(objective: string, titles: readonly string[]): TodoPlan {
  return { objective, status: 'active', steps: toSteps(titles, 1) };
}

export function addSteps(plan: TodoPlan, titles: readonly string[]): TodoPlan {
  return { ...plan, steps: [...plan.steps, ...toSteps(titles, nextId(plan))] };
}

export function changeStep(step: TodoStep, { title, status }: StepChange): TodoStep {
  return { ...step, title: title ?? step.title, status: status ?? step.status };
}

/** The plan with one step changed, completed when that was the last one to be done. A step that is not there changes nothing. */
export function updateStep(plan: TodoPlan, id: number, change: StepChange): TodoPlan {
  const steps = plan.steps.map((step) => (step.step_id === id ? changeStep(step, change) : step));
  return { ...plan, status: statusOf(steps), steps };
}

/** The id of the step that is added next. */
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
