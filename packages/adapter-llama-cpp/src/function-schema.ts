import type { JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { GbnfJsonSchema } from 'node-llama-cpp';
import type { LoweredKeyword } from './grammar.ts';

export interface FunctionSchema {
  readonly schema: GbnfJsonSchema;
  readonly lowered: readonly LoweredKeyword[];
}

/**
 * Converts a tool's schema to the JSON Schema subset that node-llama-cpp compiles to a grammar. All generated values have the shape of
 * the original. The subset has no optional properties, so they become a choice between objects with and without them.
 *
 * Source: `GbnfJsonSchema` of node-llama-cpp 3.22.
 */
export function toFunctionSchema(schema: JsonObject): FunctionSchema {
  const lowered: LoweredKeyword[] = [];
  return {
    schema: toSchema(schema, { root: schema, path: '', depth: 0, variants: 1, size: { left: maxSize }, lowered }),
    lowered,
  };
}

interface Walk {
  readonly root: Schema;
  readonly path: string;
  readonly depth: number;
  /** The number of variants of the surrounding schemas. */
  readonly variants: number;
  /** The budget of further schemas and choices. */
  readonly size: { left: number };
  readonly lowered: LoweredKeyword[];
}

type Schema = Readonly<Record<string, unknown>>;

const maxDepth = 16;
/** Objects with more optional properties are offered with none or all of them. */
const maxOptional = 4;
/** Per schema: variants multiply in nested objects, and the model sees each. */
const maxVariants = 64;
/** Schemas and choices; beyond the limit, any JSON is allowed. */
const maxSize = 2000;

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
  if (!isPlainObject(schema)) return anything;
  walk.size.left -= 1;
  if (walk.depth > maxDepth || walk.size.left < 0) {
    for (const keyword of Object.keys(schema)) walk.lowered.push({ path: walk.path, keyword });
    return anything;
  }
  for (const keyword of Object.keys(schema)) if (!held.has(keyword)) walk.lowered.push({ path: walk.path, keyword });
  const description = typeof schema['description'] === 'string' ? { description: schema['description'] } : {};
  const simple = toValues(schema, walk);
  if (simple !== undefined) return { ...simple, ...description };
  if (typeof schema['$ref'] === 'string') return toReferenced(schema['$ref'], walk);
  for (const keyword of ['anyOf', 'oneOf']) {
    const branches = schema[keyword];
    if (Array.isArray(branches) && branches.length > 0) {
      return { oneOf: branches.map((branch, index) => toSchema(branch, below(walk, `${keyword}/${index}`))) };
    }
  }
  const declared = schema['type'];
  const types = Array.isArray(declared) && declared.length > 0 ? declared : [declared];
  const made = types.map((type) => toTyped(type, schema, walk));
  const [first] = made;
  return made.length === 1 && first !== undefined ? { ...first, ...description } : { oneOf: made, ...description };
}

function toValues(schema: Schema, walk: Walk): GbnfJsonSchema | undefined {
  const { const: only, enum: values } = schema;
  if (isScalar(only)) return { const: only };
  if (Array.isArray(values) && values.length > 0 && values.length <= walk.size.left && values.every(isScalar)) {
    walk.size.left -= values.length;
    return { enum: values };
  }
  for (const keyword of ['const', 'enum']) {
    if (Object.hasOwn(schema, keyword)) walk.lowered.push({ path: walk.path, keyword });
  }
  return undefined;
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
        ...countsOf(schema, ['minItems', 'maxItems'], walk),
      };
    case 'string':
      return { type: 'string', ...countsOf(schema, ['minLength', 'maxLength'], walk) };
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
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const optional = properties.map(([name]) => name).filter((name) => !required.has(name));
  const subsets = subsetsFor(optional, walk);
  const inner = { ...walk, variants: walk.variants * subsets.length };
  const made = properties.map(([name, property]) => {
    const step = `properties/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    return { name, property: toSchema(property, below(inner, step)) };
  });
  const variants = subsets.map((present) => ({
    type: 'object' as const,
    properties: Object.fromEntries(
      made
        .filter(({ name }) => required.has(name) || present.includes(name))
        .map(({ name, property }) => [name, property]),
    ),
  }));
  const [only] = variants;
  return variants.length === 1 && only !== undefined ? only : { oneOf: variants };
}

/** The sets of optional properties present in each variant. */
function subsetsFor(optional: readonly string[], walk: Walk): readonly (readonly string[])[] {
  if (optional.length <= maxOptional && walk.variants * 2 ** optional.length <= maxVariants) return subsetsOf(optional);
  walk.lowered.push({ path: walk.path, keyword: 'required' });
  return walk.variants * 2 <= maxVariants ? [optional, []] : [optional];
}

function subsetsOf([name, ...rest]: readonly string[]): readonly (readonly string[])[] {
  if (name === undefined) return [[]];
  const subsets = subsetsOf(rest);
  return [...subsets.map((subset) => [name, ...subset]), ...subsets];
}

/** Inlined; recursion ends in any JSON. */
function toReferenced(reference: string, walk: Walk): GbnfJsonSchema {
  // Anchors are not resolved.
  let target: unknown = /^#(?:\/|$)/.test(reference) ? walk.root : undefined;
  for (const step of reference.slice(1).split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    target = isPlainObject(target) && Object.hasOwn(target, key) ? target[key] : undefined;
  }
  if (target !== undefined && walk.depth < maxReferences) return toSchema(target, { ...walk, depth: walk.depth + 1 });
  walk.lowered.push({ path: walk.path, keyword: '$ref' });
  return anything;
}

const maxReferences = 8;

/** Bounds that can be met: of two contradictory ones, the upper. */
function countsOf(
  schema: Schema,
  [least, most]: readonly [least: string, most: string],
  walk: Walk,
): Readonly<Record<string, number>> {
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
  const [low, high] = [schema[least], schema[most]];
  const isKept = isCount(low) && !(isCount(high) && low > high);
  if (low !== undefined && !isKept) walk.lowered.push({ path: walk.path, keyword: least });
  if (high !== undefined && !isCount(high)) walk.lowered.push({ path: walk.path, keyword: most });
  return { ...(isKept ? { [least]: low } : {}), ...(isCount(high) ? { [most]: high } : {}) };
}

function below(walk: Walk, step: string): Walk {
  return { ...walk, path: `${walk.path}/${step}`, depth: walk.depth + 1 };
}
