import { decodeJson } from './decode-json.ts';
import type { Json, JsonLimits } from './json.ts';

/** Limits for untrusted text. */
export interface TextLimits extends JsonLimits {
  /** Rejects integers that lose precision, which is possible beyond 2 ** 53. Default false. */
  readonly exact?: boolean;
}

/** The limits for JSON from a model: arguments and output. */
export const modelJsonLimits: Required<TextLimits> = Object.freeze({
  maxDepth: 64,
  maxKeys: 10_000,
  maxLength: 1_048_576,
  exact: true,
});

/** The result of `parseJson`: the value, or the problem and its kind. */
export type ParsedJson =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false;
      /** A clause that follows "it cannot be taken:". */
      readonly problem: string;
      readonly reason: 'syntax' | 'type' | 'depth' | 'key' | 'duplicate' | 'size' | 'inexact';
    };

/**
 * Parses untrusted text once: JSON in a JSON string stays a string. Besides invalid JSON it refuses duplicate keys, `__proto__` as a key,
 * numbers that overflow or, with `exact`, lose precision, and anything beyond `limits` (`maxLength` counts the characters of the text).
 * Linear in the length of the text.
 */
export function parseJson(
  text: string,
  { maxDepth = 64, maxKeys = noLimit, maxLength = noLimit, exact = false }: TextLimits = modelJsonLimits,
): ParsedJson {
  if (text.length > maxLength)
    return refused('size', `it is ${text.length} characters long; ${maxLength} is the limit`);
  let value: unknown;
  try {
    value = decodeJson(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : 'unknown reason';
    return refused('syntax', `it is not JSON: ${reason}`);
  }
  const survey: Survey = { keys: 0, problem: undefined, unsafe: false };
  inspect(value, maxDepth, maxDepth, survey);
  if (survey.problem !== undefined) return survey.problem;
  if (survey.keys > maxKeys) return refused('size', `it has ${survey.keys} keys; ${maxKeys} is the limit`);
  const inexact = exact && survey.unsafe ? findInexact(text) : undefined;
  if (inexact !== undefined) {
    const short = inexact.length <= 40 ? inexact : `${inexact.slice(0, 40)}…`;
    return refused(
      'inexact',
      `the number ${short} has too many digits and would become another one; give it as text, or as fewer digits`,
    );
  }
  // `JSON.parse` keeps the last of duplicate keys, so the text then has more keys than the value.
  if (countColons(text) !== survey.keys && countKeys(text) !== survey.keys)
    return refused('duplicate', 'it has a key twice in one object');
  // Produced by `JSON.parse`.
  return { ok: true, value: value as Json };
}

const noLimit = Number.POSITIVE_INFINITY;

type Refused = Extract<ParsedJson, { readonly ok: false }>;

interface Survey {
  keys: number;
  problem: Refused | undefined;
  /** True if there is a number beyond the safe integers. */
  unsafe: boolean;
}

function inspect(value: unknown, depthLeft: number, maxDepth: number, survey: Survey): void {
  if (typeof value === 'number') {
    if (value <= Number.MAX_SAFE_INTEGER && value >= Number.MIN_SAFE_INTEGER) return;
    survey.unsafe = true;
    if (!Number.isFinite(value)) survey.problem = refused('type', 'it has a number that is too large');
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (depthLeft <= 0) {
    survey.problem = refused('depth', `it is nested deeper than ${maxDepth} levels`);
    return;
  }
  if (Array.isArray(value)) {
    for (const item of value) inspect(item, depthLeft - 1, maxDepth, survey);
    return;
  }
  const object = value as Readonly<Record<string, unknown>>;
  // Without a list of the keys, which would cost more than the rest of the walk.
  for (const key in object) {
    if (!Object.hasOwn(object, key)) continue;
    survey.keys += 1;
    if (key === '__proto__') survey.problem = refused('key', '`__proto__` is not accepted as a key');
    inspect(object[key], depthLeft - 1, maxDepth, survey);
  }
}

const textOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;
const wholeNumber = /^-?\d{16,}(?:\.0*)?$/;

/** The first integer in valid JSON text that parsing changes. */
function findInexact(text: string): string | undefined {
  for (const [found] of text.matchAll(textOrNumber)) {
    if (!wholeNumber.test(found)) continue;
    const [digits = ''] = found.split('.');
    const number = Number(digits);
    // A number that prints the same has the meaning it has in any program with doubles.
    if (String(number) !== digits && BigInt(number) !== BigInt(digits)) return found;
  }
  return undefined;
}

/** An upper bound for the number of keys, computed quickly. */
function countColons(text: string): number {
  let count = 0;
  for (let at = text.indexOf(':'); at !== -1; at = text.indexOf(':', at + 1)) count += 1;
  return count;
}

const quote = 34;
const backslash = 92;
const colon = 58;

/** The number of keys in valid JSON text: the colons outside of strings. */
function countKeys(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === colon) count += 1;
    else if (unit === quote) {
      for (index += 1; text.charCodeAt(index) !== quote; index += 1) {
        if (text.charCodeAt(index) === backslash) index += 1;
      }
    }
  }
  return count;
}

function refused(reason: Refused['reason'], problem: string): Refused {
  return { ok: false, reason, problem };
}
