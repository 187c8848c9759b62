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
  const rendered = renderOutput(tool, output, (reason, cause) => {
    const message = `The example \`${description.trim()}\` of \`${tool.name}\` does not fit it: ${reason}.`;
    return new HoldfastError('tool.example.invalid', message, {
      data: { tool: tool.name, example: description },
      cause,
    });
  });
  return [
    `- ${indent(description.trim(), '  ')}`,
    `  - input: ${JSON.stringify(input)}`,
    // The tool's message says it all.
    ...(rendered.trim() === '' ? [] : [`  - output: ${indent(rendered, '    ')}`]),
  ].join('\n');
}

/** An output as the tool's results look. @throws what `fail` makes, when `renderResult` throws or makes no text. */
export function renderOutput(
  tool: Tool,
  output: unknown,
  fail: (reason: string, cause: unknown) => HoldfastError,
): string {
  if (tool.renderResult === undefined) return JSON.stringify(output);
  let rendered: unknown;
  try {
    rendered = tool.renderResult(output);
  } catch (cause) {
    throw fail(`\`renderResult\` threw on its output: ${describeThrown(cause)}`, cause);
  }
  if (typeof rendered === 'string') return rendered;
  throw fail('`renderResult` made no text of its output', undefined);
}

/** All lines of `text` but the first one further in. */
export function indent(text: string, indentation: string): string {
  return text.replaceAll('\n', `\n${indentation}`);
}
