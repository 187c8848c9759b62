import { HoldfastError, type Json, type Schema, type Tool } from '@holdfast/core';
import { copyJson } from '@holdfast/core/internal';
import { compileSchema, describeIssues, type SchemaIssue } from '@holdfast/schema';
import { findExampleProblem } from '@holdfast/schema/internal';
import * as v from 'valibot';
import type { RenderedTask } from './node.ts';
import type { TaskExample, TaskStep } from './section.ts';
import { indent, renderOutput } from './tools.ts';

/** The surroundings a task example is checked against. */
export interface TaskPlace {
  /** Of its section. */
  readonly path: string;
  /** Of the whole prompt. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** The prompt's; without one an outcome is text. */
  readonly output: Schema | undefined;
}

/**
 * Checks and renders a task example.
 *
 * @throws HoldfastError `prompt.invalid`.
 */
export function toRenderedTask(given: TaskExample, place: TaskPlace): RenderedTask {
  const example = readExample(given, place);
  const objective = example.objective.trim();
  const fail = (reason: string, cause?: unknown): HoldfastError => {
    const which = `The task example \`${objective.slice(0, 80)}\` of section \`${place.path}\``;
    return invalid(`${which} does not fit: ${reason}.`, { path: place.path, cause });
  };
  const problem = findOutcomeProblem(example.outcome, place.output);
  if (problem !== undefined) throw fail(problem);
  const steps = example.steps.map((step, index) => {
    const failStep = (reason: string, cause?: unknown): HoldfastError => fail(`step ${index + 1}: ${reason}`, cause);
    const tool = place.tools.get(step.tool);
    if (tool === undefined) {
      const names = [...place.tools.keys()];
      const offered = names.length === 0 ? 'none has a tool' : `there are: ${names.slice(0, 20).join(', ')}`;
      throw failStep(`no section offers \`${step.tool.slice(0, 64)}\`; ${offered}${names.length > 20 ? ', ...' : ''}`);
    }
    const stepProblem = findExampleProblem(tool, step);
    if (stepProblem !== undefined) throw failStep(stepProblem);
    return renderStep({ ...step, output: renderOutput(tool, step.output, failStep) }, index + 1);
  });
  return {
    example,
    tools: example.steps.map(({ tool }) => tool),
    block: [`Example of a task: ${objective}`, steps.join('\n'), `Outcome: ${renderOutcome(example.outcome)}`].join(
      '\n\n',
    ),
  };
}

const text = (maxLength: number) => v.pipe(v.string(), v.maxLength(maxLength), v.regex(/\S/));
const exampleShape = v.object({
  objective: text(500),
  steps: v.pipe(
    v.array(v.object({ tool: v.string(), description: text(200), input: v.unknown(), output: v.unknown() })),
    v.minLength(1),
  ),
  outcome: v.unknown(),
});

/** A frozen copy, safe from later changes by its owner. */
function readExample(given: TaskExample, { path }: TaskPlace): TaskExample {
  const copied = copyJson(given);
  if (!copied.ok) throw invalid(`A task example of section \`${path}\` is not JSON: ${copied.problem}.`, { path });
  const validation = compileSchema(exampleShape).validate(copied.value);
  // Whose values are JSON, as they were copied.
  if (validation.ok) return validation.value as TaskExample;
  throw invalid(`A task example of section \`${path}\` does not fit: ${toClause(validation.issues)}.`, { path });
}

function invalid(message: string, { path, cause }: { readonly path: string; readonly cause?: unknown }): HoldfastError {
  return new HoldfastError('prompt.invalid', message, { data: { reason: 'example', section: path }, cause });
}

function findOutcomeProblem(outcome: Json, output: Schema | undefined): string | undefined {
  if (output === undefined) {
    if (typeof outcome === 'string' && outcome.trim() !== '') return undefined;
    return 'its outcome must be a text because the prompt declares no `output`';
  }
  const validation = compileSchema(output).validate(outcome);
  return validation.ok ? undefined : `its outcome: ${toClause(validation.issues)}`;
}

/** The issues as a clause. */
function toClause(issues: readonly SchemaIssue[]): string {
  return describeIssues(issues).replace(/\.$/, '');
}

/** As the model writes it: a list as an object with `items`. */
function renderOutcome(outcome: Json): string {
  if (typeof outcome === 'string') return outcome.trim();
  return JSON.stringify(Array.isArray(outcome) ? { items: outcome } : outcome);
}

function renderStep(
  { description, tool, input, output }: TaskStep & { readonly output: string },
  number: number,
): string {
  const indentation = ' '.repeat(`${number}. `.length);
  return [
    `${number}. ${indent(description.trim(), indentation)}`,
    `${indentation}- tool: \`${tool}\``,
    `${indentation}- input: ${JSON.stringify(input)}`,
    `${indentation}- output: ${indent(output, `${indentation}  `)}`,
  ].join('\n');
}
