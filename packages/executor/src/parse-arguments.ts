import { deepFreeze, isPlainObject, type Json, type JsonObject, type Problem, parseJson } from '@holdfast/core';
import { describeIssues } from '@holdfast/schema';
import { type IdentifiedCall, toProblem } from './identified-call.ts';
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
  if (text.trim() === '') return { type: 'decoded', input: empty };
  const parsed = parseJson(text);
  return parsed.ok ? checkObject(parsed.value) : { type: 'refused', problem: toProblem(parsed) };
}

function checkObject(value: Json): Decoded {
  if (isPlainObject(value)) return { type: 'decoded', input: value as JsonObject };
  const kind = value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`;
  return refused('arguments.not_object', `The arguments must be one JSON object, got ${kind}.`);
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
