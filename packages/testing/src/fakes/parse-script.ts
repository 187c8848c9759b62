import { type FinishReason, HoldfastError, type ModelUsage, type ToolCall } from '@holdfast/core';
import { decodeJson, describeThrown, isPlainObject } from '@holdfast/core/internal';
import type { ScriptStep } from './scripted-model.ts';

/**
 * Reads a script from JSON text, `{ "turns": [...] }` or the bare list. A turn has the form of `ScriptedTurn`, or is
 * `{ "throw": "message" }`. `source` names the file in errors.
 *
 * @throws HoldfastError `script.invalid`, with the position in the message and in `data`.
 */
export function parseScript(text: string, source: string): readonly ScriptStep[] {
  const root = parseJson(text, source);
  const turns = Array.isArray(root) ? root : readObject(root, { source, path: 'script' }, ['turns'])['turns'];
  return readList(turns, { source, path: 'turns' }, readStep);
}

interface Place {
  readonly source: string;
  readonly path: string;
}

const finishReasons: readonly FinishReason[] = ['stop', 'tool-calls', 'length', 'content-filter', 'other'];

function parseJson(text: string, source: string): unknown {
  try {
    return decodeJson(text);
  } catch (cause) {
    throw new HoldfastError('script.invalid', `\`${source}\` is not JSON: ${describeThrown(cause)}`, {
      data: { source, place: 'script' },
      cause,
    });
  }
}

function readStep(value: unknown, place: Place): ScriptStep {
  const turn = readObject(value, place, ['text', 'calls', 'finish', 'usage', 'throw']);
  const { text, calls, finish, usage, throw: thrown } = turn;
  if (thrown !== undefined) {
    if (Object.keys(turn).length > 1) fail(place, 'an object with `throw` and nothing else');
    return { throw: new Error(readString(thrown, inside(place, '.throw'))) };
  }
  return {
    ...(text === undefined ? {} : { text: readString(text, inside(place, '.text')) }),
    ...(calls === undefined ? {} : { calls: readList(calls, inside(place, '.calls'), readCall) }),
    ...(finish === undefined ? {} : { finish: readFinish(finish, inside(place, '.finish')) }),
    ...(usage === undefined ? {} : { usage: readUsage(usage, inside(place, '.usage')) }),
  };
}

function readCall(value: unknown, place: Place): ToolCall {
  const call = readObject(value, place, ['id', 'name', 'arguments']);
  const { id, name } = call;
  // Any value is valid, because the executor rejects bad arguments; but it must be present.
  if (!Object.hasOwn(call, 'arguments')) fail(inside(place, '.arguments'), 'there, as a value or as JSON text');
  return {
    ...(id === undefined ? {} : { id: readString(id, inside(place, '.id')) }),
    name: readString(name, inside(place, '.name')),
    arguments: call['arguments'],
  };
}

function readFinish(value: unknown, place: Place): FinishReason {
  return finishReasons.find((known) => known === value) ?? fail(place, `one of ${finishReasons.join(', ')}`);
}

function readUsage(value: unknown, place: Place): ModelUsage {
  const { inputTokens, outputTokens } = readObject(value, place, ['inputTokens', 'outputTokens']);
  return {
    inputTokens: readCount(inputTokens, inside(place, '.inputTokens')),
    outputTokens: readCount(outputTokens, inside(place, '.outputTokens')),
  };
}

function readCount(value: unknown, place: Place): number {
  const valid = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
  return valid ? value : fail(place, 'a whole number from 0 on');
}

function readString(value: unknown, place: Place): string {
  return typeof value === 'string' ? value : fail(place, 'a string');
}

function readList<Item>(
  value: unknown,
  place: Place,
  readItem: (item: unknown, place: Place) => Item,
): readonly Item[] {
  if (!Array.isArray(value)) return fail(place, 'a list');
  return value.map((item: unknown, index) => readItem(item, inside(place, `[${index}]`)));
}

function readObject(value: unknown, place: Place, keys: readonly string[]): Record<string, unknown> {
  if (!isPlainObject(value)) return fail(place, `an object with ${keys.join(', ')}`);
  for (const key of Object.keys(value)) {
    if (!keys.includes(key)) fail(inside(place, `.${key}`), `left out; known here: ${keys.join(', ')}`);
  }
  return value;
}

function inside(place: Place, step: string): Place {
  return { source: place.source, path: place.path + step };
}

function fail({ source, path }: Place, expected: string): never {
  throw new HoldfastError('script.invalid', `\`${path}\` in \`${source}\` must be ${expected}.`, {
    data: { source, place: path },
  });
}
