import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';

/** Returns integers from 0, less than `below`; deterministic for a seed. */
export type RandomNumber = (below: number) => number;

/** Source: mulberry32, by Tommy Ettinger, public domain. */
export function randomNumbers(seed: number): RandomNumber {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const oddValues: readonly Json[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  0.5,
  1e308,
  5e-324,
  Number.MAX_SAFE_INTEGER + 1,
  '',
  ' ',
  '.',
  '..',
  '*',
  '**',
  '!',
  '[',
  '(',
  '{a',
  '\\',
  '/',
  '../../etc/passwd',
  '~',
  '$(x',
  "'",
  '`',
  'a;b',
  '\u0000',
  '\n',
  '\ud800',
  '\u202e',
  '\u{1f600}',
  '1e3',
  'http://[',
  '::1',
  '0x7f.1',
  '%zz',
  '__proto__',
  'constructor',
  'x'.repeat(5_000),
  [],
  {},
  [[]],
];
const oddKeys = ['path', 'name', 'constructor', 'toString', 'length', 'then', ''];

/** One of a list. */
export function pick<Item>(items: readonly Item[], random: RandomNumber): Item | undefined {
  return items.length === 0 ? undefined : items[random(items.length)];
}

/** `value` with one to three changes; new keys come from `keys`, or are odd. */
export function alterJson(value: JsonObject, keys: readonly string[], random: RandomNumber): JsonObject {
  let altered: Json = value;
  for (let left = random(3); left >= 0; left -= 1) altered = alter(altered, keys, random);
  // A top-level object stays an object.
  return isPlainObject(altered) ? (altered as JsonObject) : {};
}

function alter(value: Json, keys: readonly string[], random: RandomNumber): Json {
  if (isPlainObject(value)) return alterObject(value as JsonObject, keys, random);
  if (Array.isArray(value)) return alterList(value, keys, random);
  const others: readonly Json[] = [
    [value],
    { value },
    String(value),
    `${String(value)}${String(value)}`,
    -Number(value) || 0,
  ];
  return (random(2) === 0 ? pick(others, random) : undefined) ?? anyJson(random);
}

function alterObject(value: JsonObject, keys: readonly string[], random: RandomNumber): JsonObject {
  const own = pick(Object.keys(value), random);
  const choice = random(5);
  if (own !== undefined && choice === 0)
    return Object.fromEntries(Object.entries(value).filter(([key]) => key !== own));
  if (own === undefined || choice === 1) {
    const key = pick(random(3) === 0 ? oddKeys : [...keys, ...oddKeys], random) ?? '';
    return { ...value, [key]: anyJson(random) };
  }
  return { ...value, [own]: alter(value[own] ?? null, keys, random) };
}

function alterList(value: readonly Json[], keys: readonly string[], random: RandomNumber): Json {
  const index = random(value.length + 1);
  const item = value[index];
  const choice = random(4);
  if (item === undefined || choice === 0) return [...value, pick(value, random) ?? anyJson(random)];
  if (choice === 1) return value.toSpliced(index, 1);
  return value.with(index, alter(item, keys, random));
}

function anyJson(random: RandomNumber): Json {
  const odd = pick(oddValues, random) ?? null;
  const choice = random(8);
  if (choice === 0) return [odd, pick(oddValues, random) ?? null];
  if (choice === 1) return { [pick(oddKeys, random) ?? '']: odd };
  return choice === 2 ? random(1_000) : odd;
}
