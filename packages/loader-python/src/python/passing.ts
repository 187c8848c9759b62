import { isPlainObject, type JsonObject } from '@holdfast/core';
import type { ArgumentPassing } from '@holdfast/loader';
import type { Report } from '@holdfast/loader/language';
import type { PythonSignature } from './outline.ts';

type Parameter = PythonSignature['parameters'][number];

/**
 * How a Python function takes what its schema describes: nothing, where it has no parameter; one dictionary, where it has one whose
 * name is no property; else each argument by its name. Reports what a call would break on.
 */
export function checkPassing(
  signature: PythonSignature,
  parameters: JsonObject | undefined,
  report: Report,
): ArgumentPassing {
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

function checkNamed(
  { parameters, takesMore }: PythonSignature,
  { properties, required }: { readonly properties: JsonObject; readonly required: readonly unknown[] },
  report: Report,
): void {
  const isUnfilled = ({ name, hasDefault }: Parameter): boolean => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const isFilled = isPlainObject(property) && property['default'] !== undefined;
    return !hasDefault && property !== undefined && !isFilled && !required.includes(name);
  };
  const check = (found: readonly { readonly name: string }[], problem: string, hint: string, severity?: 'warning') => {
    const names = found.map(({ name }) => `\`${name}\``).join(', ');
    if (names !== '')
      tell(
        report,
        problem.replace('…', () => names),
        hint,
        severity,
      );
  };
  const nameless = parameters.filter(({ kind }) => kind === 'position');
  check(nameless, 'takes … by position only', 'Leave the `/` out: arguments are passed by their names.');
  const undescribed = parameters.filter(({ name, hasDefault }) => !hasDefault && !Object.hasOwn(properties, name));
  const describe = 'Describe each parameter under `properties`, or give it a default.';
  check(undescribed, 'needs …, which the schema does not describe', describe);
  const unknown = Object.keys(properties).filter((name) => !parameters.some((parameter) => parameter.name === name));
  const untaken = takesMore ? [] : unknown.map((name) => ({ name }));
  check(untaken, 'takes no …, which the schema describes', 'Give the function a parameter for each property.');
  const name = 'Name it under `required`, or give it a default.';
  check(parameters.filter(isUnfilled), 'needs …, which a call may leave out', name, 'warning');
}

function tell(report: Report, problem: string, hint: string, severity: 'error' | 'warning' = 'error'): void {
  report({ severity, code: 'tool.function.parameters', path: ['function'], message: `The function ${problem}.`, hint });
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
