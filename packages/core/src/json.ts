import { describeThrown } from './errors.ts';

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
  return prototype === Object.prototype || prototype === null || isForeignObjectPrototype(prototype);
}

// A test runner that gives each file a realm of its own (Jest, for one) shares `structuredClone` between them, whose objects
// then come from another. Of all prototypes only a realm's `Object.prototype` has this method and no prototype itself.
function isForeignObjectPrototype(prototype: unknown): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'isPrototypeOf');
}

/** Limits under which foreign data is taken in. */
export interface JsonLimits {
  /** Levels of nesting, default 64. */
  readonly maxDepth?: number;
}

/** What came of `copyJson`: a frozen copy, or why there is none. */
export type CopiedJson =
  | { readonly ok: true; readonly value: Json }
  /** The first offender, with its place. */
  | { readonly ok: false; readonly problem: string };

/**
 * Copies `value` once to frozen JSON, so that nothing its owner does later can change it. Each property is read once.
 * Refused: numbers that are not finite, `undefined` and functions, anything but plain objects and arrays, `__proto__` as a key,
 * properties that throw, and nesting deeper than `maxDepth`. Symbol keys are left out, as in `JSON.stringify`.
 */
export function copyJson(value: unknown, { maxDepth = 64 }: JsonLimits = noLimits): CopiedJson {
  const failure: Failure = { problem: undefined, path: '' };
  let copied: Json;
  try {
    copied = copy(value, maxDepth, failure);
  } catch (thrown) {
    return { ok: false, problem: `a property cannot be read: ${describeThrown(thrown)}` };
  }
  if (failure.problem === undefined) return { ok: true, value: copied };
  return {
    ok: false,
    problem: `\`${failure.path === '' ? 'value' : failure.path.replace(/^\./, '')}\` ${failure.problem}`,
  };
}

const noLimits: JsonLimits = {};

/** Set by the first offender; its path grows on the way back up, so that a success never builds one. */
interface Failure {
  problem: string | undefined;
  path: string;
}

function copy(value: unknown, depth: number, failure: Failure): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : fail(failure, `is ${value}`);
    case 'object':
      break;
    default:
      return fail(failure, value === undefined ? 'is undefined' : `is of type ${typeof value}`);
  }
  if (value === null) return null;
  if (depth <= 0) return fail(failure, 'is nested too deeply');
  return Array.isArray(value) ? copyArray(value, depth, failure) : copyObject(value, depth, failure);
}

function copyArray(value: readonly unknown[], depth: number, failure: Failure): Json {
  const { length } = value;
  // Of its size from the start, unless it only claims to be large: holes are refused one by one.
  const items: Json[] = length <= 1_024 ? new Array(length) : [];
  for (let index = 0; index < length; index += 1) {
    items[index] = copy(value[index], depth - 1, failure);
    if (failure.problem !== undefined) return passUp(failure, `[${index}]`);
  }
  return Object.freeze(items);
}

function copyObject(value: object, depth: number, failure: Failure): Json {
  if (!isPlainObject(value)) return fail(failure, 'is not a plain object');
  const properties: Record<string, Json> = {};
  for (const key of Object.keys(value)) {
    if (key === '__proto__') {
      fail(failure, 'is a reserved key');
      return passUp(failure, '.__proto__');
    }
    properties[key] = copy(value[key], depth - 1, failure);
    if (failure.problem !== undefined) return passUp(failure, `.${key}`);
  }
  return Object.freeze(properties);
}

function fail(failure: Failure, problem: string): null {
  failure.problem = problem;
  return null;
}

function passUp(failure: Failure, step: string): null {
  failure.path = `${step}${failure.path}`;
  return null;
}

/** Freezes `value` and everything in it. What is frozen already is taken to be frozen all the way down. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const key in value) if (Object.hasOwn(value, key)) deepFreeze(value[key]);
  return Object.freeze(value);
}
