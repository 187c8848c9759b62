import type { Json } from '@holdfast/core';
import { parseJson } from '@holdfast/core/internal';
import type { SchemaIssue } from '@holdfast/schema';
import { type ModuleProblem, type ModulesReason, problemAt } from '../signature/problems.ts';

/** Maximum length of a module file or manifest, in characters; a folder limits bytes to the same number. */
export const maxFileLength: number = 8 * 1024 * 1024;

/** Maximum number of list items and object keys. Checking values takes far longer than parsing them. */
const maxValues = 50_000;

const limits = { maxDepth: 64, maxKeys: maxValues, maxLength: maxFileLength };

/** Ignores a leading byte order mark, which some editors add. */
export function parseText(
  text: string,
  reason: ModulesReason,
):
  | { readonly type: 'parsed'; readonly value: Json }
  | { readonly type: 'invalid'; readonly problems: readonly ModuleProblem[] } {
  // Node.js returns bytes when it reads without an encoding.
  const given: unknown = text;
  if (typeof given !== 'string') return refused(reason, 'it is not a string');
  const parsed = parseJson(text.startsWith('\uFEFF') ? text.slice(1) : text, limits);
  if (!parsed.ok) return refused(parsed.reason === 'size' ? 'too_large' : reason, parsed.problem);
  if (countValues(parsed.value) <= maxValues) return { type: 'parsed', value: parsed.value };
  return refused('too_large', `it has more than ${maxValues} values`);
}

function refused(reason: ModulesReason, problem: string): ReturnType<typeof parseText> {
  return { type: 'invalid', problems: [problemAt('', reason, `Cannot read the file: ${problem}.`)] };
}

function countValues(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner: readonly Json[] = Array.isArray(value) ? value : Object.values(value);
  let count = inner.length;
  // Stop counting at the limit.
  for (let index = 0; index < inner.length && count <= maxValues; index += 1)
    count += countValues(inner[index] ?? null);
  return count;
}

const maxPlaceLength = 200;

/** Converts schema issues to problems. Places contain untrusted keys, so their number is limited. */
export function toProblems(
  issues: readonly SchemaIssue[],
  {
    reason,
    keys,
    below = '',
  }: { readonly reason: ModulesReason; readonly keys?: readonly string[]; readonly below?: string },
): readonly ModuleProblem[] {
  const found: ModuleProblem[] = [];
  const places = new Set<string>();
  for (const { path, message } of issues) {
    const separator = below === '' || path === '' || path.startsWith('[') ? '' : '.';
    const place = `${below}${separator}${path}`.slice(0, maxPlaceLength);
    // The validator reports a wrong type twice: for missing keys and for the type.
    if (message.startsWith('Instance type ') && places.has(place)) continue;
    places.add(place);
    const isOwnKey = message === unknownKey && keys !== undefined && !/[.[]/.test(path);
    const text = isOwnKey ? `${message} Known keys: ${keys.map((key) => `\`${key}\``).join(', ')}.` : message;
    found.push(problemAt(place, reason, text));
  }
  return found;
}

const unknownKey = 'Unknown key.';
