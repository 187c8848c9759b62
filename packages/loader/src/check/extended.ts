import type { Json, JsonObject, Repeat } from '@holdfast/core';
import { findEnvironmentProblem, findRetryProblem, isPlainObject, toRetry } from '@holdfast/core/internal';
import type { ToolExample, ToolRetry } from '@holdfast/core/types';
import { type CompiledSchema, compileJsonSchema, describeIssues, jsonSchema } from '@holdfast/schema/json';
import { keyWords } from './keys.ts';
import { showPath } from './report.ts';
import type { Report } from './types.ts';

/** The argument that an entry of `resources` refers to; `undefined` for a plain name. */
export function inputReference(resource: string): string | undefined {
  return resource.startsWith('$') ? resource.replace(/^\$input\./, '') : undefined;
}

const scalars: readonly Json[] = ['string', 'number', 'integer', 'boolean'];

/** Checks the references in `resources`: `$input.NAME` names an argument that is a string, number or boolean. */
export function checkResources(resources: readonly string[], parameters: JsonObject | undefined, report: Report): void {
  for (const [index, resource] of resources.entries()) {
    const message = findResourceProblem(resource, parameters);
    if (message === undefined) continue;
    const { expected: _expected, ...finding } = keyWords.resources;
    report({ ...finding, path: ['resources', String(index)], message });
  }
}

function findResourceProblem(resource: string, parameters: JsonObject | undefined): string | undefined {
  if (!resource.startsWith('$')) return undefined;
  const property = inputReference(resource);
  if (property === undefined || property === resource)
    return `\`${resource}\` is not a valid reference: only \`$input.NAME\` is.`;
  const properties = parameters?.['properties'];
  const schema =
    isPlainObject(properties) && Object.hasOwn(properties, property) ? (properties as JsonObject)[property] : undefined;
  if (schema === undefined) return `\`${resource}\` refers to an unknown argument.`;
  const type = isPlainObject(schema) ? (schema as JsonObject)['type'] : undefined;
  if (type !== undefined && scalars.includes(type)) return undefined;
  return `\`${resource}\` refers to an argument that is not a string, number or boolean.`;
}

/** Checks `retry` against `repeat`, and fills in its default. */
export function checkRetry(retry: Json | undefined, repeat: Repeat, report: Report): Required<ToolRetry> | undefined {
  if (retry === undefined) return undefined;
  const problem = findRetryProblem(retry, repeat);
  // Checked above.
  if (problem === undefined) return toRetry(retry as unknown as ToolRetry);
  const hint =
    problem.reason === 'retry.not_repeatable'
      ? "Use `repeat: 'safe'` if running it twice does no harm, `'keyed'` if it uses the idempotency key, or remove `retry`."
      : 'For example: `retry: { attempts: 3, delayMs: 500 }`.';
  report({ ...problem, path: ['retry'], hint });
  return undefined;
}

/** Checks `environment`. */
export function checkEnvironment(environment: Json | undefined, report: Report): readonly string[] | undefined {
  if (environment === undefined) return undefined;
  const problem = findEnvironmentProblem(environment);
  // Checked above.
  if (problem === undefined) return environment as readonly string[];
  const { index, ...finding } = problem;
  const path = index === undefined ? ['environment'] : ['environment', String(index)];
  const hint = "For example: `environment: ['WEATHER_API_KEY', 'WEATHER_REGION?']`; `?` marks an optional variable.";
  report({ ...finding, path, hint });
  return undefined;
}

/** Checks the input and output of `examples` against the valid schemas. */
export function checkExamples(
  examples: readonly ToolExample<JsonObject, Json>[],
  schemas: { readonly parameters: JsonObject | undefined; readonly returns: JsonObject | undefined },
  report: Report,
): void {
  if (examples.length === 0) return;
  const compile = (schema: JsonObject | undefined): CompiledSchema | undefined =>
    schema === undefined ? undefined : compileJsonSchema(jsonSchema(schema));
  const compiled = { input: compile(schemas.parameters), output: compile(schemas.returns) };
  for (const [index, example] of examples.entries()) {
    for (const key of ['input', 'output'] as const) {
      const checked = compiled[key]?.validate(example[key]);
      if (checked === undefined || checked.ok) continue;
      const path = ['examples', String(index), key];
      const message = `\`${showPath(path)}\` does not match its schema: ${describeIssues(checked.issues)}`;
      report({
        code: 'tool.invalid',
        reason: 'example.invalid',
        path,
        message,
        hint: 'Fix the example or the schema.',
      });
    }
  }
}
