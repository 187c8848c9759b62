import { copyJson, HoldfastError, type Json, type Schema, type Tool } from '@holdfast/core';
import { compileSchema, describeIssues, findExampleProblem } from '@holdfast/schema';
import type { TaskExample, TaskStep } from './section.ts';
import type { RenderedTask } from './section-node.ts';
import { indent, renderOutput } from './tool-examples.ts';

/** What a task example has to fit. */
export interface TaskPlace {
  /** Of its section. */
  readonly path: string;
  /** Of the whole prompt. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** The prompt's; without one an outcome is text. */
  readonly output: Schema | undefined;
}

/**
 * Checks a task example and renders it.
 *
 * @throws HoldfastError `task.example.invalid`.
 */
export function toRenderedTask(example: TaskExample, place: TaskPlace): RenderedTask {
  const objective = String(example.objective).trim();
  const { steps, outcome } = example;
  const fail = (reason: string, cause?: unknown): HoldfastError => {
    const which = objective === '' ? 'A task example' : `The task example \`${objective.slice(0, 80)}\``;
    return new HoldfastError('task.example.invalid', `${which} of section \`${place.path}\` does not fit: ${reason}.`, {
      data: { section: place.path, objective },
      cause,
    });
  };
  if (objective.length < 1 || objective.length > 500) throw fail('its objective must have 1 to 500 characters');
  if (steps.length === 0) throw fail('it needs a step at least');
  const outcomeProblem = findOutcomeProblem(outcome, place.output);
  if (outcomeProblem !== undefined) throw fail(outcomeProblem);
  const lines = steps.map((step, index) => {
    const tool = place.tools.get(step.tool);
    const problem = tool === undefined ? `no section offers \`${step.tool}\`` : findStepProblem(tool, step);
    if (tool === undefined || problem !== undefined) throw fail(`step ${index + 1}: ${problem ?? ''}`);
    return renderStep(tool, { step, number: index + 1, fail });
  });
  return {
    example,
    tools: steps.map(({ tool }) => tool),
    block: [`Example of a task: ${objective}`, lines.join('\n'), `Outcome: ${renderOutcome(outcome)}`].join('\n\n'),
  };
}

function findOutcomeProblem(outcome: Json, output: Schema | undefined): string | undefined {
  if (output === undefined) {
    if (typeof outcome === 'string' && outcome.trim() !== '') return undefined;
    return 'its outcome must be a text, for the prompt declares no `output`';
  }
  const copied = copyJson(outcome);
  if (!copied.ok) return `its outcome: ${copied.problem}`;
  const validation = compileSchema(output).validate(copied.value);
  return validation.ok ? undefined : `its outcome: ${describeIssues(validation.issues)}`;
}

/** As the model writes it: a list as an object with `items`. */
function renderOutcome(outcome: Json): string {
  if (typeof outcome === 'string') return outcome.trim();
  return JSON.stringify(Array.isArray(outcome) ? { items: outcome } : outcome);
}

function findStepProblem(tool: Tool, { description, input, output }: TaskStep): string | undefined {
  const { length } = description.trim();
  if (length < 1 || length > 200) return 'its description must have 1 to 200 characters';
  return findExampleProblem(tool, { input, output });
}

function renderStep(
  tool: Tool,
  {
    step,
    number,
    fail,
  }: {
    readonly step: TaskStep;
    readonly number: number;
    readonly fail: (reason: string, cause: unknown) => HoldfastError;
  },
): string {
  const indentation = ' '.repeat(`${number}. `.length);
  const output = renderOutput(tool, step.output, (reason, cause) => fail(`step ${number}: ${reason}`, cause));
  return [
    `${number}. ${indent(step.description.trim(), indentation)}`,
    `${indentation}- tool: \`${tool.name}\``,
    `${indentation}- input: ${JSON.stringify(step.input)}`,
    `${indentation}- output: ${indent(output, `${indentation}  `)}`,
  ].join('\n');
}
