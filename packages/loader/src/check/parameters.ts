import { describeThrown, isPlainObject, type Json, type JsonObject } from '@holdfast/core';
import { compileJsonSchema, describeIssues, jsonSchema } from '@holdfast/schema/json';
import type { ExportedFunction } from '../parse/exported-function.ts';
import type { LiteralPath } from '../parse/literal.ts';
import { walkSchema } from './keywords.ts';
import { showPath } from './report.ts';
import { checkSchema } from './schema.ts';
import type { Report } from './types.ts';

const emptyNames: readonly string[] = ['run', 'main', 'execute', 'handler'];

/** What the schema of the arguments belongs to. */
export interface ParametersPlace {
  /** What the file calls the schema. */
  readonly key: 'parameters' | 'inputSchema';
  readonly exported: ExportedFunction | undefined;
  /** What has to say by its name what it does where no schema says it. */
  readonly subject: string;
}

/** Checks the schema of the arguments against the function that receives them; `undefined` when there is no sound schema. */
export function checkParameters(
  parameters: Json | undefined,
  { key, exported, subject }: ParametersPlace,
  report: Report,
): JsonObject | undefined {
  const path = [key];
  const write = (schema: string): string =>
    key === 'parameters' ? `\`parameters: ${schema}\`` : `\`inputSchema: jsonSchema(${schema})\``;
  if (parameters !== undefined && !isPlainObject(parameters)) {
    const message = `\`${key}\` must be an object schema.`;
    const hint = `Write ${write("{ type: 'object', properties: { … } }")}.`;
    report({ code: 'tool.schema.invalid', path, message, hint });
    return undefined;
  }
  const schema: JsonObject = parameters ?? {};
  const { properties, type } = schema;
  const takesInput = exported?.type === 'function' && exported.takesInput;
  const isEmpty = properties === undefined || (isPlainObject(properties) && Object.keys(properties).length === 0);
  if (isEmpty && emptyNames.includes(subject)) {
    const message = `A function named \`${subject}\` with an empty schema says nothing of what it does.`;
    const hint = 'Describe its parameters, or name the function after what it does.';
    report({ code: 'tool.schema.vague', path, message, hint });
  } else if (properties === undefined && takesInput) {
    const message = `\`${subject}\` takes a parameter that no schema describes.`;
    const hint = `Describe it in ${write("{ type: 'object', properties: { … } }")}; with \`properties: {}\` the tool takes no arguments.`;
    report({ code: 'tool.schema.vague', path, message, hint });
  }
  if (Object.keys(schema).length === 0) return undefined;
  if (type !== 'object') {
    const message = `\`${key}\` must have \`type: 'object'\`.`;
    const hint = 'Arguments are always an object: name each of them under `properties`.';
    report({ code: 'tool.schema.invalid', path: [key, 'type'], message, hint });
  }
  return checkWholeSchema(schema, key, report);
}

/** Checks the schema of the output, which the file calls `key`. */
export function checkReturns(
  returns: Json | undefined,
  key: 'returns' | 'outputSchema',
  report: Report,
): JsonObject | undefined {
  if (returns === undefined) return undefined;
  if (isPlainObject(returns)) return checkWholeSchema(returns as JsonObject, key, report);
  report({
    code: 'tool.schema.invalid',
    path: [key],
    message: `\`${key}\` must be a schema, which is an object.`,
    hint: "Write for example `{ type: 'string' }`.",
  });
  return undefined;
}

function checkWholeSchema(schema: JsonObject, key: string, report: Report): JsonObject | undefined {
  let isSound = true;
  const note: Report = (finding) => {
    if (finding.severity !== 'warning') isSound = false;
    report(finding);
  };
  checkSchema(schema, [key], note);
  if (!isSound) return undefined;
  try {
    compileJsonSchema(jsonSchema(schema));
    checkDefaults(schema, [key], note);
  } catch (cause) {
    note({
      code: 'tool.schema.invalid',
      path: [key],
      message: `\`${key}\` cannot be checked: ${describeThrown(cause)}`,
      hint: 'Keep to the keywords of JSON Schema 2020-12.',
    });
  }
  return isSound ? schema : undefined;
}

// A default that does not fit would fail every call that leaves the argument out.
function checkDefaults(root: JsonObject, start: LiteralPath, report: Report): void {
  for (const [{ properties }, path] of walkSchema(root, start)) {
    for (const [name, property] of Object.entries(isPlainObject(properties) ? (properties as JsonObject) : {})) {
      // What a reference stands for is not known here; the call will check it.
      if (!isPlainObject(property) || property['default'] === undefined || JSON.stringify(property).includes('"$ref"'))
        continue;
      const checked = compileJsonSchema(jsonSchema(property as JsonObject)).validate(property['default']);
      if (checked.ok) continue;
      const place = [...path, 'properties', name, 'default'];
      const message = `\`${showPath(place)}\` does not fit its own schema: ${describeIssues(checked.issues)}`;
      const hint = 'Correct the default, or leave it out and say in the description what happens without it.';
      report({ code: 'tool.schema.default', path: place, message, hint });
    }
  }
}
