import { decodeJson } from './decode-json.ts';
import type { Json, JsonLimits } from './json.ts';

/** Under which JSON of a model is taken: arguments of its calls and its output. */
export const modelJsonLimits: Required<JsonLimits> = Object.freeze({
  maxDepth: 64,
  maxKeys: 10_000,
  maxLength: 1_048_576,
});

/** What came of `parseJson`: the value, or what is wrong with the text and what kind of offence it is. */
export type ParsedJson =
  | { readonly ok: true; readonly value: Json }
  | {
      readonly ok: false;
      /** A clause that goes on from "it cannot be taken:". */
      readonly problem: string;
      readonly reason: 'syntax' | 'type' | 'depth' | 'key' | 'duplicate' | 'size';
    };

/**
 * Parses text that somebody else wrote, once: JSON in a JSON string stays a string. Refused beside what is no JSON: a key twice in
 * one object, `__proto__` as a key, numbers that `JSON.parse` makes infinite, and what is beyond `limits` (`maxLength` counts the
 * characters of the text). Linear in the length of the text.
 */
export function parseJson(
  text: string,
  { maxDepth = 64, maxKeys = noLimit, maxLength = noLimit }: JsonLimits = modelJsonLimits,
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
  const survey: Survey = { keys: 0, problem: undefined };
  inspect(value, maxDepth, maxDepth, survey);
  if (survey.problem !== undefined) return survey.problem;
  if (survey.keys > maxKeys) return refused('size', `it has ${survey.keys} keys; ${maxKeys} is the limit`);
  // `JSON.parse` keeps the last of two equal keys: then the text has more of them than the value.
  if (countColons(text) !== survey.keys && countKeys(text) !== survey.keys)
    return refused('duplicate', 'it has a key twice in one object');
  // Came from `JSON.parse`.
  return { ok: true, value: value as Json };
}

const noLimit = Number.POSITIVE_INFINITY;

type Refused = Extract<ParsedJson, { readonly ok: false }>;

interface Survey {
  keys: number;
  problem: Refused | undefined;
}

function inspect(value: unknown, depthLeft: number, maxDepth: number, survey: Survey): void {
  if (typeof value === 'number' && !Number.isFinite(value))
    survey.problem = refused('type', 'it has a number that is too large');
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

/** At least as many as the text has keys, and found much faster. */
function countColons(text: string): number {
  let count = 0;
  for (let at = text.indexOf(':'); at !== -1; at = text.indexOf(':', at + 1)) count += 1;
  return count;
}

const quote = 34;
const backslash = 92;
const colon = 58;

/** How many keys valid JSON text has: the colons outside of its strings. */
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
