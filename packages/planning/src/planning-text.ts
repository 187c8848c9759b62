import { countDone, type TodoPlan, type TodoStep } from './plan.ts';

/** Longest objective or title, in characters. */
const maxCharacters = 500;

/** An objective or a title as a plan keeps it, or what is wrong with it. */
export type CheckedText =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'problem'; readonly problem: string };

/** `name` is that of the argument. */
export function checkText(name: string, given: string): CheckedText {
  const text = given.trim();
  if (text === '')
    return { type: 'problem', problem: `\`${name}\` is empty: give it 1 to ${maxCharacters} characters.` };
  // A character that takes two units of a string is one.
  const length = text.length <= maxCharacters ? text.length : Array.from(text).length;
  if (length <= maxCharacters) return { type: 'text', text };
  return {
    type: 'problem',
    problem: `\`${name}\` has ${length} characters, and at most ${maxCharacters} are allowed: say it in fewer words.`,
  };
}

export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** The ids of at least one step, in words. */
export function formatIds(steps: readonly TodoStep[]): string {
  const [first, last] = [steps[0]?.step_id, steps.at(-1)?.step_id];
  return first === last ? `id ${first}` : `ids ${first} to ${last}`;
}

/** How far the plan is, in one sentence. */
export function describeProgress(plan: TodoPlan): string {
  const total = plan.steps.length;
  if (total === 0) return 'The plan is active and has no steps: add some with `planning_add_step`.';
  if (plan.status === 'active') return `The plan is active, ${countDone(plan)} of ${formatCount(total, 'step')} done.`;
  return `The plan is completed, ${total === 1 ? 'its only step' : `all ${total} steps`} done.`;
}

/** The plan for a model, a line for each step. */
export function describePlan({ objective, steps }: TodoPlan): string {
  const lines = steps.map(({ step_id: id, status, title }) => `${id}. ${status}: ${toLine(title)}`);
  return [`Objective: ${toLine(objective)}`, ...lines].join('\n');
}

// So that no title can look like a step of its own.
function toLine(text: string): string {
  return text.replaceAll(/\s+/gu, ' ');
}
