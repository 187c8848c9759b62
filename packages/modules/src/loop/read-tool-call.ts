import type { Json, JsonObject } from '@holdfast/core';
import { copyJson, isPlainObject, modelJsonLimits, parseJson } from '@holdfast/core/internal';

/** A call requested by a predictor. Its name may be any text; its arguments are left for the call path to check. */
export interface AskedCall {
  readonly id?: string;
  readonly name: string;
  /** JSON text or a value; `{}` if absent. */
  readonly args: Json;
}

/** The meaning of a `tool_call`. Messages are clauses without a period. */
export type ToolCallReading =
  | { readonly type: 'none' }
  | {
      readonly type: 'calls';
      /** At least one. */
      readonly calls: readonly AskedCall[];
      /** A problem with other calls in the same request. */
      readonly problem?: string;
    }
  | { readonly type: 'invalid'; readonly message: string };

/**
 * Reads `{ name, args }`, or `arguments` for `args`, in the formats that models use: an object, JSON text (optionally in a fence or doubly
 * encoded), a list, `{ tool_calls: [...] }`, or a call of OpenAI (`function`) or Anthropic (`tool_use`). Undefined, null, `""`, `"null"`,
 * `"None"`, `{}` and `[]` mean no call. Linear in the size of the value; never throws.
 */
export function readToolCall(value: unknown): ToolCallReading {
  if (value === undefined || value === null) return none;
  if (typeof value === 'string') return readText(value);
  const copied = copyJson(value, modelJsonLimits);
  return copied.ok ? readValue(copied.value) : invalid(copied.problem);
}

const none: ToolCallReading = { type: 'none' };
const wordsForNothing: ReadonlySet<string> = new Set(['', 'null', 'none']);

function saysNothing(text: string): boolean {
  return text.length < 20 && wordsForNothing.has(text.trim().toLowerCase());
}

function readText(text: string): ToolCallReading {
  const decoded = decodeText(text);
  return decoded.ok ? readValue(decoded.value) : invalid(decoded.problem);
}

function decodeText(
  text: string,
): { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly problem: string } {
  if (saysNothing(text)) return { ok: true, value: null };
  const parsed = parseJson(withoutFence(text));
  if (!parsed.ok || typeof parsed.value !== 'string') return parsed;
  if (saysNothing(parsed.value)) return { ok: true, value: null };
  const inner = parseJson(withoutFence(parsed.value));
  return inner.ok && typeof inner.value === 'string' ? { ok: false, problem: 'it is encoded more than twice' } : inner;
}

function withoutFence(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```')) return trimmed;
  const firstBreak = trimmed.indexOf('\n');
  return firstBreak === -1 ? trimmed : trimmed.slice(firstBreak + 1, -3).trim();
}

function readValue(value: Json): ToolCallReading {
  const list = toList(value);
  const calls: AskedCall[] = [];
  let problem: string | undefined;
  for (const item of list) {
    const read = readItem(item);
    if (typeof read === 'string') problem ??= read;
    else if (read !== undefined) calls.push(read);
  }
  if (calls.length > 0) return { type: 'calls', calls, ...(problem === undefined ? {} : { problem }) };
  return problem === undefined ? none : invalid(problem);
}

function toList(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value;
  if (!isPlainObject(value) || !Object.hasOwn(value, 'tool_calls') || Object.hasOwn(value, 'name')) return [value];
  const inner = value['tool_calls'] as Json;
  const decoded = typeof inner === 'string' ? decodeText(inner) : undefined;
  // Text that is not JSON is reported as text.
  const calls = decoded?.ok === true ? decoded.value : inner;
  return Array.isArray(calls) ? calls : [calls];
}

/** The call, `undefined` for none, or a problem. */
function readItem(given: Json): AskedCall | string | undefined {
  let item = given;
  if (typeof item === 'string') {
    const decoded = decodeText(item);
    if (!decoded.ok) return decoded.problem;
    item = decoded.value;
  }
  if (item === null) return undefined;
  if (!isJsonObject(item)) return `it is ${describeKind(item)}, not an object`;
  if (Object.keys(item).length === 0) return undefined;
  const wrapped = own(item, 'function');
  const call = isJsonObject(wrapped) ? wrapped : item;
  const name = own(call, 'name');
  if (name === undefined || name === null) return 'it has no `name`';
  if (typeof name !== 'string') return `its \`name\` is ${describeKind(name)}, not text`;
  if (name.trim() === '') return 'its `name` is empty';
  const args = readArguments(
    call,
    own(item, 'type') === 'tool_use' ? ['input', 'args', 'arguments'] : ['args', 'arguments'],
  );
  if (args === undefined)
    return `the call of \`${name.trim().slice(0, 100)}\` has both \`args\` and \`arguments\`, and they differ`;
  const id = own(item, 'id');
  return {
    ...(typeof id === 'string' && id !== '' && id.length <= maxIdCharacters ? { id } : {}),
    name: name.trim(),
    args,
  };
}

/** No provider uses longer ids. */
const maxIdCharacters = 200;
const noArguments: JsonObject = Object.freeze({});

/** `undefined`: given twice with different values. */
function readArguments(call: JsonObject, keys: readonly string[]): Json | undefined {
  let found: Json | undefined;
  for (const key of keys) {
    const args = own(call, key);
    if (args === undefined || args === null || (typeof args === 'string' && saysNothing(args))) continue;
    if (found !== undefined && JSON.stringify(found) !== JSON.stringify(args)) return undefined;
    found ??= args;
  }
  return found ?? noArguments;
}

export function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function isJsonObject(value: Json | undefined): value is JsonObject {
  return isPlainObject(value);
}

function describeKind(value: Json): string {
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function invalid(message: string): ToolCallReading {
  return { type: 'invalid', message };
}
