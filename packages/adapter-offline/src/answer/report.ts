import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { readHead } from '../read/head.ts';
import { type Clause, textOf } from '../words/clauses.ts';
import { isQuantifier, splitName } from '../words/words.ts';
import type { Finding } from './results.ts';

const maxCharacters = 20_000;
const maxLines = 50;

/**
 * Formats a result as file content: Markdown or JSON by the extension of `path`, plain lines otherwise. Text is
 * unchanged. Of a list of places, only the list is written, without the tool's counts.
 */
export function composeReport({ value }: Finding, clause: Clause, path: string): string {
  if (typeof value === 'string') return value;
  const isMarkdown = /\.(?:md|markdown)$/iu.test(path);
  if (path.endsWith('.json')) return `${JSON.stringify(value, null, 2)}\n`;
  const lines = toLines(value, textOf(clause), isMarkdown ? '- ' : '');
  return `${[...(isMarkdown ? [`# ${titleOf(clause)}`, ''] : []), ...lines].join('\n')}\n`;
}

/** Formats a result as an answer for a person. */
export function composeAnswer({ message, value }: Finding, clause: Clause): string {
  const isList = shapeOf(value).rows !== undefined;
  const lines = typeof value === 'string' ? [value] : toLines(value, textOf(clause), isList ? '- ' : '');
  const more = lines.length > maxLines + 1 ? [`… and ${lines.length - maxLines} more`] : [];
  const shown = more.length === 0 ? lines : [...lines.slice(0, maxLines), ...more];
  const text = shown.join('\n').trimEnd();
  const cut = text.length > maxCharacters ? `${text.slice(0, maxCharacters)}\n…` : text;
  return [message, cut].filter((part) => part !== '').join('\n\n') || 'Done.';
}

/** A value as rows with additional facts. A value without a list has no rows. */
export interface Shape {
  readonly facts: readonly (readonly [name: string, value: Json])[];
  readonly rows: readonly Json[] | undefined;
}

/** Splits a value: an object that contains one list becomes that list, with facts. */
export function shapeOf(value: Json): Shape {
  if (Array.isArray(value)) return { facts: [], rows: value as readonly Json[] };
  const entries = isPlainObject(value) ? Object.entries(value as JsonObject) : [];
  const [list, another] = entries.filter(([, each]) => Array.isArray(each));
  if (list === undefined || another !== undefined) return { facts: entries, rows: undefined };
  return { facts: entries.filter((entry) => entry !== list), rows: list[1] as readonly Json[] };
}

function toLines(value: Json, request: string, bullet: string): readonly string[] {
  const { rows, facts } = shapeOf(value);
  const told = facts.map(([name, fact]) => `${bullet}${toWords(name)}: ${cellOf(fact)}`);
  if (rows === undefined) return isPlainObject(value) ? told : [cellOf(value)];
  if (rows.length === 0) return ['Nothing found.'];
  const words = splitName(request);
  const isPlace = (row: Json): boolean =>
    typeof row === 'string' || (isPlainObject(row) && ('file' in row || 'path' in row));
  // Leaves out a column that repeats the request in every row.
  const isSaid = (name: string): boolean =>
    rows.length > 1 && rows.every((row) => isPlainObject(row) && words.includes(String(row[name]).toLowerCase()));
  const total = facts.find(([name, fact]) => name === 'total' && Number(fact) > rows.length)?.[1];
  const more = total === undefined ? [] : [`Showing ${rows.length} of ${cellOf(total)}.`];
  return [...(rows.some(isPlace) ? [] : told), ...rows.map((row) => `${bullet}${lineOf(row, isSaid)}`), ...more];
}

/** One row as a line: `file:line text` for a place in a file, otherwise its values with their names. */
function lineOf(row: Json, isSaid: (name: string) => boolean): string {
  if (!isPlainObject(row)) return cellOf(row);
  const rest = new Map(Object.entries(row as JsonObject).filter(([name]) => !isSaid(name)));
  const take = (...names: readonly string[]): string | undefined => {
    const name = names.find((each) => rest.has(each));
    const value = name === undefined ? undefined : rest.get(name);
    if (name !== undefined) rest.delete(name);
    return value === undefined ? undefined : cellOf(value);
  };
  const place = take('file', 'path') ?? take('name', 'title');
  const line = place === undefined ? undefined : take('line');
  const text = take('text', 'match', 'message', 'comment');
  if (place?.endsWith(String(rest.get('name'))) === true) rest.delete('name');
  const begun = [line === undefined ? place : `${place}:${line}`, text].filter((part) => part !== undefined).join(' ');
  const others = [...rest].map(([name, value]) => `${toWords(name)}: ${cellOf(value)}`).join(', ');
  return begun === '' || others === '' ? begun + others : `${begun} (${others})`;
}

/** A value in one line, without brackets and braces. */
function cellOf(value: Json): string {
  if (Array.isArray(value)) return (value as readonly Json[]).map(cellOf).join('; ');
  if (!isPlainObject(value))
    return String(value ?? '')
      .replaceAll(/\s+/gu, ' ')
      .trim();
  return Object.entries(value as JsonObject)
    .map(([name, each]) => `${toWords(name)} ${cellOf(each)}`)
    .join(', ');
}

function toWords(name: string): string {
  return splitName(name).join(' ') || name;
}

/** The object of a clause as a heading: "List every TODO comment in the sources" gives "TODO comments in the sources". */
export function titleOf(clause: Clause): string {
  const inner = clause.tokens.slice(readHead(clause, new Set()).at.size);
  const from = inner.findIndex(({ lower }) => !(isQuantifier(lower) || /^(?:the|an?|me|for)$/u.test(lower)));
  const isEach = inner.slice(0, Math.max(from, 0)).some(({ lower }) => /^(?:each|every)$/u.test(lower));
  const words = textOf({ ...clause, tokens: inner.slice(Math.max(from, 0)) })
    .replaceAll(/[#*`[\]\s]+/gu, ' ')
    .slice(0, 100);
  const plural = isEach ? words.replace(/^(.*?\p{L})(?<!s)(?=$| (?:in|of|from|under|with|on)\b)/u, '$1s') : words;
  return plural === '' ? 'Result' : capitalize(plural);
}

export function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
