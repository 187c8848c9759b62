import { describeThrown } from './errors.ts';

/** Any JSON value. Session state, arguments and results consist only of these. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/** True for objects from a literal, from `JSON.parse` or with a null prototype. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || isForeignObjectPrototype(prototype);
}

// A test runner with a realm per file (such as Jest) shares `structuredClone`, whose objects come from another realm. Only a realm's
// `Object.prototype` has this method and no prototype.
function isForeignObjectPrototype(prototype: unknown): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'isPrototypeOf');
}

/** Limits for foreign data. */
export interface JsonLimits {
  /** Levels of nesting, default 64. */
  readonly maxDepth?: number;
  /** Keys of all objects together. Default: no limit. */
  readonly maxKeys?: number;
  /** Characters of all strings and keys together, and two more for each item and key. Default: no limit. */
  readonly maxLength?: number;
}

/** The result of `copyJson`: a frozen copy, or a problem. */
export type CopiedJson =
  | { readonly ok: true; readonly value: Json }
  /** The first problem, with its position and kind. */
  | { readonly ok: false; readonly problem: string; readonly reason: 'type' | 'depth' | 'key' | 'size' };

/**
 * Copies `value` to frozen JSON, independent of the original. Each property is read once.
 * Rejects non-finite numbers, `undefined`, functions, anything but plain objects and arrays, `__proto__` keys, throwing properties, and
 * nesting deeper than `maxDepth`. Symbol keys are omitted, as in `JSON.stringify`.
 */
export function copyJson(
  value: unknown,
  { maxDepth = 64, maxKeys = noLimit, maxLength = noLimit }: JsonLimits = noLimits,
): CopiedJson {
  const copying: Copying = { problem: undefined, reason: 'type', path: '', keysLeft: maxKeys, lengthLeft: maxLength };
  let copied: Json;
  try {
    copied = copy(value, maxDepth, copying);
  } catch (thrown) {
    return { ok: false, reason: 'type', problem: `a property cannot be read: ${describeThrown(thrown)}` };
  }
  const { problem, reason, path } = copying;
  if (problem === undefined) return { ok: true, value: copied };
  return { ok: false, reason, problem: `\`${path === '' ? 'value' : path.replace(/^\./, '')}\` ${problem}` };
}

const noLimits: JsonLimits = {};
const noLimit = Number.POSITIVE_INFINITY;

/** The first problem; its path is built on the way back up, so that a success never builds one. */
interface Copying {
  problem: string | undefined;
  reason: Extract<CopiedJson, { ok: false }>['reason'];
  path: string;
  keysLeft: number;
  lengthLeft: number;
}

function copy(value: unknown, depth: number, copying: Copying): Json {
  switch (typeof value) {
    case 'string':
      return take(value.length, copying) ? value : null;
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : fail(copying, 'type', `is ${value}`);
    case 'object':
      break;
    default:
      return fail(copying, 'type', value === undefined ? 'is undefined' : `is of type ${typeof value}`);
  }
  if (value === null) return null;
  if (depth <= 0) return fail(copying, 'depth', 'is nested too deeply');
  return Array.isArray(value) ? copyArray(value, depth, copying) : copyObject(value, depth, copying);
}

function copyArray(value: readonly unknown[], depth: number, copying: Copying): Json {
  const { length } = value;
  if (!take(2 * length, copying)) return null;
  // Preallocated, unless it only claims to be large: holes are rejected one by one.
  const items: Json[] = length <= 1_024 ? new Array(length) : [];
  for (let index = 0; index < length; index += 1) {
    items[index] = copy(value[index], depth - 1, copying);
    if (copying.problem !== undefined) return passUp(copying, `[${index}]`);
  }
  return Object.freeze(items);
}

function copyObject(value: object, depth: number, copying: Copying): Json {
  if (!isPlainObject(value)) return fail(copying, 'type', 'is not a plain object');
  const properties: Record<string, Json> = {};
  for (const key of Object.keys(value)) {
    copying.keysLeft -= 1;
    if (copying.keysLeft < 0) return fail(copying, 'size', 'is one of too many keys');
    if (key === '__proto__') {
      fail(copying, 'key', 'is a reserved key');
      return passUp(copying, '.__proto__');
    }
    if (take(key.length + 2, copying)) properties[key] = copy(value[key], depth - 1, copying);
    if (copying.problem !== undefined) return passUp(copying, `.${key.slice(0, 100)}`);
  }
  return Object.freeze(properties);
}

/** True if there is room for `length` more. */
function take(length: number, copying: Copying): boolean {
  copying.lengthLeft -= length;
  if (copying.lengthLeft >= 0) return true;
  fail(copying, 'size', 'exceeds the size limit');
  return false;
}

function fail(copying: Copying, reason: Copying['reason'], problem: string): null {
  copying.problem = problem;
  copying.reason = reason;
  return null;
}

function passUp(copying: Copying, step: string): null {
  copying.path = `${step}${copying.path}`;
  return null;
}

/** Freezes `value` and everything in it, including below frozen objects. */
export function deepFreeze<Value>(value: Value): Value {
  freezeAll(value, undefined);
  return value;
}

/** Freezes `value` and its unfrozen parts. Frozen parts are assumed to be frozen throughout, so that revisiting them is free. */
export function freezeOpen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const key in value) if (Object.hasOwn(value, key)) freezeOpen(value[key]);
  return value;
}

/** `seen`: visited frozen objects, so that cycles end. */
function freezeAll(value: unknown, seen: Set<object> | undefined): void {
  if (typeof value !== 'object' || value === null) return;
  let met = seen;
  if (Object.isFrozen(value)) {
    if (met?.has(value) === true) return;
    met = (met ?? new Set()).add(value);
  } else {
    Object.freeze(value);
  }
  for (const key in value) if (Object.hasOwn(value, key)) freezeAll(value[key as keyof typeof value], met);
}

/** Freezes the output of a schema; true if all of it is JSON. Other values stay as they are. */
export function freezeInput(value: unknown): boolean {
  const room = { left: 2_000 };
  const json = freezeQuickly(value, 24, room);
  return room.left > 0 ? json : freezeCarefully(value, undefined);
}

/** Skips frozen values. Large, deep or circular input exhausts `room`, and the result is then unknown. */
function freezeQuickly(value: unknown, depth: number, room: { left: number }): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null || value === undefined) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return false;
  room.left -= depth === 0 ? room.left : 1;
  if (room.left <= 0) return false;
  const list = Array.isArray(value);
  if (!list && !isPlainObject(value)) return false;
  let json = true;
  if (list) {
    for (let index = 0; index < value.length; index += 1) {
      const item: unknown = value[index];
      if (typeof item !== 'string' && !freezeQuickly(item, depth - 1, room)) json = false;
    }
  } else {
    for (const key in value) {
      const inner = value[key];
      if (typeof inner !== 'string' && Object.hasOwn(value, key) && !freezeQuickly(inner, depth - 1, room))
        json = false;
    }
  }
  Object.freeze(value);
  return json;
}

function freezeCarefully(value: unknown, met: Set<object> | undefined): boolean {
  if (typeof value !== 'object' || value === null) return freezeQuickly(value, 1, { left: 1 });
  if (!Array.isArray(value) && !isPlainObject(value)) return false;
  // Already frozen: by the schema, or through a cycle.
  const frozen = Object.isFrozen(value);
  if (frozen && met?.has(value) === true) return false;
  const path = frozen ? (met ?? new Set<object>()).add(value) : met;
  if (!frozen) Object.freeze(value);
  let json = true;
  for (const inner of Object.values(value)) if (!freezeCarefully(inner, path)) json = false;
  return json;
}
