import type { JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { ArgumentPassing, Report } from '@holdfast/loader/language';
import type { PythonSignature } from './outline.ts';

type Parameter = PythonSignature['parameters'][number];

/**
 * Decides how a Python function receives its arguments: none, if it has no parameters; one dictionary, if its only parameter is not named
 * like a property; otherwise each argument by name. Reports parameters that would make a call fail.
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
        'has no parameters, but its schema describes some',
        'Add a parameter for each property, or remove the properties.',
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
  check(nameless, 'has positional-only parameters: …', 'Remove the `/`: arguments are passed by name.');
  const undescribed = parameters.filter(({ name, hasDefault }) => !hasDefault && !Object.hasOwn(properties, name));
  const describe = 'Describe each parameter under `properties`, or give it a default.';
  check(undescribed, 'requires …, which the schema does not describe', describe);
  const unknown = Object.keys(properties).filter((name) => !parameters.some((parameter) => parameter.name === name));
  const untaken = takesMore ? [] : unknown.map((name) => ({ name }));
  check(untaken, 'has no parameter …, which the schema describes', 'Add a parameter for each property.');
  const name = 'List it under `required`, or give it a default.';
  check(parameters.filter(isUnfilled), 'requires …, which a call may omit', name, 'warning');
}

function tell(report: Report, problem: string, hint: string, severity: 'error' | 'warning' = 'error'): void {
  report({
    severity,
    code: 'tool.metadata.invalid',
    reason: 'function.parameters',
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
  // In a valid schema, `properties` is a JSON object.
  return isPlainObject(properties) ? (properties as JsonObject) : {};
}

function readRequired(parameters: JsonObject | undefined): readonly unknown[] {
  const required = parameters?.['required'];
  return Array.isArray(required) ? required : [];
}
