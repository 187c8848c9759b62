import type { Json, JsonObject } from '@holdfast/core';
import { describeThrown, isPlainObject } from '@holdfast/core/internal';
import { compileJsonSchema, describeIssues, jsonSchema } from '@holdfast/schema/json';
import type { ExportedFunction } from '../parse/exported-function.ts';
import type { LiteralPath } from '../parse/literal.ts';
import { walkSchema } from './keywords.ts';
import { showPath } from './report.ts';
import { checkSchema } from './schema.ts';
import type { Report } from './types.ts';

const emptyNames: readonly string[] = ['run', 'main', 'execute', 'handler'];

/** The context of the input schema. */
export interface ParametersPlace {
  /** The key of the schema in the file. */
  readonly key: 'parameters' | 'inputSchema';
  readonly exported: ExportedFunction | undefined;
  /** The function or tool whose name must be descriptive if no schema describes the input. */
  readonly subject: string;
}

/** Checks the input schema against the function that receives the arguments; `undefined` without a valid schema. */
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
    const message = `Neither the name \`${subject}\` nor the empty schema says what the function does.`;
    const hint = 'Describe its parameters, or give the function a descriptive name.';
    report({ code: 'tool.schema.vague', path, message, hint });
  } else if (properties === undefined && takesInput) {
    const message = `\`${subject}\` has a parameter without a schema.`;
    const hint = `Describe it in ${write("{ type: 'object', properties: { … } }")}; \`properties: {}\` declares that the tool has no arguments.`;
    report({ code: 'tool.schema.vague', path, message, hint });
  }
  if (Object.keys(schema).length === 0) return undefined;
  if (type !== 'object') {
    const message = `\`${key}\` must have \`type: 'object'\`.`;
    const hint = 'Arguments are always an object: list them under `properties`.';
    report({ code: 'tool.schema.invalid', path: [key, 'type'], message, hint });
  }
  return checkWholeSchema(schema, key, report);
}

/** Checks the output schema, under `key` in the file. */
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
    message: `\`${key}\` must be a schema object.`,
    hint: "For example: `{ type: 'string' }`.",
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
      message: `Cannot compile \`${key}\`: ${describeThrown(cause)}`,
      hint: 'Use only keywords of JSON Schema 2020-12.',
    });
  }
  return isSound ? schema : undefined;
}

// An invalid default would fail every call that omits the argument.
function checkDefaults(root: JsonObject, start: LiteralPath, report: Report): void {
  for (const [{ properties }, path] of walkSchema(root, start)) {
    for (const [name, property] of Object.entries(isPlainObject(properties) ? (properties as JsonObject) : {})) {
      // References are not resolved here; the call checks them.
      if (!isPlainObject(property) || property['default'] === undefined || JSON.stringify(property).includes('"$ref"'))
        continue;
      const checked = compileJsonSchema(jsonSchema(property as JsonObject)).validate(property['default']);
      if (checked.ok) continue;
      const place = [...path, 'properties', name, 'default'];
      const message = `\`${showPath(place)}\` does not match its own schema: ${describeIssues(checked.issues)}`;
      const hint = 'Fix the default, or remove it and explain in the description what happens without it.';
      report({ code: 'tool.schema.invalid', reason: 'default', path: place, message, hint });
    }
  }
}
