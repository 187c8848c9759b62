import { HoldfastError, type Json, type JsonObject, type Tool } from '@holdfast/core';
import { describeThrown, isPlainObject, ReadOnlyMap } from '@holdfast/core/internal';
import type { ToolExample } from '@holdfast/core/types';
import { checkToolExamples } from '@holdfast/schema/internal';

/**
 * The examples of `tool` as the model reads them, or `''` when there are none. Outputs are rendered like the tool's results.
 *
 * @throws HoldfastError `tool.invalid` when an example does not fit the tool's schemas, or its output cannot be rendered.
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
    return new HoldfastError('tool.invalid', message, {
      data: { reason: 'example.invalid', tool: tool.name, example: description },
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
  throw fail('`renderResult` did not return a string for its output', undefined);
}

/** All lines of `text` but the first one further in. */
export function indent(text: string, indentation: string): string {
  return text.replaceAll('\n', `\n${indentation}`);
}

/** A tool parameter as described to the model. */
export interface ToolParamDescription {
  readonly description?: string;
  /** JSON Schema's word for it, several joined by ` | `, or `any`. */
  readonly type: string;
  readonly default?: Json;
}

/** The parameters that the JSON Schema of an input states. */
export function describeInput({ properties }: JsonObject): ReadonlyMap<string, ToolParamDescription> {
  if (!isPlainObject(properties)) return new ReadOnlyMap();
  return new ReadOnlyMap(Object.entries(properties).map(([name, property]) => [name, describeParameter(property)]));
}

/** The type that a JSON Schema states. */
export function describeType(schema: Json): string {
  if (!isPlainObject(schema)) return 'any';
  const { type, const: constant, enum: values, anyOf, oneOf } = schema;
  if (typeof type === 'string') return type;
  if (Array.isArray(type)) return type.join(' | ');
  if (constant !== undefined) return typeOf(constant);
  const types = Array.isArray(values) ? values.map(typeOf) : toList(anyOf ?? oneOf).map(describeType);
  return types.length === 0 || types.includes('any') ? 'any' : [...new Set(types)].join(' | ');
}

function describeParameter(schema: Json): ToolParamDescription {
  const type = describeType(schema);
  if (!isPlainObject(schema)) return Object.freeze({ type });
  const { description, default: fallback } = schema;
  return Object.freeze({
    ...(typeof description === 'string' ? { description } : {}),
    type,
    ...(fallback === undefined ? {} : { default: fallback }),
  });
}

function toList(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
