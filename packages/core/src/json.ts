/** What JSON can hold. Session state, arguments and results are made of nothing else. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Whether `value` is an object made by a literal, by `JSON.parse` or with a null prototype. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Limits under which foreign data is taken in. */
export interface JsonLimits {
  /** Levels of nesting, default 64. */
  readonly maxDepth?: number;
}

export type CopiedJson =
  | { readonly ok: true; readonly value: Json }
  /** The first offender, with its place. */
  | { readonly ok: false; readonly problem: string };

/**
 * Copies `value` once to frozen JSON, so that nothing its owner does later can change it.
 * Refused: numbers that are not finite, `undefined` and functions, anything but plain objects and arrays, symbol keys,
 * `__proto__` as a key, accessors (they are not run), and nesting deeper than `maxDepth`.
 */
export function copyJson(value: unknown, { maxDepth = 64 }: JsonLimits = {}): CopiedJson {
  const failure: Failure = { problem: undefined };
  const copied = copy(value, '', maxDepth, failure);
  return failure.problem === undefined ? { ok: true, value: copied } : { ok: false, problem: failure.problem };
}

interface Failure {
  problem: string | undefined;
}

function copy(value: unknown, path: string, depth: number, failure: Failure): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : fail(failure, path, `is ${value}`);
    case 'object':
      break;
    default:
      return fail(failure, path, value === undefined ? 'is undefined' : `is of type ${typeof value}`);
  }
  if (value === null) return null;
  if (depth <= 0) return fail(failure, path, 'is nested too deeply');
  return Array.isArray(value) ? copyArray(value, path, depth, failure) : copyObject(value, path, depth, failure);
}

function copyArray(value: readonly unknown[], path: string, depth: number, failure: Failure): Json {
  const items: Json[] = [];
  for (let index = 0; index < value.length && failure.problem === undefined; index += 1) {
    items.push(copy(value[index], `${path}[${index}]`, depth - 1, failure));
  }
  return Object.freeze(items);
}

function copyObject(value: object, path: string, depth: number, failure: Failure): Json {
  if (!isPlainObject(value)) return fail(failure, path, 'is not a plain object');
  const properties: Record<string, Json> = {};
  for (const key of Reflect.ownKeys(value)) {
    const inner = path === '' ? String(key) : `${path}.${String(key)}`;
    if (typeof key === 'symbol') return fail(failure, inner, 'is a symbol key');
    if (key === '__proto__') return fail(failure, inner, 'is a reserved key');
    const property = Object.getOwnPropertyDescriptor(value, key);
    if (property === undefined || !('value' in property)) return fail(failure, inner, 'is an accessor');
    properties[key] = copy(property.value, inner, depth - 1, failure);
    if (failure.problem !== undefined) return null;
  }
  return Object.freeze(properties);
}

function fail(failure: Failure, path: string, problem: string): null {
  failure.problem ??= `\`${path === '' ? 'value' : path}\` ${problem}`;
  return null;
}

/** Freezes `value` and everything in it. What is frozen already is taken to be frozen all the way down. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
