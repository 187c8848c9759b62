import { HoldfastError, type JsonObject, type Schema, type StandardSchema } from '@holdfast/core';
import { deepFreeze, isPlainObject } from '@holdfast/core/internal';
import type { JsonSchemaDefinition, StandardIssue, StandardResult } from '@holdfast/core/types';
import { toJsonSchema } from '@valibot/to-json-schema';
import type { GenericSchema } from 'valibot';
import { cutIssues, maxIssues } from './bounded-issues.ts';
import { closeObjects } from './close-objects.ts';
import type { CompiledSchema, SchemaIssue } from './compiled.ts';
import { findUndeclared, placeOf } from './undeclared.ts';
import { createValidation, validateBounded } from './validate.ts';

// Keys that valibot drops from records and open objects.
const droppedByValibot: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor']);

const nothingDropped: ReadonlySet<string> = new Set();

const compiled = new WeakMap<object, CompiledSchema>();
const compiledForHosts = new WeakMap<object, CompiledSchema>();

/**
 * Compiles a valibot schema, a Standard Schema that provides JSON Schema, or a plain JSON Schema wrapped in `jsonSchema`. Cached per
 * schema object.
 *
 * @throws HoldfastError `schema.invalid` (cannot be expressed as JSON Schema), and for plain JSON
 * Schemas `feature.missing` and the errors of `compileJsonSchema`. `validate` throws `schema.invalid` when the schema returns a promise.
 */
export function compileSchema<Output>(schema: Schema<Output>): CompiledSchema<Output> {
  return compileOnce(schema, { cache: compiled, unspoken: 'throw' });
}

/**
 * Like `compileSchema`, for values from the host that need not be JSON, such as dates. `jsonSchema` leaves out what
 * JSON Schema cannot express; `validate` still checks it.
 *
 * @throws HoldfastError as `compileSchema`.
 */
export function compileHostSchema<Output>(schema: Schema<Output>): CompiledSchema<Output> {
  return compileOnce(schema, { cache: compiledForHosts, unspoken: 'ignore' });
}

interface Compiling {
  readonly cache: WeakMap<object, CompiledSchema>;
  /** How to treat types that JSON Schema cannot express. */
  readonly unspoken: 'throw' | 'ignore';
}

function compileOnce<Output>(schema: Schema<Output>, { cache, unspoken }: Compiling): CompiledSchema<Output> {
  let entry = cache.get(schema);
  if (entry === undefined) {
    entry = compile(schema, unspoken);
    cache.set(schema, entry);
  }
  // The cache key is the schema object, whose type carries the output type.
  return entry as CompiledSchema<Output>;
}

function compile(schema: Schema, unspoken: Compiling['unspoken']): CompiledSchema {
  // Untyped callers may omit it. Schemas of some libraries are functions.
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
  const start = placeOf([raw]);
  const namesInherited = mentionsInherited(raw);
  const validation = createValidation({
    run: isValibot ? validateBounded(schema as unknown as GenericSchema) : (value) => now(validateAll(value)),
    root: raw,
    start,
    dropped,
    before: namesInherited ? withoutPrototypes : undefined,
    // Copied: a default that is an object would otherwise be frozen with the input.
    after: namesInherited || hasObjectDefault(raw) ? withPrototypes : undefined,
    findIssues(value, { issues = [] }) {
      const found = [
        ...findUndeclared(value, start, { root: raw, dropped }),
        ...issues.slice(0, maxIssues).map(toIssue),
      ];
      return issues.length === 0 ? found : cutIssues(found);
    },
  });
  return { jsonSchema: deepFreeze(closeObjects(raw)), ...validation };
}

/** The error for a plain JSON Schema that lacks its compiler. */
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
  void Promise.allSettled([result]); // Marks a rejection as handled; nothing awaits it.
  throw asyncSchema();
}

function noSchema(): HoldfastError {
  return new HoldfastError(
    'schema.invalid',
    'A schema must be a Standard Schema (valibot, zod, …) or made by `jsonSchema`.',
  );
}

/** True if a property is named like one that every object inherits (`toString`): validators then find it on any object. */
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

/** A copy of a validated value with its original prototypes; values that the schema created stay as they are. */
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
      // An option of zod; other libraries ignore it.
      ...(unspoken === 'ignore' ? { libraryOptions: { unrepresentable: 'any' } } : {}),
    });
    // Plain JSON, as Standard JSON Schema requires.
    if (isPlainObject(made)) return made as JsonObject;
  }
  const { vendor } = standard;
  if (vendor === 'zod') {
    // Classic zod provides JSON Schema since 4.2, `zod/mini` does not.
    throw new HoldfastError(
      'schema.invalid',
      'A `zod/mini` schema does not provide JSON Schema, which models need: import `z` from `zod` (4.2 or later), or pass `jsonSchema(z.toJSONSchema(schema))`.',
      { data: { vendor, reason: 'zod_mini' } },
    );
  }
  throw new HoldfastError(
    'schema.invalid',
    `A schema of \`${vendor}\` does not provide JSON Schema, which models need: use a library that implements Standard JSON Schema, or \`jsonSchema\`.`,
    { data: { reason: 'unsupported', vendor } },
  );
}

function readValibot(schema: StandardSchema, unspoken: Compiling['unspoken']): JsonObject {
  // `vendor` identifies valibot.
  const valibotSchema = schema as unknown as GenericSchema;
  if ('async' in schema && schema.async === true) throw asyncSchema();
  try {
    const made = toJsonSchema(valibotSchema, {
      typeMode: 'input',
      target: 'draft-2020-12',
      errorMode: unspoken,
      overrideSchema: ({ valibotSchema: inner, jsonSchema }) =>
        inner.type === 'loose_object' ? { ...jsonSchema, additionalProperties: true } : undefined,
      // Checks that JSON Schema cannot express still run on every call.
      overrideAction: ({ jsonSchema, errors }) => (errors === undefined ? undefined : jsonSchema),
    });
    return made as JsonObject;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : 'unknown reason';
    throw new HoldfastError('schema.invalid', `Cannot convert the valibot schema to JSON Schema: ${reason}`, {
      data: { reason: 'unsupported' },
      cause,
    });
  }
}

function asyncSchema(): HoldfastError {
  return new HoldfastError('schema.invalid', 'Asynchronous schemas are not supported: validation is synchronous.', {
    data: { reason: 'async' },
  });
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
