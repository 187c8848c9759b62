import type { Schema as CfworkerSchema, SchemaDraft } from '@cfworker/json-schema';
import { HoldfastError, type Json, type JsonObject } from '@holdfast/core';
import { deepFreeze, isPlainObject } from '@holdfast/core/internal';
import type { JsonSchemaDefinition } from '@holdfast/core/types';
import { createBoundedCheck } from './bounded-check.ts';
import { cutIssues } from './bounded-issues.ts';
import { closeObjects } from './close-objects.ts';
import type { CompiledSchema, SchemaIssue } from './compiled.ts';
import { hasEqualItems, hasLongList, literals, mapKeywords, maps } from './equal-items.ts';
import { findUndeclared, placeOf, resolvePointer } from './undeclared.ts';

export { type CompiledSchema, describeIssues, type SchemaIssue, type Validation } from './compiled.ts';

const drafts: ReadonlyMap<string, SchemaDraft> = new Map([
  ['http://json-schema.org/draft-04/schema', '4'],
  ['http://json-schema.org/draft-07/schema', '7'],
  ['https://json-schema.org/draft/2019-09/schema', '2019-09'],
  ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
]);

/**
 * Wraps a plain JSON Schema, with the code that checks values against it, so that it can stand where a schema library's schema can.
 *
 * @throws HoldfastError `schema.invalid` if `schema` holds something that is not JSON, such as a function.
 */
export function jsonSchema<Value = unknown>(schema: Readonly<Record<string, unknown>>): JsonSchemaDefinition<Value> {
  return new PlainSchema<Value>(schema);
}

class PlainSchema<Value> implements JsonSchemaDefinition<Value> {
  readonly type = 'json-schema';
  readonly schema: JsonObject;

  constructor(schema: Readonly<Record<string, unknown>>) {
    this.schema = copySchema(schema);
    Object.freeze(this);
  }

  compile(): CompiledSchema<Value> {
    return compileJsonSchema<Value>(this);
  }
}

// Schema libraries type the JSON Schema that they make as an object of unknown values.
function copySchema(schema: Readonly<Record<string, unknown>>): JsonObject {
  try {
    return deepFreeze(structuredClone(schema) as JsonObject);
  } catch (cause) {
    throw new HoldfastError('schema.invalid', 'A JSON Schema must consist of JSON values.', { cause });
  }
}

/**
 * Compiles a plain JSON Schema (drafts 4, 7, 2019-09, 2020-12; default 2020-12). References must be local.
 *
 * @throws HoldfastError `schema.invalid`.
 */
export function compileJsonSchema<Output = unknown>({
  schema,
}: Pick<JsonSchemaDefinition<Output>, 'schema'>): CompiledSchema<Output> {
  checkNode(schema, schema);
  let hasUnique = false;
  const createCheck = (isLoose: boolean): ReturnType<typeof createBoundedCheck> => {
    const own = mapKeywords(structuredClone(schema), (keyword, value) => {
      // JSON Schema has no `url` format, but the validator does, and its pattern takes exponential time on some short texts.
      if (keyword === 'format' && value === 'url') return 'uri';
      const isUnique = keyword === 'uniqueItems' && value === true;
      hasUnique ||= isUnique;
      return isUnique && isLoose ? undefined : value;
    });
    // The validator annotates the schema that it receives.
    return createBoundedCheck(own as CfworkerSchema, draftOf(schema));
  };
  const findErrors = createCheck(false);
  // Skips the pairwise comparison of items; long lists use `hasEqualItems` instead.
  const findOtherErrors = hasUnique ? createCheck(true) : undefined;
  const start = placeOf([schema]);
  return {
    jsonSchema: deepFreeze(closeObjects(schema)),
    validate(value) {
      const filled = fillDefaults(schema, value);
      const uniqueItems = findOtherErrors !== undefined && hasLongList(filled);
      const undeclared = findUndeclared(filled, start, {
        root: schema,
        hasEqualItems: uniqueItems ? hasEqualItems : undefined,
      });
      const errors = (uniqueItems ? findOtherErrors : findErrors)(filled);
      if (errors.length === 0 && undeclared.length === 0) {
        // The schema's author declares the output type; the validator has just agreed.
        return { ok: true, value: filled as Output };
      }
      return {
        ok: false,
        issues: cutIssues(undeclared.concat(errors.map(toIssue).filter(({ message }) => message !== ''))),
      };
    },
  };
}

function draftOf(schema: JsonObject): SchemaDraft {
  const uri = schema['$schema'];
  if (uri === undefined) return '2020-12';
  const draft = typeof uri === 'string' ? drafts.get(uri.replace(/#$/, '')) : undefined;
  if (draft !== undefined) return draft;
  throw new HoldfastError(
    'schema.invalid',
    `Unsupported \`$schema\` \`${String(uri)}\`: use one of ${[...drafts.keys()].join(', ')}.`,
    { data: { reason: 'draft.unknown' } },
  );
}

function checkNode(node: Json, root: JsonObject, isMap = false): void {
  if (Array.isArray(node)) {
    for (const inner of node) checkNode(inner, root);
    return;
  }
  if (!isPlainObject(node)) return;
  if (isMap) {
    for (const inner of Object.values(node)) checkNode(inner as Json, root);
    return;
  }
  const { $ref: reference, pattern } = node;
  if (typeof reference === 'string') {
    if (!reference.startsWith('#')) {
      throw new HoldfastError(
        'schema.invalid',
        `\`$ref\` \`${reference}\` points outside the schema; move it under \`$defs\`.`,
        { data: { reason: 'ref.remote' } },
      );
    }
    if (resolvePointer(root, reference) === undefined) {
      throw new HoldfastError('schema.invalid', `\`$ref\` \`${reference}\` does not exist in the schema.`, {
        data: { reason: 'ref.unknown' },
      });
    }
  }
  if (typeof pattern === 'string') checkPattern(pattern);
  if (isPlainObject(node['patternProperties'])) Object.keys(node['patternProperties']).forEach(checkPattern);
  // Constants may hold any value, including one that looks like a keyword.
  for (const [key, inner] of Object.entries(node)) {
    if (!literals.has(key)) checkNode(inner as Json, root, maps.has(key));
  }
}

function checkPattern(pattern: string): void {
  try {
    new RegExp(pattern, 'u');
  } catch (cause) {
    throw new HoldfastError('schema.invalid', `\`pattern\` \`${pattern}\` is not a valid regular expression.`, {
      data: { reason: 'pattern.invalid' },
      cause,
    });
  }
}

/** A copy with defaults for absent properties; parts without defaults are shared. Branches of combinators add no defaults. */
function fillDefaults(schema: JsonObject, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return isPlainObject(items) ? value.map((item) => fillDefaults(items as JsonObject, item)) : value;
  }
  const { properties } = schema;
  if (!isPlainObject(value) || !isPlainObject(properties)) return value;
  const filled = { ...value };
  for (const [key, node] of Object.entries(properties)) {
    if (!isPlainObject(node)) continue;
    if (Object.hasOwn(value, key)) filled[key] = fillDefaults(node as JsonObject, value[key]);
    else if (node['default'] !== undefined) filled[key] = node['default'];
  }
  return filled;
}

function toIssue({
  instanceLocation,
  error,
  keyword,
}: {
  instanceLocation: string;
  error: string;
  keyword: string;
}): SchemaIssue {
  const path = instanceLocation
    .replace(/^#\/?/, '')
    .split('/')
    .filter((part) => part !== '')
    .map((part) => decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce(
      (before, part) => (/^\d+$/.test(part) ? `${before}[${part}]` : before === '' ? part : `${before}.${part}`),
      '',
    );
  // These two only say that something inside them failed, which is listed as its own issue.
  return { path, message: keyword === 'properties' || keyword === 'items' ? '' : error };
}
