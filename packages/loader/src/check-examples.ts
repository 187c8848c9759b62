import { isPlainObject, type Json, type JsonObject, jsonSchema, type ToolExample } from '@holdfast/core';
import { compileJsonSchema, describeIssues } from '@holdfast/schema/json';
import { type Report, showPath } from './report.ts';

const keys: readonly string[] = ['description', 'input', 'output'];
const hint = 'An example is `{ description, input, output }` with a description of 1 to 200 characters.';

/** Checks `examples`: their form, and their input and output against the schemas that are sound. `tool.example.invalid`. */
export function checkExamples(
  examples: Json | undefined,
  schemas: { readonly parameters: JsonObject | undefined; readonly returns: JsonObject | undefined },
  report: Report,
): readonly ToolExample<JsonObject, Json>[] {
  if (examples === undefined) return [];
  if (!Array.isArray(examples)) {
    report({ code: 'tool.example.invalid', path: ['examples'], message: '`examples` must be a list.', hint });
    return [];
  }
  const parameters = schemas.parameters === undefined ? undefined : compileJsonSchema(jsonSchema(schemas.parameters));
  const returns = schemas.returns === undefined ? undefined : compileJsonSchema(jsonSchema(schemas.returns));
  const sound: ToolExample<JsonObject, Json>[] = [];
  for (const [index, example] of (examples as readonly Json[]).entries()) {
    const path = ['examples', String(index)];
    const problem = findFormProblem(example);
    if (problem !== undefined)
      report({ code: 'tool.example.invalid', path, message: `\`${showPath(path)}\` ${problem}.`, hint });
    if (problem !== undefined || !isPlainObject(example)) continue;
    for (const [key, schema] of [
      ['input', parameters],
      ['output', returns],
    ] as const) {
      const checked = schema?.validate(example[key]);
      if (checked === undefined || checked.ok) continue;
      report({
        code: 'tool.example.invalid',
        path: [...path, key],
        message: `\`${showPath([...path, key])}\` does not fit: ${describeIssues(checked.issues)}`,
        hint: 'Correct the example or the schema.',
      });
    }
    const { description, input: given, output: expected } = example;
    if (!isPlainObject(given) || expected === undefined) continue;
    sound.push({ description: String(description).trim(), input: given as JsonObject, output: expected });
  }
  return sound;
}

function findFormProblem(example: Json): string | undefined {
  if (!isPlainObject(example)) return 'is no object';
  const unknown = Object.keys(example).find((key) => !keys.includes(key));
  if (unknown !== undefined) return `has the unknown key \`${unknown}\``;
  const missing = keys.find((key) => !Object.hasOwn(example, key));
  if (missing !== undefined) return `has no \`${missing}\``;
  const { description, input } = example;
  if (typeof description !== 'string' || description.trim().length < 1 || description.trim().length > 200) {
    return 'needs a description of 1 to 200 characters';
  }
  return isPlainObject(input) ? undefined : 'needs an object as `input`';
}
