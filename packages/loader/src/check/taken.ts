import { isPlainObject, type JsonObject } from '@holdfast/core';
import type { ExportedFunction } from '../parse/exported-function.ts';
import type { Report } from './types.ts';

/** What a function of JavaScript takes out of its argument against what the schema describes. */
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
      `takes \`${name}\`, which the schema describes, and is given an object with all arguments`,
      `Write \`{ ${name} }\` to take it out of the object, or give the parameter another name.`,
    );
  // What is described elsewhere is not looked for.
  const { additionalProperties = false, ...keywords } = parameters;
  if (additionalProperties !== false || Object.keys(keywords).some((key) => !plainKeywords.has(key))) return;
  const undescribed = keys.filter((key) => !key.hasDefault && !Object.hasOwn(properties, key.name));
  if (undescribed.length > 0)
    tell(
      report,
      `takes ${undescribed.map((key) => `\`${key.name}\``).join(', ')}, which the schema does not describe`,
      'Describe each argument under `properties`, as it is written here: no other one reaches the function.',
    );
}

const plainKeywords: ReadonlySet<string> = new Set(['type', 'properties', 'required', 'description', 'title']);

function tell(report: Report, problem: string, hint: string): void {
  const message = `The function ${problem}.`;
  report({ severity: 'warning', code: 'tool.function.parameters', path: ['function'], message, hint });
}

function readProperties(parameters: JsonObject | undefined): JsonObject {
  const properties = parameters?.['properties'];
  // A sound schema, in which they are an object of JSON.
  return isPlainObject(properties) ? (properties as JsonObject) : {};
}
