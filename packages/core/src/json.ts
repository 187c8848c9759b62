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

/**
 * Tells where `value` stops being JSON: the path of the first offender and what it is, or `undefined` when all of it is JSON.
 * Numbers must be finite, objects plain with string keys only, `__proto__` is refused as a key, accessors are refused unread.
 */
export function findNonJson(value: unknown, { maxDepth = 64 }: JsonLimits = {}): string | undefined {
  return inspect(value, '', maxDepth);
}

function inspect(value: unknown, path: string, depth: number): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : `\`${path || 'value'}\` is ${value}`;
    case 'object':
      break;
    default:
      return `\`${path || 'value'}\` is of type ${typeof value}`;
  }
  if (value === null) return undefined;
  if (depth <= 0) return `\`${path}\` is nested too deeply`;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const problem = inspect(value[index], `${path}[${index}]`, depth - 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  if (!isPlainObject(value)) return `\`${path || 'value'}\` is not a plain object`;
  for (const key of Reflect.ownKeys(value)) {
    const inner = path === '' ? String(key) : `${path}.${String(key)}`;
    if (typeof key === 'symbol') return `\`${inner}\` is a symbol key`;
    if (key === '__proto__') return `\`${inner}\` is a reserved key`;
    const property = Object.getOwnPropertyDescriptor(value, key);
    if (property === undefined || !('value' in property)) return `\`${inner}\` is an accessor`;
    const problem = inspect(property.value, inner, depth - 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Freezes `value` and everything in it. What is frozen already is taken to be frozen all the way down. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
