import { isPlainObject, type JsonObject } from '@holdfast/core';
import type { ArgumentPassing } from '../check/metadata.ts';
import type { Report } from '../check/report.ts';
import type { ExportedFunction, PythonSignature, TakenParameter } from '../parse/exported-function.ts';

type FileFunction = Extract<ExportedFunction, { readonly type: 'function' }>;
type Parameter = PythonSignature['parameters'][number];

/**
 * How a Python function takes what its schema describes: nothing, where it has no parameter; one dictionary, where it has one whose
 * name is no property; else each argument by its name. Reports what a call would break on; `undefined` for any other language, in which
 * all arguments are one object.
 */
export function checkPassing(
  { signature, taken }: FileFunction,
  parameters: JsonObject | undefined,
  report: Report,
): ArgumentPassing | undefined {
  if (taken !== undefined) checkTaken(taken, parameters, report);
  if (signature === undefined) return undefined;
  const names = signature.parameters;
  if (names.length === 0 && !signature.takesMore) {
    if (countProperties(parameters) > 0)
      tell(
        report,
        'takes no parameter, and its schema describes some',
        'Give the function a parameter for each property, or describe none.',
        'warning',
      );
    return 'none';
  }
  const properties = readProperties(parameters);
  const [first] = names;
  if (first !== undefined && names.length === 1 && first.kind !== 'name' && !Object.hasOwn(properties, first.name))
    return 'whole';
  checkNamed(signature, { properties, required: readRequired(parameters) }, report);
  return 'named';
}

function checkTaken({ name, keys = [] }: TakenParameter, parameters: JsonObject | undefined, report: Report): void {
  if (parameters?.['type'] !== 'object' || parameters['properties'] === undefined) return;
  const properties = readProperties(parameters);
  if (name !== undefined && Object.hasOwn(properties, name))
    tell(
      report,
      `takes \`${name}\`, which the schema describes, and is given an object with all arguments`,
      `Write \`{ ${name} }\` to take it out of the object, or give the parameter another name.`,
      'warning',
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
      'warning',
    );
}

const plainKeywords: ReadonlySet<string> = new Set(['type', 'properties', 'required', 'description', 'title']);

function checkNamed(
  { parameters, takesMore }: PythonSignature,
  { properties, required }: { readonly properties: JsonObject; readonly required: readonly unknown[] },
  report: Report,
): void {
  const show = (list: readonly Parameter[]): string => list.map(({ name }) => `\`${name}\``).join(', ');
  const nameless = parameters.filter(({ kind }) => kind === 'position');
  if (nameless.length > 0)
    tell(report, `takes ${show(nameless)} by position only`, 'Leave the `/` out: arguments are passed by their names.');
  const undescribed = parameters.filter(({ name, hasDefault }) => !hasDefault && !Object.hasOwn(properties, name));
  if (undescribed.length > 0)
    tell(
      report,
      `needs ${show(undescribed)}, which the schema does not describe`,
      'Describe each parameter under `properties`, or give it a default.',
    );
  const unknown = Object.keys(properties).filter((name) => !parameters.some((parameter) => parameter.name === name));
  if (unknown.length > 0 && !takesMore)
    tell(
      report,
      `takes no ${unknown.map((name) => `\`${name}\``).join(', ')}, which the schema describes`,
      'Give the function a parameter for each property.',
    );
  const left = parameters.filter(({ name, hasDefault }) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const isFilled = isPlainObject(property) && property['default'] !== undefined;
    return !hasDefault && property !== undefined && !isFilled && !required.includes(name);
  });
  if (left.length > 0)
    tell(
      report,
      `needs ${show(left)}, which a call may leave out`,
      'Name it under `required`, or give it a default.',
      'warning',
    );
}

function tell(report: Report, problem: string, hint: string, severity: 'error' | 'warning' = 'error'): void {
  report({
    severity,
    code: 'tool.function.parameters',
    path: ['function'],
    message: `The function ${problem}.`,
    hint,
  });
}

function countProperties(parameters: JsonObject | undefined): number {
  return Object.keys(readProperties(parameters)).length;
}

function readProperties(parameters: JsonObject | undefined): JsonObject {
  const properties = parameters?.['properties'];
  // A sound schema, in which they are an object of JSON.
  return isPlainObject(properties) ? (properties as JsonObject) : {};
}

function readRequired(parameters: JsonObject | undefined): readonly unknown[] {
  const required = parameters?.['required'];
  return Array.isArray(required) ? required : [];
}
