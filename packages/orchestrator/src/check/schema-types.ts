import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { resolvePointer } from '@holdfast/schema/internal';
import type { ValuePath } from '../plan/value-path.ts';
import { showList } from '../plan/violations.ts';

/** The kinds of JSON values. `integer` counts as `number`: the value itself is checked at run time. */
export type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

/** A place in a JSON Schema; references are resolved in `root`. `undefined`: unknown. */
export interface SchemaPlace {
  readonly node: Json | undefined;
  readonly root: JsonObject;
}

/** The target of a path in the values that a schema describes. */
export type Located =
  /** `node` is `undefined` if the schema does not say. */
  | { readonly type: 'found'; readonly place: SchemaPlace }
  /** No valid value has this path. `problem` is a clause. */
  | { readonly type: 'missing'; readonly problem: string };

const maxHops = 16;
/** Keywords that make the schema of a place depend on more than the place. */
const combining: readonly string[] = [
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'dependentSchemas',
  'dependencies',
  '$ref',
  '$dynamicRef',
  'unevaluatedProperties',
];

/** Follows a schema that consists of a reference alone. */
function follow({ node, root }: SchemaPlace): SchemaPlace {
  let current = node;
  for (let hops = 0; hops < maxHops; hops += 1) {
    if (!isPlainObject(current)) break;
    const { $ref: reference, ...rest } = current as JsonObject;
    if (typeof reference !== 'string') return { node: current as Json, root };
    // Keywords next to a reference apply as well.
    if (combining.some((keyword) => Object.hasOwn(rest, keyword)) || 'type' in rest || 'properties' in rest) break;
    // Parts of a JSON Schema are JSON.
    current = resolvePointer(root, reference) as Json | undefined;
  }
  return { node: isPlainObject(current) && !('$ref' in current) ? (current as JsonObject) : undefined, root };
}

/** `node` as an object schema that describes its members only by `properties` and `additionalProperties`. */
export function asPlainSchema(place: SchemaPlace): JsonObject | undefined {
  const { node } = follow(place);
  if (!isPlainObject(node) || combining.some((keyword) => Object.hasOwn(node, keyword))) return undefined;
  return node as JsonObject;
}

/** The possible types of a value at this place; `undefined`: unknown. */
export function typesAt(place: SchemaPlace, hops: number = maxHops): ReadonlySet<JsonType> | undefined {
  const { node, root } = follow(place);
  if (!isPlainObject(node) || hops <= 0) return undefined;
  const { type, const: constant, enum: values, anyOf, oneOf } = node as JsonObject;
  if (typeof type === 'string') return new Set(toTypes(type));
  if (Array.isArray(type)) return new Set((type as readonly Json[]).flatMap((name) => toTypes(name)));
  if (constant !== undefined) return new Set([typeOf(constant)]);
  if (Array.isArray(values)) return new Set((values as readonly Json[]).map(typeOf));
  const branches = anyOf ?? oneOf;
  if (!Array.isArray(branches)) return undefined;
  const types = new Set<JsonType>();
  for (const branch of branches as readonly Json[]) {
    const some = typesAt({ node: branch, root }, hops - 1);
    if (some === undefined) return undefined;
    for (const name of some) types.add(name);
  }
  return types;
}

export function typeOf(value: Json): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object';
}

function toTypes(name: Json): readonly JsonType[] {
  switch (name) {
    case 'integer':
    case 'number':
      return ['number'];
    case 'null':
    case 'boolean':
    case 'string':
    case 'array':
    case 'object':
      return [name];
    default:
      // An unknown type could mean anything.
      return ['null', 'boolean', 'number', 'string', 'array', 'object'];
  }
}

/** Follows `path` from `place`. Members that the schema does not rule out are assumed to exist. */
export function locate(place: SchemaPlace, path: ValuePath): Located {
  let current = place;
  for (const segment of path) {
    const types = typesAt(current);
    if (types !== undefined && !types.has('object') && !(types.has('array') && typeof segment === 'number')) {
      const what = [...types].join(' or ');
      return { type: 'missing', problem: `the value before \`${String(segment).slice(0, 64)}\` has the type ${what}` };
    }
    const node = asPlainSchema(current);
    if (node === undefined || types === undefined || (types.has('array') && types.has('object'))) {
      return { type: 'found', place: { node: undefined, root: place.root } };
    }
    const inner = types.has('array') ? itemOf(node, Number(segment)) : memberOf(node, String(segment));
    if (inner === false) return { type: 'missing', problem: describeMissing(segment, node) };
    current = { node: inner, root: place.root };
  }
  return { type: 'found', place: current };
}

function describeMissing(segment: string | number, { properties }: JsonObject): string {
  const names = typeof segment === 'string' && isPlainObject(properties) ? Object.keys(properties) : [];
  const there = names.length === 0 ? '' : `; known keys: ${showList(names)}`;
  return `there is no \`${String(segment).slice(0, 64)}\`${there}`;
}

/** The schema of a member; `undefined`: unknown; `false`: not allowed. */
export function memberOf(node: JsonObject, key: string): Json | undefined {
  const { properties, additionalProperties, patternProperties } = node;
  if (isPlainObject(properties) && Object.hasOwn(properties, key)) return (properties as JsonObject)[key];
  if (patternProperties !== undefined) return undefined;
  if (isPlainObject(additionalProperties)) return additionalProperties as JsonObject;
  return additionalProperties === false ? false : undefined;
}

/** The schema of an item; `undefined`: unknown; `false`: not allowed. */
export function itemOf(node: JsonObject, index: number): Json | undefined {
  const { items, prefixItems, maxItems } = node;
  if (typeof maxItems === 'number' && index >= maxItems) return false;
  if (Array.isArray(prefixItems) && index < prefixItems.length) return (prefixItems as readonly Json[])[index];
  // Older drafts use a list of schemas for `prefixItems`.
  if (Array.isArray(items)) return index < items.length ? (items as readonly Json[])[index] : undefined;
  return items === false ? false : isPlainObject(items) ? (items as JsonObject) : undefined;
}
