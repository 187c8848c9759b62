import { isPlainObject, type Json, type JsonObject } from '@holdfast/core';

/** A value as rows to show: facts beside a list, or text. */
export interface Shape {
  /** Single facts, in order. */
  readonly facts: readonly (readonly [string, Json])[];
  /** The list, when the value is one or holds one. */
  readonly rows: readonly Json[];
  /** The name under which the list stood; empty when the value is the list. */
  readonly rowsName: string;
  /** The value when it is neither list nor object. */
  readonly text: string;
}

/** Takes a value apart: an object with one list in it is that list with facts. */
export function shapeOf(value: Json): Shape {
  if (Array.isArray(value)) return { facts: [], rows: value as readonly Json[], rowsName: '', text: '' };
  if (!isPlainObject(value)) return { facts: [], rows: [], rowsName: '', text: value === null ? '' : String(value) };
  const entries = Object.entries(value as JsonObject);
  const lists = entries.filter(([, each]) => Array.isArray(each));
  const [list] = lists;
  if (list === undefined || lists.length > 1) return { facts: entries, rows: [], rowsName: '', text: '' };
  return {
    facts: entries.filter((each) => each !== list),
    rows: list[1] as readonly Json[],
    rowsName: list[0],
    text: '',
  };
}

/** One row as a line: `file:line text` for a place in a file, else its values with their names. */
export function lineOf(row: Json): string {
  if (!isPlainObject(row)) return cellOf(row);
  const rest = new Map(Object.entries(row as JsonObject));
  const file = take(rest, ['file', 'path', 'filename']);
  const line = file === undefined ? undefined : take(rest, ['line', 'lineNumber', 'line_number']);
  const place = file === undefined ? '' : line === undefined ? cellOf(file) : `${cellOf(file)}:${cellOf(line)}`;
  const text = take(rest, ['text', 'match', 'content', 'message', 'comment']);
  const others = [...rest].map(([key, value]) => `${key}: ${cellOf(value)}`).join(', ');
  return [
    place,
    text === undefined ? '' : cellOf(text),
    others === '' || (place === '' && text === undefined) ? others : `(${others})`,
  ]
    .filter((part) => part !== '')
    .join(' ');
}

/** A value in one line; an object of single values as `key: value` pairs. */
export function cellOf(value: Json): string {
  const text = typeof value === 'string' ? value : (pairsOf(value) ?? JSON.stringify(value) ?? '');
  return text.replace(/\s+/gu, ' ').trim();
}

function pairsOf(value: Json): string | undefined {
  if (!isPlainObject(value)) return undefined;
  const entries = Object.entries(value as JsonObject);
  if (entries.length === 0 || entries.some(([, each]) => typeof each === 'object')) return undefined;
  return entries.map(([key, each]) => `${key}: ${String(each)}`).join(', ');
}

/** The names of the columns when all rows are flat objects, in order of appearance; else `undefined`. */
export function columnsOf(rows: readonly Json[]): readonly string[] | undefined {
  const columns = new Set<string>();
  for (const row of rows) {
    if (!isPlainObject(row)) return undefined;
    for (const [key, value] of Object.entries(row)) {
      if (typeof value === 'object' && value !== null) return undefined;
      columns.add(key);
    }
  }
  return columns.size > 0 && columns.size <= 12 ? [...columns] : undefined;
}

/** The cell of a row, empty when it has none. */
export function cellAt(row: Json, column: string): string {
  if (!isPlainObject(row) || !Object.hasOwn(row, column)) return '';
  return cellOf((row as JsonObject)[column] ?? '');
}

function take(rest: Map<string, Json>, keys: readonly string[]): Json | undefined {
  const key = keys.find((each) => rest.has(each) && typeof rest.get(each) !== 'object');
  const value = key === undefined ? undefined : rest.get(key);
  if (key !== undefined) rest.delete(key);
  return value;
}
