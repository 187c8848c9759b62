import type { JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { ExportedFunction } from '../parse/exported-function.ts';
import type { Report } from './types.ts';

/** Compares the parameter of a JavaScript function with the schema. */
export function checkTaken(
  { taken }: Extract<ExportedFunction, { readonly type: 'function' }>,
  parameters: JsonObject | undefined,
  report: Report,
): void {
  if (taken === undefined) return;
  const { name, keys = [] } = taken;
  if (parameters?.['type'] !== 'object' || parameters['properties'] === undefined) return;
  const properties = readProperties(parameters);
  if (name !== undefined && Object.hasOwn(properties, name))
    tell(
      report,
      `has a parameter \`${name}\` that is named like an argument, but receives an object with all arguments`,
      `Destructure it with \`{ ${name} }\`, or rename the parameter.`,
    );
  // Properties described elsewhere are not checked.
  const { additionalProperties = false, ...keywords } = parameters;
  if (additionalProperties !== false || Object.keys(keywords).some((key) => !plainKeywords.has(key))) return;
  const undescribed = keys.filter((key) => !key.hasDefault && !Object.hasOwn(properties, key.name));
  if (undescribed.length > 0)
    tell(
      report,
      `uses ${undescribed.map((key) => `\`${key.name}\``).join(', ')}, which the schema does not describe`,
      'Describe each argument under `properties` by the same name: the function receives no others.',
    );
}

const plainKeywords: ReadonlySet<string> = new Set(['type', 'properties', 'required', 'description', 'title']);

function tell(report: Report, problem: string, hint: string): void {
  const message = `The function ${problem}.`;
  report({
    severity: 'warning',
    code: 'tool.metadata.invalid',
    reason: 'function.parameters',
    path: ['function'],
    message,
    hint,
  });
}

function readProperties(parameters: JsonObject | undefined): JsonObject {
  const properties = parameters?.['properties'];
  // In a valid schema, `properties` is a JSON object.
  return isPlainObject(properties) ? (properties as JsonObject) : {};
}
