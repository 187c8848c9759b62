import {
  copyJson,
  describeThrown,
  HoldfastError,
  jsonSchema,
  type Schema,
  type Tool,
  type ToolExample,
} from '@holdfast/core';
import { compileSchema, describeIssues } from '@holdfast/schema';

const noArguments: Schema = jsonSchema({ type: 'object', properties: {}, additionalProperties: false });

/**
 * The examples of `tool` as the model reads them, or `''` when there are none. Outputs look as the tool's results do.
 *
 * @throws HoldfastError `tool.example.invalid` when an example does not fit the tool's schemas, or its output cannot be rendered.
 */
export function renderExamples(tool: Tool): string {
  if (tool.examples.length === 0) return '';
  return [`Examples of \`${tool.name}\`:\n`, ...tool.examples.map((example) => renderExample(tool, example))].join(
    '\n',
  );
}

function renderExample(tool: Tool, example: ToolExample): string {
  const fail = (reason: string, cause?: unknown): never => {
    throw new HoldfastError(
      'tool.example.invalid',
      `The example \`${example.description.trim()}\` of \`${tool.name}\` does not fit it: ${reason}.`,
      { data: { tool: tool.name, example: example.description }, cause },
    );
  };
  const input = compileSchema(tool.inputSchema ?? noArguments).validate(example.input);
  if (!input.ok) fail(`its input: ${describeIssues(input.issues)}`);
  const text = renderOutput(tool, example.output, fail);
  return [
    `- ${indent(example.description.trim(), '  ')}`,
    `  - input: ${JSON.stringify(example.input)}`,
    `  - output: ${indent(text, '    ')}`,
  ].join('\n');
}

function renderOutput(tool: Tool, output: unknown, fail: (reason: string, cause?: unknown) => never): string {
  const copied = copyJson(output);
  if (!copied.ok) return fail(`its output: ${copied.problem}`);
  const validation =
    tool.outputSchema === undefined ? undefined : compileSchema(tool.outputSchema).validate(copied.value);
  if (validation?.ok === false) return fail(`its output: ${describeIssues(validation.issues)}`);
  if (tool.renderResult === undefined) return JSON.stringify(copied.value);
  try {
    return tool.renderResult(validation?.ok === true ? validation.value : copied.value);
  } catch (cause) {
    return fail(`\`renderResult\` threw on its output: ${describeThrown(cause)}`, cause);
  }
}

function indent(text: string, indentation: string): string {
  return text.replaceAll('\n', `\n${indentation}`);
}
