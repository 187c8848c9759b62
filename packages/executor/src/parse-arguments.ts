import { deepFreeze, isPlainObject, type Json, type JsonObject, type Problem } from '@holdfast/core';
import { describeIssues } from '@holdfast/schema';
import { type IdentifiedCall, maxArgumentsDepth, maxArgumentsKeys, maxArgumentsLength } from './identified-call.ts';
import type { CompiledTool } from './toolset.ts';

export type Parsed =
  | {
      readonly type: 'parsed';
      readonly input: JsonObject;
      /** The same, or where a schema makes of it what is no JSON, what it was before. */
      readonly recorded: JsonObject;
    }
  | Refused;

interface Refused {
  readonly type: 'refused';
  readonly problem: Problem;
}

type Decoded = { readonly type: 'decoded'; readonly input: JsonObject } | Refused;

const empty: JsonObject = Object.freeze({});

/**
 * Turns what a model sent into validated, frozen input: text is parsed once, never twice; a value has been copied before.
 * Refused: text that is not one JSON object, keys given twice, `__proto__`, numbers that JSON.parse makes infinite, more than 64
 * levels, 10,000 keys or 1 MiB, and what the tool's schema refuses.
 */
export function parseArguments(call: IdentifiedCall, { tool, input }: CompiledTool): Parsed {
  if (call.problem !== undefined) return { type: 'refused', problem: call.problem };
  const decoded = typeof call.arguments === 'string' ? decodeText(call.arguments) : checkObject(call.arguments);
  if (decoded.type === 'refused') return decoded;
  if (input === undefined) {
    const [extra] = Object.keys(decoded.input);
    return extra === undefined
      ? { type: 'parsed', input: empty, recorded: empty }
      : refused('arguments.invalid', `\`${tool.name}\` takes no arguments, got \`${extra.slice(0, 100)}\`.`);
  }
  const validation = input.validate(decoded.input);
  if (!validation.ok) {
    return refused(
      'arguments.invalid',
      `Invalid arguments for \`${tool.name}\`: ${describeIssues(validation.issues)}`,
      {
        issues: validation.issues.map(({ path, message }) => ({ path, message })),
      },
    );
  }
  // An object in, by the check above, and JSON; a schema that turns it into something else is its author's choice.
  const made = validation.value as JsonObject;
  if (freezeInput(made)) return { type: 'parsed', input: made, recorded: made };
  return { type: 'parsed', input: made, recorded: deepFreeze(decoded.input) };
}

function decodeText(text: string): Decoded {
  if (text.length > maxArgumentsLength)
    return refused(
      'arguments.too_large',
      `The arguments are ${text.length} characters long; ${maxArgumentsLength} is the limit.`,
    );
  if (text.trim() === '') return { type: 'decoded', input: empty };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : 'unknown reason';
    return refused('arguments.malformed', `The arguments are not JSON: ${reason}`);
  }
  const survey: Survey = { keys: 0, problem: undefined };
  inspect(value, maxArgumentsDepth, survey);
  if (survey.problem !== undefined) return { type: 'refused', problem: survey.problem };
  if (survey.keys > maxArgumentsKeys)
    return refused('arguments.too_large', `The arguments have ${survey.keys} keys; ${maxArgumentsKeys} is the limit.`);
  // `JSON.parse` keeps the last of two equal keys: then the text has more of them than the value.
  if (countColons(text) !== survey.keys && countKeys(text) !== survey.keys)
    return refused('arguments.duplicate_key', 'The arguments have a key twice in one object.');
  // Came from `JSON.parse`.
  return checkObject(value as Json);
}

function checkObject(value: Json): Decoded {
  if (isPlainObject(value)) return { type: 'decoded', input: value as JsonObject };
  const kind = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
  return refused('arguments.not_object', `The arguments must be one JSON object, got ${kind}.`);
}

interface Survey {
  keys: number;
  problem: Problem | undefined;
}

function inspect(value: unknown, depth: number, survey: Survey): void {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    survey.problem = { code: 'arguments.not_json', message: 'The arguments have a number that is too large.' };
  }
  if (typeof value !== 'object' || value === null) return;
  if (depth <= 0) {
    survey.problem = {
      code: 'arguments.too_deep',
      message: `The arguments are nested deeper than ${maxArgumentsDepth} levels.`,
    };
    return;
  }
  if (Array.isArray(value)) {
    for (const item of value) inspect(item, depth - 1, survey);
    return;
  }
  const object = value as Readonly<Record<string, unknown>>;
  // Without a list of the keys, which would cost more than the rest of the walk.
  for (const key in object) {
    if (!Object.hasOwn(object, key)) continue;
    survey.keys += 1;
    if (key === '__proto__')
      survey.problem = { code: 'arguments.reserved_key', message: '`__proto__` is not accepted as a key.' };
    inspect(object[key], depth - 1, survey);
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

function refused(code: string, message: string, data: Json = null): Refused {
  return { type: 'refused', problem: { code, message, data } };
}

/** Freezes what a schema has made of the arguments, and says whether all of it is JSON. What is no JSON stays as it is. */
function freezeInput(value: unknown, met?: Set<object>): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object':
      break;
    default:
      // An optional key that a schema fills with nothing is left out of JSON.
      return value === undefined;
  }
  if (value === null) return true;
  if (!Array.isArray(value) && !isPlainObject(value)) return false;
  // Frozen before: by the schema, with anything below it, or in a circle.
  const frozen = Object.isFrozen(value);
  if (frozen && met?.has(value) === true) return false;
  const path = frozen ? (met ?? new Set<object>()).add(value) : met;
  if (!frozen) Object.freeze(value);
  let json = true;
  if (Array.isArray(value)) {
    for (const item of value) if (!freezeInput(item, path)) json = false;
    return json;
  }
  for (const key in value) if (Object.hasOwn(value, key) && !freezeInput(value[key], path)) json = false;
  return json;
}
