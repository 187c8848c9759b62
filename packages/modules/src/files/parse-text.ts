import { type Json, parseJson } from '@holdfast/core';
import type { SchemaIssue } from '@holdfast/schema';
import { type ModuleProblem, problemAt } from '../signature/problems.ts';

/** Characters of a module file or a manifest; a folder refuses as many bytes. */
export const maxFileLength: number = 8 * 1024 * 1024;

/** Items of lists and keys of objects together. What a text holds is looked at piece by piece, which takes far longer than to parse it. */
const maxValues = 50_000;

const limits = { maxDepth: 64, maxKeys: maxValues, maxLength: maxFileLength };

/** A byte order mark at the beginning means nothing; editors leave it. */
export function parseText(
  text: string,
  code: string,
):
  | { readonly type: 'parsed'; readonly value: Json }
  | { readonly type: 'invalid'; readonly problems: readonly ModuleProblem[] } {
  // What Node reads without an encoding is bytes.
  const given: unknown = text;
  if (typeof given !== 'string') return refused(code, 'it was not given as text');
  const parsed = parseJson(text.startsWith('\uFEFF') ? text.slice(1) : text, limits);
  if (!parsed.ok) return refused(parsed.reason === 'size' ? tooLarge : code, parsed.problem);
  if (countValues(parsed.value) <= maxValues) return { type: 'parsed', value: parsed.value };
  return refused(tooLarge, `it holds more than ${maxValues} values`);
}

const tooLarge = 'modules.too_large';

function refused(code: string, problem: string): ReturnType<typeof parseText> {
  return { type: 'invalid', problems: [problemAt('', code, `The file cannot be read: ${problem}.`)] };
}

function countValues(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  const inner: readonly Json[] = Array.isArray(value) ? value : Object.values(value);
  let count = inner.length;
  // Enough is known.
  for (let index = 0; index < inner.length && count <= maxValues; index += 1)
    count += countValues(inner[index] ?? null);
  return count;
}

const maxPlaceLength = 200;

/** What a schema found, for people. Places hold keys that somebody else wrote, and not more of them than can be read. */
export function toProblems(
  issues: readonly SchemaIssue[],
  { code, keys, below = '' }: { readonly code: string; readonly keys?: readonly string[]; readonly below?: string },
): readonly ModuleProblem[] {
  const found: ModuleProblem[] = [];
  const places = new Set<string>();
  for (const { path, message } of issues) {
    const separator = below === '' || path === '' || path.startsWith('[') ? '' : '.';
    const place = `${below}${separator}${path}`.slice(0, maxPlaceLength);
    // A wrong type is told of twice: as a value that cannot have keys, and as one of another type.
    if (message.startsWith('Instance type ') && places.has(place)) continue;
    places.add(place);
    const isOwnKey = message === unknownKey && keys !== undefined && !/[.[]/.test(path);
    const text = isOwnKey ? `${message} The keys here are ${keys.map((key) => `\`${key}\``).join(', ')}.` : message;
    found.push(problemAt(place, code, text));
  }
  return found;
}

const unknownKey = 'Unknown key.';
