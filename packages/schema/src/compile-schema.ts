import {
  deepFreeze,
  HoldfastError,
  isPlainObject,
  type JsonObject,
  type JsonSchemaDefinition,
  type Schema,
  type StandardIssue,
  type StandardResult,
  type StandardSchema,
} from '@holdfast/core';
import { toJsonSchema } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';
import { cutIssues, maxIssues } from './bounded-issues.ts';
import { closeObjects } from './close-objects.ts';
import type { CompiledSchema, SchemaIssue } from './compiled.ts';
import { createUndeclaredCheck, placeOf } from './undeclared.ts';
import { createValidation, validateBounded } from './validate.ts';

// What valibot leaves out of records and open objects.
const droppedByValibot: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor']);

const nothingDropped: ReadonlySet<string> = new Set();

const compiled = new WeakMap<object, CompiledSchema>();
const compiledForHosts = new WeakMap<object, CompiledSchema>();

/**
 * Makes a schema ready, once for each schema object: a valibot schema, any Standard Schema that gives JSON Schema, or a plain
 * JSON Schema of `jsonSchema`.
 *
 * @throws HoldfastError `schema.invalid`, `schema.async`, `schema.unsupported` (no JSON Schema can be made of it), and for plain
 * JSON Schemas `feature.missing` and what `compileJsonSchema` throws. `validate` throws `schema.async` when the schema answers with a promise.
 */
export function compileSchema<Output>(schema: Schema<Output>): CompiledSchema<Output> {
  return compileOnce(schema, { cache: compiled, unspoken: 'throw' });
}

/**
 * As `compileSchema`, for values that a host gives and that need not be JSON, such as dates: of what JSON Schema has no word for, the
 * `jsonSchema` says nothing. `validate` holds them to it all the same.
 *
 * @throws HoldfastError as `compileSchema`.
 */
export function compileHostSchema<Output>(schema: Schema<Output>): CompiledSchema<Output> {
  return compileOnce(schema, { cache: compiledForHosts, unspoken: 'ignore' });
}

interface Compiling {
  readonly cache: WeakMap<object, CompiledSchema>;
  /** What to do about what JSON Schema has no word for. */
  readonly unspoken: 'throw' | 'ignore';
}

function compileOnce<Output>(schema: Schema<Output>, { cache, unspoken }: Compiling): CompiledSchema<Output> {
  let entry = cache.get(schema);
  if (entry === undefined) {
    entry = compile(schema, unspoken);
    cache.set(schema, entry);
  }
  // The cache is keyed by the schema object, whose type says what it validates to.
  return entry as CompiledSchema<Output>;
}

function compile(schema: Schema, unspoken: Compiling['unspoken']): CompiledSchema {
  // Where types are not checked it may be missing. Those of some libraries are functions.
  const given: unknown = schema;
  if ((typeof given !== 'object' && typeof given !== 'function') || given === null) throw noSchema();
  if ('type' in schema && schema.type === 'json-schema') {
    const missing = findMissingCompiler(schema);
    if (missing !== undefined) throw missing;
    return schema.compile();
  }
  if (!('~standard' in schema)) throw noSchema();
  const raw = readJsonSchema(schema, unspoken);
  const { validate: validateAll, vendor } = schema['~standard'];
  const isValibot = vendor === 'valibot' && '~run' in schema;
  const dropped = vendor === 'valibot' ? droppedByValibot : nothingDropped;
  const findUndeclared = createUndeclaredCheck(raw, { dropped });
  const namesInherited = mentionsInherited(raw);
  const validation = createValidation({
    run: isValibot ? validateBounded(schema as unknown as GenericSchema) : (value) => now(validateAll(value)),
    root: raw,
    start: placeOf([raw]),
    dropped,
    before: namesInherited ? withoutPrototypes : undefined,
    // Filled in as it is, an object that is a default would be frozen with the input.
    after: namesInherited || hasObjectDefault(raw) ? withPrototypes : undefined,
    findIssues(value, { issues = [] }) {
      const found = [...findUndeclared(value), ...issues.slice(0, maxIssues).map(toIssue)];
      return issues.length === 0 ? found : cutIssues(found);
    },
  });
  return { jsonSchema: deepFreeze(closeObjects(raw)), ...validation };
}

/** What is wrong with a plain JSON Schema that came without the code that checks values against it. */
export function findMissingCompiler(schema: Schema | undefined): HoldfastError | undefined {
  const given = schema as Partial<JsonSchemaDefinition> | undefined;
  if (given?.type !== 'json-schema' || typeof given.compile === 'function') return undefined;
  return new HoldfastError(
    'feature.missing',
    'A plain JSON Schema came without the code that checks it: make it by `jsonSchema` of `@holdfast/schema/json`.',
    { data: { feature: 'json-schema' } },
  );
}

function now(result: StandardResult<unknown> | Promise<StandardResult<unknown>>): StandardResult<unknown> {
  if (!(result instanceof Promise)) return result;
  void Promise.allSettled([result]); // So that a rejection of what nobody waits for is handled.
  throw asyncSchema();
}

function noSchema(): HoldfastError {
  return new HoldfastError(
    'schema.invalid',
    'A schema must be a Standard Schema (valibot, zod, …) or made by `jsonSchema`.',
  );
}

/** Whether a property is named like one that every object inherits (`toString`), which validators then find without its being there. */
function mentionsInherited(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false;
  if (Array.isArray(node)) return node.some(mentionsInherited);
  const { properties } = node as JsonObject;
  const names = isPlainObject(properties) ? Object.keys(properties) : [];
  return names.some((name) => name in Object.prototype) || Object.values(node).some(mentionsInherited);
}

function withoutPrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototypes);
  if (!isPlainObject(value)) return value;
  const copy: Record<string, unknown> = Object.create(null);
  for (const key of Object.keys(value)) copy[key] = withoutPrototypes(value[key]);
  return copy;
}

function hasObjectDefault(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false;
  if (isPlainObject(node) && typeof node['default'] === 'object' && node['default'] !== null) return true;
  return Object.values(node).some(hasObjectDefault);
}

/** A copy of what a schema let through, with the prototypes that it had; what the schema made itself stays as it is. */
function withPrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withPrototypes);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withPrototypes(inner)]));
}

function readJsonSchema(schema: StandardSchema, unspoken: Compiling['unspoken']): JsonObject {
  const standard: StandardSchema['~standard'] & { readonly jsonSchema?: unknown } = schema['~standard'];
  if (standard.vendor === 'valibot') return readValibot(schema, unspoken);
  const { jsonSchema } = standard;
  if (isPlainObject(jsonSchema) && typeof jsonSchema['input'] === 'function') {
    const made: unknown = jsonSchema['input']({
      target: 'draft-2020-12',
      // The word of zod; other libraries ignore it.
      ...(unspoken === 'ignore' ? { libraryOptions: { unrepresentable: 'any' } } : {}),
    });
    // Plain JSON by the specification of Standard JSON Schema.
    if (isPlainObject(made)) return made as JsonObject;
  }
  const { vendor } = standard;
  if (vendor === 'zod') {
    // Its classic schemas do since 4.2, those of `zod/mini` do not.
    throw new HoldfastError(
      'schema.unsupported',
      'A schema of `zod/mini` gives no JSON Schema by itself, which a model needs: import `z` from `zod` (4.2 or later), or pass `jsonSchema(z.toJSONSchema(schema))`.',
      { data: { vendor, reason: 'zod_mini' } },
    );
  }
  throw new HoldfastError(
    'schema.unsupported',
    `A schema of \`${vendor}\` gives no JSON Schema, which a model needs; use a library that implements Standard JSON Schema, or \`jsonSchema\`.`,
    { data: { vendor } },
  );
}

function readValibot(schema: StandardSchema, unspoken: Compiling['unspoken']): JsonObject {
  // `vendor` says that valibot made it.
  const valibotSchema = schema as unknown as GenericSchema;
  if ('async' in schema && schema.async === true) throw asyncSchema();
  try {
    const made = toJsonSchema(valibotSchema, {
      typeMode: 'input',
      target: 'draft-2020-12',
      errorMode: unspoken,
      overrideSchema: ({ valibotSchema: inner, jsonSchema }) =>
        inner.type === 'loose_object' ? { ...jsonSchema, additionalProperties: true } : undefined,
      // Checks that JSON Schema has no word for are still made at every call.
      overrideAction: ({ jsonSchema, errors }) => (errors === undefined ? undefined : jsonSchema),
    });
    return made as JsonObject;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'unknown reason';
    throw new HoldfastError('schema.unsupported', `No JSON Schema can be made of a valibot schema: ${reason}`, {
      cause,
    });
  }
}

function asyncSchema(): HoldfastError {
  return new HoldfastError('schema.async', 'Asynchronous schemas are not supported: validation is synchronous.');
}

function toIssue({ message, path = [] }: StandardIssue): SchemaIssue {
  let text = '';
  for (const part of path) {
    const key = typeof part === 'object' ? part.key : part;
    if (typeof key === 'number') text += `[${key}]`;
    else text += text === '' ? String(key) : `.${String(key)}`;
  }
  return { path: text, message };
}
