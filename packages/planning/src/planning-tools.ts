import { defineTool, type SessionReader, type Tool, type ToolResult, toolError, toolOk } from '@holdfast/core';
import * as v from 'valibot';
import {
  addSteps,
  changeStep,
  createPlan,
  planSchema,
  type StepStatus,
  stepSchema,
  stepStatuses,
  type TodoPlan,
  updateStep,
} from './plan.ts';
import { addStepsTo, planSlice, setUpPlan, updateStepOf } from './plan-slice.ts';
import { checkText, describePlan, describeProgress, formatCount, formatIds } from './planning-text.ts';

/**
 * The tools with which a model keeps a plan: `planning_setup_plan`, `planning_add_step`, `planning_update_step` and `planning_read_plan`.
 * The slice needs no registration: the first call adds it to the session.
 *
 * Invalid calls fail with a message that says what to do next: `planning.invalid`,
 * `commit.conflict`.
 */
export function planningTools(): readonly Tool[] {
  return [setupPlanTool, addStepTool, updateStepTool, readPlanTool];
}

// Lets calls that use other locks run in parallel.
const locks = (): readonly string[] => [planSlice.id];

const title = v.pipe(v.string(), v.description('What to do, 1 to 500 characters'));

const setupPlanTool: Tool = defineTool({
  name: 'planning_setup_plan',
  description: 'Set up a plan: its objective and the first steps. Replaces any existing plan.',
  inputSchema: v.object({
    objective: v.pipe(v.string(), v.description('The goal of the plan, 1 to 500 characters')),
    initial_steps: v.optional(v.pipe(v.array(title), v.description('Titles of the first steps, in order')), []),
  }),
  outputSchema: planSchema,
  effects: 'state',
  locks,
  examples: [
    {
      description: 'A plan with two steps',
      input: { objective: 'Release version 1.2.0', initial_steps: ['Run the tests', 'Write the change log'] },
      output: {
        objective: 'Release version 1.2.0',
        status: 'active',
        steps: [
          { step_id: 1, title: 'Run the tests', status: 'pending' },
          { step_id: 2, title: 'Write the change log', status: 'pending' },
        ],
      },
    },
  ],
  execute({ objective, initial_steps: titles }, { session }) {
    const goal = checkText('objective', objective);
    if (goal.type === 'problem') return refuse('text', goal.problem);
    const checked = checkTitles(titles, { name: 'initial_steps', before: 0 });
    if (checked.type === 'refusal') return checked.refusal;
    const verb = session.read(planSlice) === null ? 'Set up' : 'Replaced';
    session.dispatch(setUpPlan(goal.text, checked.titles));
    const plan = createPlan(goal.text, checked.titles);
    const { length } = plan.steps;
    const what =
      length === 0
        ? 'no steps yet. Add some with `planning_add_step`'
        : `${formatIds(plan.steps)}, ${formatCount(length, 'step')}`;
    return toolOk(plan, `${verb} the plan: ${what}.`);
  },
  renderResult: () => '',
});

const addStepTool: Tool = defineTool({
  name: 'planning_add_step',
  description: 'Add one or more steps at the end of the plan.',
  inputSchema: v.object({ steps: v.pipe(v.array(title), v.description('Titles of the steps, in order')) }),
  outputSchema: v.object({ steps: v.array(stepSchema) }),
  effects: 'state',
  locks,
  execute({ steps: titles }, { session }) {
    const found = findActive(session);
    if (found.type === 'refusal') return found.refusal;
    if (titles.length === 0) {
      return refuse('no_steps', '`steps` is empty. Give at least one title, or continue with the existing steps.');
    }
    const checked = checkTitles(titles, { name: 'steps', before: found.plan.steps.length });
    if (checked.type === 'refusal') return checked.refusal;
    session.dispatch(addStepsTo(found.plan, checked.titles));
    const { steps } = addSteps(found.plan, checked.titles);
    const added = steps.slice(found.plan.steps.length);
    return toolOk({ steps: added }, `Added ${formatIds(added)}. The plan has ${formatCount(steps.length, 'step')}.`);
  },
  renderResult: () => '',
});

const updateStepTool: Tool = defineTool({
  name: 'planning_update_step',
  description: 'Change the status or title of a step, or both. When all steps are done, the plan is completed.',
  inputSchema: v.object({
    step_id: v.pipe(v.number(), v.integer(), v.description('Id of the step')),
    title: v.optional(title),
    // Not a picklist: an unknown status gets the same kind of message as any other mistake.
    status: v.optional(v.pipe(v.string(), v.description('`pending`, `in_progress` or `done`'))),
  }),
  outputSchema: v.object({ step: stepSchema, plan_status: v.picklist(['active', 'completed']) }),
  effects: 'state',
  locks,
  examples: [
    {
      description: 'Mark a step as done',
      input: { step_id: 1, status: 'done' },
      output: { step: { step_id: 1, title: 'Run the tests', status: 'done' }, plan_status: 'active' },
    },
  ],
  execute({ step_id: id, title: newTitle, status }, { session }) {
    const found = findActive(session);
    if (found.type === 'refusal') return found.refusal;
    const step = found.plan.steps.find(({ step_id }) => step_id === id);
    if (step === undefined) return refuse('step_unknown', describeMissing(id, found.plan));
    if (newTitle === undefined && status === undefined) {
      return refuse('nothing_to_change', `Nothing to change. Give \`title\`, \`status\` or both for step ${id}.`);
    }
    if (status !== undefined && !isStatus(status)) {
      return refuse(
        'status_unknown',
        `Unknown status \`${status.slice(0, 40)}\`. Use \`pending\`, \`in_progress\` or \`done\`.`,
      );
    }
    const checked = newTitle === undefined ? undefined : checkText('title', newTitle);
    if (checked?.type === 'problem') return refuse('text', checked.problem);
    const change = { title: checked?.text, status };
    session.dispatch(updateStepOf(id, change));
    const plan = updateStep(found.plan, id, change);
    const changed = changeStep(step, change);
    return toolOk(
      { step: changed, plan_status: plan.status },
      `Step ${id} is ${changed.status}. ${describeProgress(plan)}`,
    );
  },
  renderResult: () => '',
});

const readPlanTool: Tool = defineTool({
  name: 'planning_read_plan',
  description: 'Read the plan: its objective, its progress, and all steps with their ids and statuses.',
  outputSchema: planSchema,
  effects: 'none',
  locks,
  execute(_input, { session }) {
    const plan = session.read(planSlice);
    return plan === null ? refuseWithoutPlan() : toolOk(plan, describeProgress(plan));
  },
  renderResult: describePlan,
});

interface Refusal {
  readonly type: 'refusal';
  readonly refusal: ToolResult<never>;
}

/** The plan if it can be changed, or a failure. */
function findActive(session: SessionReader): Refusal | { readonly type: 'plan'; readonly plan: TodoPlan } {
  const plan = session.read(planSlice);
  if (plan === null) return { type: 'refusal', refusal: refuseWithoutPlan() };
  if (plan.status === 'active') return { type: 'plan', plan };
  const problem = 'The plan is completed and can no longer be changed. Set up a new one with `planning_setup_plan`.';
  return { type: 'refusal', refusal: refuse('completed', problem) };
}

/** The maximum per plan. Each change copies the list of steps, and models lose track of far fewer. */
const maxSteps = 1_000;

/** Checks all titles before any is added. `before`: the number of existing steps. */
function checkTitles(
  given: readonly string[],
  { name, before }: { readonly name: string; readonly before: number },
): Refusal | { readonly type: 'titles'; readonly titles: readonly string[] } {
  if (before + given.length > maxSteps) {
    const problem = `A plan has at most ${maxSteps} steps; this would make ${before + given.length}. Use larger steps.`;
    return { type: 'refusal', refusal: refuse('too_many_steps', problem) };
  }
  const titles: string[] = [];
  for (const [index, one] of given.entries()) {
    const checked = checkText(`${name}[${index}]`, one);
    if (checked.type === 'problem') {
      return { type: 'refusal', refusal: refuse('text', checked.problem) };
    }
    titles.push(checked.text);
  }
  return { type: 'titles', titles };
}

function isStatus(status: string): status is StepStatus {
  return stepStatuses.some((known) => known === status);
}

function describeMissing(id: number, { steps }: TodoPlan): string {
  const known =
    steps.length === 0
      ? 'It has none yet. Add some with `planning_add_step`.'
      : `It has ${formatIds(steps)}; \`planning_read_plan\` shows them.`;
  return `The plan has no step ${id}. ${known}`;
}

function refuseWithoutPlan(): ToolResult<never> {
  return refuse('no_plan', 'No plan is currently initialised. Set one up with `planning_setup_plan` first.');
}

/** Reasons of `planning.invalid`. */
type PlanningReason =
  | 'no_plan'
  | 'completed'
  | 'no_steps'
  | 'too_many_steps'
  | 'text'
  | 'step_unknown'
  | 'nothing_to_change'
  | 'status_unknown';

function refuse(reason: PlanningReason, message: string): ToolResult<never> {
  return toolError(message, { code: 'planning.invalid', reason });
}
