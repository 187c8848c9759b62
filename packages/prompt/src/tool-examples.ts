import { describeThrown, HoldfastError, type Tool, type ToolExample } from '@holdfast/core';
import { checkToolExamples } from '@holdfast/schema';

/**
 * The examples of `tool` as the model reads them, or `''` when there are none. Outputs look as the tool's results do.
 *
 * @throws HoldfastError `tool.example.invalid` when an example does not fit the tool's schemas, or its output cannot be rendered.
 */
export function renderExamples(tool: Tool): string {
  if (tool.examples.length === 0) return '';
  checkToolExamples(tool);
  return [`Examples of \`${tool.name}\`:\n`, ...tool.examples.map((example) => renderExample(tool, example))].join(
    '\n',
  );
}

function renderExample(tool: Tool, { description, input, output }: ToolExample): string {
  return [
    `- ${indent(description.trim(), '  ')}`,
    `  - input: ${JSON.stringify(input)}`,
    `  - output: ${indent(renderOutput(tool, description, output), '    ')}`,
  ].join('\n');
}

function renderOutput(tool: Tool, description: string, output: unknown): string {
  if (tool.renderResult === undefined) return JSON.stringify(output);
  try {
    return tool.renderResult(output);
  } catch (cause) {
    throw new HoldfastError(
      'tool.example.invalid',
      `The example \`${description.trim()}\` of \`${tool.name}\` does not fit it: \`renderResult\` threw on its output: ${describeThrown(cause)}.`,
      { data: { tool: tool.name, example: description }, cause },
    );
  }
}

function indent(text: string, indentation: string): string {
  return text.replaceAll('\n', `\n${indentation}`);
}
