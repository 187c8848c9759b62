import type { Json, JsonObject, Schema } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { jsonSchema } from '@holdfast/schema/json';
import fc from 'fast-check';
import * as v from 'valibot';

/** A small schema language of our own, so that a third party decides whether a schema's validator was right. */
export type Shape =
  | { readonly type: 'string'; readonly minLength: number }
  | { readonly type: 'number' | 'boolean' | 'null' }
  | { readonly type: 'integer'; readonly minimum: number }
  | { readonly type: 'choice'; readonly options: readonly string[] }
  | { readonly type: 'array'; readonly items: Shape; readonly maxItems: number }
  | ObjectShape;

export interface ObjectShape {
  readonly type: 'object';
  readonly fields: readonly { readonly key: string; readonly shape: Shape; readonly optional: boolean }[];
  readonly open: boolean;
}

// Names that an object seems to have anyway stand beside those that it does not. No `constructor`: valibot's open objects drop it.
const inherited = ['toString', 'valueOf', 'hasOwnProperty'];
const keys = ['a', 'b', 'path', 'length', 'then', 'a.b', '0', '', 'ä', '$ref', ...inherited];
export const arbitraryKey: fc.Arbitrary<string> = fc.constantFrom(...keys);

const leaf: fc.Arbitrary<Shape> = fc.oneof(
  fc.record({ type: fc.constant('string' as const), minLength: fc.nat({ max: 2 }) }),
  fc.record({ type: fc.constant('integer' as const), minimum: fc.integer({ min: -2, max: 2 }) }),
  fc.constantFrom({ type: 'number' as const }, { type: 'boolean' as const }, { type: 'null' as const }),
  fc.record({ type: fc.constant('choice' as const), options: fc.constantFrom(['x'], ['x', 'y'], ['', '1']) }),
);
const { object } = fc.letrec<{ object: ObjectShape; shape: Shape }>((tie) => ({
  shape: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.record({
      type: fc.constant('array' as const),
      items: tie('shape'),
      maxItems: fc.integer({ min: 0, max: 3 }),
    }),
    tie('object'),
  ),
  object: fc.record({
    type: fc.constant('object' as const),
    open: fc.boolean(),
    fields: fc
      .uniqueArray(fc.record({ key: arbitraryKey, shape: tie('shape'), optional: fc.boolean() }), {
        maxLength: 4,
        selector: ({ key }) => key,
      })
      // valibot has its own way with an optional field that every object inherits: see the table of cases.
      .map((fields) => fields.map((field) => (inherited.includes(field.key) ? { ...field, optional: false } : field))),
  }),
}));
export const arbitraryShape: fc.Arbitrary<ObjectShape> = object;

/** True if `value` has the shape; looks at own properties only. */
export function hasShape(shape: Shape, value: unknown): boolean {
  switch (shape.type) {
    case 'string':
      return typeof value === 'string' && value.length >= shape.minLength;
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'null':
      return value === null;
    case 'integer':
      return Number.isInteger(value) && (value as number) >= shape.minimum;
    case 'choice':
      return typeof value === 'string' && shape.options.includes(value);
    case 'array':
      return (
        Array.isArray(value) && value.length <= shape.maxItems && value.every((item) => hasShape(shape.items, item))
      );
    case 'object': {
      if (!isPlainObject(value)) return false;
      const { fields, open } = shape;
      const declared = fields.every(({ key, shape: inner, optional }) =>
        Object.hasOwn(value, key) ? hasShape(inner, value[key]) : optional,
      );
      return declared && (open || Object.keys(value).every((key) => fields.some((field) => field.key === key)));
    }
  }
}

export function toValibot(shape: Shape): v.GenericSchema {
  switch (shape.type) {
    case 'string':
      return v.pipe(v.string(), v.minLength(shape.minLength));
    case 'number':
      return v.pipe(v.number(), v.finite());
    case 'boolean':
      return v.boolean();
    case 'null':
      return v.null();
    case 'integer':
      return v.pipe(v.number(), v.integer(), v.minValue(shape.minimum));
    case 'choice':
      return v.picklist(shape.options);
    case 'array':
      return v.pipe(v.array(toValibot(shape.items)), v.maxLength(shape.maxItems));
    case 'object': {
      const entries = Object.fromEntries(
        shape.fields.map(({ key, shape: inner, optional }) => {
          const schema = toValibot(inner);
          return [key, optional ? v.optional(schema) : schema];
        }),
      );
      return shape.open ? v.looseObject(entries) : v.object(entries);
    }
  }
}

export function toJsonSchema(shape: ObjectShape): Schema {
  return jsonSchema(node(shape));
}

function node(shape: Shape): JsonObject {
  switch (shape.type) {
    case 'choice':
      return { enum: shape.options };
    case 'array':
      return { type: 'array', items: node(shape.items), maxItems: shape.maxItems };
    case 'object': {
      const { fields, open } = shape;
      return {
        type: 'object',
        properties: Object.fromEntries(fields.map(({ key, shape: inner }) => [key, node(inner)])),
        required: fields.filter(({ optional }) => !optional).map(({ key }) => key),
        ...(open ? { additionalProperties: true } : {}),
      };
    }
    default:
      return { ...shape };
  }
}

/** Values that have the shape. */
export function arbitraryValue(shape: Shape): fc.Arbitrary<Json> {
  switch (shape.type) {
    case 'string':
      return fc.string({ minLength: shape.minLength, maxLength: 6 });
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'integer':
      return fc.integer({ min: shape.minimum, max: 10 });
    case 'choice':
      return fc.constantFrom(...shape.options);
    case 'array':
      return fc.array(arbitraryValue(shape.items), { maxLength: shape.maxItems });
    case 'object':
      return fc.record(Object.fromEntries(shape.fields.map(({ key, shape: inner }) => [key, arbitraryValue(inner)])), {
        requiredKeys: shape.fields.filter(({ optional }) => !optional).map(({ key }) => key),
        noNullPrototype: true,
      });
  }
}

/** A value that may replace another one. It may fit by chance: `hasShape` tells. */
const misfit: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(null, true, 0, -1, 1.5, 1e21, '', 'x', '1', 'null', [], {}, [[]], { a: 1 }, ['x', 1], [null]),
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
);

/** One change somewhere in a value: another value, a key more, a key less, a key renamed, one more item. */
export interface Break {
  /** Which way to go down, as long as there is one. */
  readonly path: readonly number[];
  readonly how: 'replace' | 'add' | 'take' | 'rename' | 'repeat';
  readonly key: string;
  readonly misfit: Json;
}

export const arbitraryBreak: fc.Arbitrary<Break> = fc.record({
  path: fc.array(fc.nat({ max: 3 }), { maxLength: 4 }),
  how: fc.constantFrom('replace', 'add', 'take', 'rename', 'repeat'),
  key: arbitraryKey,
  misfit,
});

export function breakValue(value: Json, { path, how, key, misfit: other }: Break): Json {
  return changeAt(value, path, (found) => {
    if (how === 'replace') return other;
    if (Array.isArray(found)) {
      if (how === 'take') return found.slice(1);
      return how === 'repeat' && found.length > 0 ? [...found, ...found] : [...found, other];
    }
    if (!isPlainObject(found)) return other;
    const entries = Object.entries(found as JsonObject);
    if (how === 'take') return Object.fromEntries(entries.slice(1));
    if (how === 'rename') {
      return Object.fromEntries(entries.map(([name, inner], index) => [index === 0 ? `${name} ` : name, inner]));
    }
    return Object.fromEntries([...entries, [key, other]]);
  });
}

function changeAt(value: Json, [step, ...rest]: readonly number[], change: (found: Json) => Json): Json {
  if (step === undefined || typeof value !== 'object' || value === null) return change(value);
  const entries = Object.entries(value);
  const entry = entries[step % entries.length];
  if (entry === undefined) return change(value);
  const [key, inner] = entry;
  const changed = changeAt(inner as Json, rest, change);
  return Array.isArray(value)
    ? value.map((item: Json, index) => (String(index) === key ? changed : item))
    : Object.fromEntries(entries.map(([name, old]) => [name, name === key ? changed : (old as Json)]));
}
