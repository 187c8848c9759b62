import {
  findEnvironmentProblem,
  findRetryProblem,
  isPlainObject,
  type Json,
  type JsonObject,
  jsonSchema,
  type Repeat,
  type ToolExample,
  type ToolRetry,
  toRetry,
} from '@holdfast/core';
import { compileJsonSchema, describeIssues } from '@holdfast/schema/json';
import { oneOf, showPath } from './report.ts';
import type { Isolation, Report } from './types.ts';

/** From the weakest to the strongest. */
export const isolations: readonly Isolation[] = ['in-process', 'worker', 'subprocess', 'sandbox'];

/** The argument that an entry of `resources` refers to; `undefined` for a plain name. */
export function inputReference(resource: string): string | undefined {
  return resource.startsWith('$') ? resource.replace(/^\$input\./, '') : undefined;
}

const scalars: readonly Json[] = ['string', 'number', 'integer', 'boolean'];

/** Checks `resources`: names, or `$input.NAME` for an argument that is a text, number or boolean. */
export function checkResources(
  resources: Json | undefined,
  parameters: JsonObject | undefined,
  report: Report,
): readonly string[] | undefined {
  if (resources === undefined) return undefined;
  const hint = "Write for example `resources: ['calendar', '$input.path']`.";
  if (!Array.isArray(resources) || resources.length === 0) {
    report({
      code: 'tool.resources.invalid',
      path: ['resources'],
      message: '`resources` must be a list with at least one name.',
      hint,
    });
    return undefined;
  }
  for (const [index, resource] of (resources as readonly Json[]).entries()) {
    const problem = findResourceProblem(resource, parameters);
    if (problem !== undefined)
      report({ code: 'tool.resources.invalid', path: ['resources', String(index)], message: problem, hint });
  }
  return resources.map(String);
}

function findResourceProblem(resource: Json, parameters: JsonObject | undefined): string | undefined {
  if (typeof resource !== 'string' || !/^\S{1,200}$/.test(resource))
    return `\`${JSON.stringify(resource)}\` names no resource: it must be 1 to 200 characters without spaces.`;
  if (!resource.startsWith('$')) return undefined;
  const property = inputReference(resource);
  if (property === undefined || property === resource)
    return `\`${resource}\` refers to nothing: only \`$input.NAME\` does.`;
  const properties = parameters?.['properties'];
  const schema =
    isPlainObject(properties) && Object.hasOwn(properties, property) ? (properties as JsonObject)[property] : undefined;
  if (schema === undefined) return `\`${resource}\` refers to no property of the arguments.`;
  const type = isPlainObject(schema) ? (schema as JsonObject)['type'] : undefined;
  if (type !== undefined && scalars.includes(type)) return undefined;
  return `\`${resource}\` refers to an argument that is no text, number or boolean.`;
}

/** Checks `isolation`. */
export function checkIsolation(isolation: Json | undefined, report: Report): Isolation | undefined {
  return oneOf(isolation, 'isolation', isolations, report);
}

/** Checks `retry` of a tool that may be repeated as `repeat` says, and fills in its default. */
export function checkRetry(retry: Json | undefined, repeat: Repeat, report: Report): Required<ToolRetry> | undefined {
  if (retry === undefined) return undefined;
  const problem = findRetryProblem(retry, repeat);
  // It has been found to be one.
  if (problem === undefined) return toRetry(retry as unknown as ToolRetry);
  const hint =
    problem.code === 'tool.retry.not_repeatable'
      ? "Say `repeat: 'safe'` when running it twice does no harm, `'keyed'` when it uses the idempotency key, or leave `retry` out."
      : 'Write for example `retry: { attempts: 3, delayMs: 500 }`.';
  report({ ...problem, path: ['retry'], hint });
  return undefined;
}

// Source: semver.org 2.0.0, less its capture groups.
const semver =
  /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*)?(?:\+[\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*)?$/;
const maxVersionLength = 100;

/** Checks `version`. */
export function checkVersion(version: Json | undefined, report: Report): string | undefined {
  if (version === undefined) return undefined;
  if (typeof version === 'string' && version.length <= maxVersionLength && semver.test(version)) return version;
  report({
    code: 'tool.version.invalid',
    path: ['version'],
    message: `\`version\` must be a text of semantic versioning, got \`${JSON.stringify(version)}\`.`,
    hint: "Write for example `version: '1.4.0'`.",
  });
  return undefined;
}

/** Checks `maxResultBytes`. */
export function checkMaxResultBytes(maxResultBytes: Json | undefined, report: Report): number | undefined {
  if (maxResultBytes === undefined) return undefined;
  if (typeof maxResultBytes === 'number' && Number.isSafeInteger(maxResultBytes) && maxResultBytes > 0)
    return maxResultBytes;
  report({
    code: 'tool.max_result_bytes.invalid',
    path: ['maxResultBytes'],
    message: '`maxResultBytes` must be a whole number of bytes above 0.',
    hint: 'Write for example `maxResultBytes: 65536`.',
  });
  return undefined;
}

/** Checks `environment`. */
export function checkEnvironment(environment: Json | undefined, report: Report): readonly string[] | undefined {
  if (environment === undefined) return undefined;
  const problem = findEnvironmentProblem(environment);
  // It has been found to be a list of texts.
  if (problem === undefined) return environment as readonly string[];
  const { code, message, index } = problem;
  report({
    code,
    path: index === undefined ? ['environment'] : ['environment', String(index)],
    message,
    hint: "Write for example `environment: ['WEATHER_API_KEY', 'WEATHER_REGION?']`; `?` marks an optional one.",
  });
  return undefined;
}

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
