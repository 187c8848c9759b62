import { countDone, type TodoPlan, type TodoStep } from './plan.ts';

/** The maximum length of an objective or title, in characters. */
const maxCharacters = 500;

/** A valid objective or title, or a description of the problem. */
export type CheckedText =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'problem'; readonly problem: string };

/** `name` is the name of the argument. */
export function checkText(name: string, given: string): CheckedText {
  const text = given.trim();
  if (text === '')
    return { type: 'problem', problem: `\`${name}\` is empty. Give it 1 to ${maxCharacters} characters.` };
  // Count code points: a surrogate pair is one character.
  const length = text.length <= maxCharacters ? text.length : Array.from(text).length;
  if (length <= maxCharacters) return { type: 'text', text };
  return {
    type: 'problem',
    problem: `\`${name}\` has ${length} characters; the limit is ${maxCharacters}. Shorten it.`,
  };
}

export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** The ids of at least one step, as text. */
export function formatIds(steps: readonly TodoStep[]): string {
  const [first, last] = [steps[0]?.step_id, steps.at(-1)?.step_id];
  return first === last ? `id ${first}` : `ids ${first} to ${last}`;
}

/** The progress of the plan in one sentence. */
export function describeProgress(plan: TodoPlan): string {
  const total = plan.steps.length;
  if (total === 0) return 'The plan is active and has no steps. Add some with `planning_add_step`.';
  if (plan.status === 'active') return `The plan is active, ${countDone(plan)} of ${formatCount(total, 'step')} done.`;
  return `The plan is completed, ${total === 1 ? 'its only step' : `all ${total} steps`} done.`;
}

/** The plan as text for a model, one line per step. */
export function describePlan({ objective, steps }: TodoPlan): string {
  const lines = steps.map(({ step_id: id, status, title }) => `${id}. ${status}: ${toLine(title)}`);
  return [`Objective: ${toLine(objective)}`, ...lines].join('\n');
}

// Prevents a title from passing for another step.
function toLine(text: string): string {
  return text.replaceAll(/\s+/gu, ' ');
}
