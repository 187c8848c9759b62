import { isPlainObject, type JsonObject } from '@holdfast/core';
import type { GbnfJsonSchema } from 'node-llama-cpp';
import type { LoweredKeyword } from './grammar.ts';

export interface FunctionSchema {
  readonly schema: GbnfJsonSchema;
  readonly lowered: readonly LoweredKeyword[];
}

/**
 * A tool's schema in the part of JSON Schema that node-llama-cpp makes a grammar of. Whatever that grammar generates fits the shape
 * of the original; in it every property is required, so optional ones become a choice between objects with and without them.
 *
 * Source: `GbnfJsonSchema` of node-llama-cpp 3.22.
 */
export function toFunctionSchema(schema: JsonObject): FunctionSchema {
  const lowered: LoweredKeyword[] = [];
  return { schema: toSchema(schema, { root: schema, path: '', depth: 0, lowered }), lowered };
}

interface Walk {
  readonly root: Schema;
  readonly path: string;
  readonly depth: number;
  readonly lowered: LoweredKeyword[];
}

type Schema = Readonly<Record<string, unknown>>;

const maxDepth = 16;
/** Objects with more optional properties than these are offered without any and with all, and nothing between. */
const maxOptional = 4;

const anything: GbnfJsonSchema = {
  oneOf: [
    { type: ['string', 'number', 'boolean', 'null'] },
    { type: 'object', additionalProperties: true },
    { type: 'array' },
  ],
};

const held: ReadonlySet<string> = new Set([
  ...['type', 'const', 'enum', 'properties', 'required', 'additionalProperties', 'items', 'minItems', 'maxItems'],
  ...['minLength', 'maxLength', 'anyOf', 'oneOf', '$ref', '$defs', 'definitions', 'title', 'description', 'default'],
  ...['examples', '$schema', '$id', '$comment'],
]);

function toSchema(schema: unknown, walk: Walk): GbnfJsonSchema {
  if (!isPlainObject(schema) || walk.depth > maxDepth) return anything;
  for (const keyword of Object.keys(schema)) if (!held.has(keyword)) walk.lowered.push({ path: walk.path, keyword });
  const description = typeof schema['description'] === 'string' ? { description: schema['description'] } : {};
  const simple = toValues(schema);
  if (simple !== undefined) return { ...simple, ...description };
  if (typeof schema['$ref'] === 'string') return toReferenced(schema['$ref'], walk);
  for (const keyword of ['anyOf', 'oneOf']) {
    const branches = schema[keyword];
    if (Array.isArray(branches)) {
      return { oneOf: branches.map((branch, index) => toSchema(branch, below(walk, `${keyword}/${index}`))) };
    }
  }
  const declared = schema['type'];
  const types = Array.isArray(declared) ? declared : [declared];
  const made = types.map((type) => toTyped(type, schema, walk));
  const [first] = made;
  return made.length === 1 && first !== undefined ? { ...first, ...description } : { oneOf: made, ...description };
}

function toValues(schema: Schema): GbnfJsonSchema | undefined {
  const { const: only, enum: values } = schema;
  if (isScalar(only)) return { const: only };
  return Array.isArray(values) && values.every(isScalar) ? { enum: values } : undefined;
}

function isScalar(value: unknown): value is string | number | boolean | null {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function toTyped(type: unknown, schema: Schema, walk: Walk): GbnfJsonSchema {
  switch (type) {
    case 'object':
      return toObject(schema, walk);
    case 'array':
      return {
        type: 'array',
        ...(schema['items'] === undefined ? {} : { items: toSchema(schema['items'], below(walk, 'items')) }),
        ...countsOf(schema, ['minItems', 'maxItems']),
      };
    case 'string':
      return { type: 'string', ...countsOf(schema, ['minLength', 'maxLength']) };
    case 'number':
    case 'integer':
    case 'boolean':
    case 'null':
      return { type };
    default:
      return Object.hasOwn(schema, 'properties') ? toObject(schema, walk) : anything;
  }
}

function toObject(schema: Schema, walk: Walk): GbnfJsonSchema {
  const properties = Object.entries(isPlainObject(schema['properties']) ? schema['properties'] : {});
  const others = schema['additionalProperties'];
  if (properties.length === 0) {
    if (others === false) return { type: 'object', additionalProperties: false };
    const values = isPlainObject(others) ? toSchema(others, below(walk, 'additionalProperties')) : true;
    return { type: 'object', additionalProperties: values };
  }
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const made = properties.map(([name, property]) => ({
    name,
    property: toSchema(property, below(walk, `properties/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)),
    isRequired: required.includes(name),
  }));
  const optional = made.filter(({ isRequired }) => !isRequired).map(({ name }) => name);
  if (optional.length > maxOptional) walk.lowered.push({ path: walk.path, keyword: 'required' });
  const variants = (optional.length > maxOptional ? [optional, []] : subsetsOf(optional)).map((present) => ({
    type: 'object' as const,
    properties: Object.fromEntries(
      made
        .filter(({ name, isRequired }) => isRequired || present.includes(name))
        .map(({ name, property }) => [name, property]),
    ),
  }));
  const [only] = variants;
  return variants.length === 1 && only !== undefined ? only : { oneOf: variants };
}

function subsetsOf([name, ...rest]: readonly string[]): readonly (readonly string[])[] {
  if (name === undefined) return [[]];
  const subsets = subsetsOf(rest);
  return [...subsets.map((subset) => [name, ...subset]), ...subsets];
}

/** In place: what refers to itself ends at any JSON. */
function toReferenced(reference: string, walk: Walk): GbnfJsonSchema {
  let target: unknown = reference.startsWith('#') ? walk.root : undefined;
  for (const step of reference.slice(1).split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    target = isPlainObject(target) && Object.hasOwn(target, key) ? target[key] : undefined;
  }
  if (target !== undefined && walk.depth < maxReferences) return toSchema(target, { ...walk, depth: walk.depth + 1 });
  walk.lowered.push({ path: walk.path, keyword: '$ref' });
  return anything;
}

const maxReferences = 8;

function countsOf(schema: Schema, keywords: readonly string[]): Readonly<Record<string, number>> {
  const counts = keywords.map((keyword) => [keyword, schema[keyword]] as const);
  return Object.fromEntries(counts.filter((count): count is [string, number] => typeof count[1] === 'number'));
}

function below(walk: Walk, step: string): Walk {
  return { ...walk, path: `${walk.path}/${step}`, depth: walk.depth + 1 };
}
