import { defineSlice, HoldfastError, type Json, replace, type SessionEvent, type Slice } from '@holdfast/core';
import * as v from 'valibot';
import {
  addSteps,
  createPlan,
  nextId,
  planSchema,
  type StepChange,
  stepStatuses,
  type TodoPlan,
  updateStep,
} from './plan.ts';

const planSetUp = 'planning/plan-set-up';
const stepsAdded = 'planning/steps-added';
const stepUpdated = 'planning/step-updated';

const setUp = v.object({ objective: v.string(), titles: v.array(v.string()) });
const added = v.object({ first_step_id: v.number(), titles: v.array(v.string()) });
const updated = v.object({
  step_id: v.number(),
  title: v.optional(v.string()),
  status: v.optional(v.picklist(stepStatuses)),
});

/**
 * The plan of a session, `null` until one is set up. Only the planning tools change it; pass it to `replay` as a slice.
 *
 * Its reducers throw `commit.conflict` if another call has changed the plan in a way that no longer fits.
 */
export const planSlice: Slice<TodoPlan | null> = defineSlice<TodoPlan | null>({
  id: 'planning/plan',
  kind: 'value',
  schema: v.nullable(planSchema),
  initial: null,
  reducers: {
    [planSetUp](_plan, payload: Json) {
      const { objective, titles } = v.parse(setUp, payload);
      return replace(createPlan(objective, titles));
    },
    [stepsAdded](state, payload: Json) {
      const { first_step_id: firstId, titles } = v.parse(added, payload);
      const plan = expectActive(state);
      // These ids were already reported to the model.
      if (nextId(plan) !== firstId) throw conflict();
      return replace(addSteps(plan, titles));
    },
    [stepUpdated](state, payload: Json) {
      const { step_id: id, ...change } = v.parse(updated, payload);
      const plan = expectActive(state);
      if (!plan.steps.some(({ step_id }) => step_id === id)) throw conflict();
      return replace(updateStep(plan, id, change));
    },
  },
});

/** Replaces any existing plan. */
export function setUpPlan(objective: string, titles: readonly string[]): SessionEvent {
  return { type: planSetUp, payload: { objective, titles } };
}

/** Appends steps to the current `plan`. */
export function addStepsTo(plan: TodoPlan, titles: readonly string[]): SessionEvent {
  return { type: stepsAdded, payload: { first_step_id: nextId(plan), titles } };
}

export function updateStepOf(id: number, { title, status }: StepChange): SessionEvent {
  const change = { ...(title === undefined ? {} : { title }), ...(status === undefined ? {} : { status }) };
  return { type: stepUpdated, payload: { step_id: id, ...change } };
}

function expectActive(state: TodoPlan | null): TodoPlan {
  if (state?.status !== 'active') throw conflict();
  return state;
}

function conflict(): HoldfastError {
  return new HoldfastError(
    'commit.conflict',
    'Another call has changed the plan, so this change no longer fits. Nothing was changed. Read the plan with `planning_read_plan`, then call again.',
  );
}
