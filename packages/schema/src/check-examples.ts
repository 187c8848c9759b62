import { HoldfastError, type Schema, type Tool } from '@holdfast/core';
import { copyJson, isPlainObject } from '@holdfast/core/internal';
import { compileSchema } from './compile-schema.ts';
import { describeIssues } from './compiled.ts';

/**
 * Checks a tool's examples against its schemas, so that a model never sees an example that a call would reject.
 *
 * @throws HoldfastError `tool.invalid`.
 */
export function checkToolExamples(tool: Tool): void {
  for (const example of tool.examples) {
    const problem = findExampleProblem(tool, example);
    if (problem === undefined) continue;
    const { description } = example;
    throw new HoldfastError(
      'tool.invalid',
      `Invalid example \`${description.trim()}\` of \`${tool.name}\`: ${problem}.`,
      { data: { reason: 'example.invalid', tool: tool.name, example: description } },
    );
  }
}

/** The reason why an example does not match a tool's schemas, or `undefined`. */
export function findExampleProblem(
  tool: Pick<Tool, 'inputSchema' | 'outputSchema'>,
  { input, output }: { readonly input: unknown; readonly output: unknown },
): string | undefined {
  return findInputProblem(tool.inputSchema, input) ?? findProblem(tool.outputSchema, output, 'output');
}

function findInputProblem(schema: Schema | undefined, input: unknown): string | undefined {
  if (schema !== undefined) return findProblem(schema, input, 'input');
  // A tool without a schema takes no arguments.
  const [extra] = isPlainObject(input) ? Object.keys(input) : [''];
  if (extra === undefined) return undefined;
  return extra === '' ? 'its input: it must be an object' : `its input: \`${extra}\`: Unknown key`;
}

function findProblem(schema: Schema | undefined, value: unknown, what: string): string | undefined {
  const copied = copyJson(value);
  if (!copied.ok) return `its ${what}: ${copied.problem}`;
  const validation = schema === undefined ? undefined : compileSchema(schema).validate(copied.value);
  // Callers embed the text in a sentence.
  return validation?.ok === false ? `its ${what}: ${describeIssues(validation.issues).replace(/\.$/, '')}` : undefined;
}
