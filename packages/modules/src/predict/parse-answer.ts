import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject, toPrintable } from '@holdfast/core/internal';
import { extractJson } from '@holdfast/prompt/json';
import { coerceValue, isListed } from '../signature/coerce.ts';
import { readLiteral } from '../signature/literal.ts';
import type { SignatureField } from '../signature/signature.ts';

/** The fields read from an answer. Each required field is in exactly one of `values`, `missing` and `problems`. */
export interface ParsedAnswer {
  /** By field, in the type of the field's schema; defaults are not filled in. */
  readonly values: JsonObject;
  /** Required fields that are absent or empty. */
  readonly missing: readonly string[];
  /** Fields with an invalid value. `message` is a clause that continues from the field's name. */
  readonly problems: readonly AnswerProblem[];
  /** A hint why no field could be read, if known; a clause. */
  readonly note?: string;
}

export interface AnswerProblem {
  readonly field: string;
  readonly message: string;
}

/**
 * Reads the fields of a model's answer, in the first of these formats that contains any:
 *
 * 1. lines that begin with `[[ ## name ## ]]`, each followed by its value, up to an optional `[[ ## completed ## ]]`,
 * 2. a JSON object, optionally in a fence or surrounded by text,
 * 3. lines that begin with `name:`, each with its value up to the next.
 *
 * Ignores reasoning in `<think>`, text before the first field, and unknown fields. The first of several values of a field counts. Names
 * match in any case and with spaces for underscores, if that is unambiguous. Text in none of the formats is never taken as a value. Never
 * throws; linear in the length of the text.
 *
 * Source of the format with headers: stanfordnlp/dspy `dspy/adapters/chat_adapter.py`.
 */
export function parseAnswer(text: string, fields: readonly SignatureField[]): ParsedAnswer {
  const names = new FieldNames(fields);
  const said = skipReasoning(text.replace(/^\ufeff/, ''));
  const found = readHeaders(said, names) ?? readOtherForms(said, names, fields);
  return { ...toAnswer(found.parts, fields), ...(found.note === undefined ? {} : { note: found.note }) };
}

interface Part {
  readonly value: Json;
  readonly from: 'text' | 'json';
}

type Parts = ReadonlyMap<string, Part>;

function toAnswer(parts: Parts, fields: readonly SignatureField[]): ParsedAnswer {
  const values: [string, Json][] = [];
  const missing: string[] = [];
  const problems: AnswerProblem[] = [];
  for (const { name, schema, required } of fields) {
    const part = parts.get(name);
    if (part === undefined) {
      if (required) missing.push(name);
      continue;
    }
    const coerced = coerceValue(part.value, schema, part);
    // Many models write "none" or similar for optional fields.
    const isLeftOut = !required && saysNothing(part, schema);
    if (coerced.ok) {
      if (coerced.value === null || !isLeftOut) values.push([name, coerced.value]);
    } else if (part.value === '') {
      if (required) missing.push(name);
    } else if (!isLeftOut) problems.push({ field: name, message: coerced.message });
  }
  return { values: Object.fromEntries(values), missing, problems };
}

function saysNothing({ value, from }: Part, schema: JsonObject): boolean {
  return value === null || (from === 'text' && (value === 'null' || value === 'None') && !isListed(value, schema));
}

/** Finds fields by the names that models write. */
class FieldNames {
  readonly #exact: ReadonlySet<string>;
  readonly #similar = new Map<string, string | undefined>();

  constructor(fields: readonly SignatureField[]) {
    this.#exact = new Set(fields.map(({ name }) => name));
    for (const name of this.#exact) {
      const similar = toSimilar(name);
      this.#similar.set(similar, this.#similar.has(similar) ? undefined : name);
    }
  }

  find(written: string): string | undefined {
    return this.#exact.has(written) ? written : this.#similar.get(toSimilar(written));
  }
}

function toSimilar(name: string): string {
  return name.replaceAll(/[`*]/g, '').toLowerCase().replaceAll(' ', '_');
}

// All repetitions are bounded, so that matching stays linear.
const space = '[ \\t]{0,20}';
const header = new RegExp(
  `^${space}(#{0,6}${space}[*_\`]{0,3})(\\[{1,2}${space}#{0,6})${space}([^\\s#[\\]][^#[\\]\\n]{0,99}?)${space}(#{0,6}${space}\\]{1,2})(?::(?=\\s|$))?`,
  'gm',
);
const label = new RegExp(`^ {0,3}([*\`]{0,3})()([A-Za-z_][\\w ]{0,79}?)()(?:\\1${space}:|${space}:\\1)`, 'gm');
const restOfLine = new RegExp(`[*_\`:]{0,7}${space}\\r?$`, 'my');
const endMark = new RegExp(
  `(?:^${space}[#*_\`]{1,6}${space})?\\[\\[${space}#{1,6}${space}completed${space}#{1,6}${space}\\]\\]|^${space}[*_\`]{0,3}\\[\\[${space}completed${space}\\]\\][*_\`]{0,3}${space}\\r?$`,
  'gim',
);

interface Head {
  /** `undefined` for an unknown field. */
  readonly name: string | undefined;
  readonly start: number;
  readonly end: number;
}

/** Finds the lines that begin with a field name. */
function* findHeads(text: string, pattern: RegExp, names: FieldNames): Generator<Head> {
  for (const { 0: whole, 1: marks = '', 2: before = '', 3: written = '', 4: after = '', index } of text.matchAll(
    pattern,
  )) {
    const name = names.find(written);
    const isDouble = before.startsWith('[[') && after.endsWith(']]');
    const hasSigns = before.endsWith('#') && after.startsWith('#');
    let end = index + whole.length;
    if (pattern === header && !(isDouble && hasSigns && marks.trim() === '')) {
      // An inexact header counts only for a known field and on a line of its own; otherwise it is mentioned in prose.
      restOfLine.lastIndex = end;
      if (name === undefined || !(isDouble || hasSigns) || !restOfLine.test(text)) continue;
      end = restOfLine.lastIndex;
    }
    // Any line may begin with a word and a colon.
    if (name !== undefined || pattern === header) yield { name, start: index, end };
  }
}

function findFirst(text: string, pattern: RegExp, names: FieldNames): number | undefined {
  for (const { name, start } of findHeads(text, pattern, names)) if (name !== undefined) return start;
  return undefined;
}

interface Found {
  readonly parts: Parts;
  readonly note?: string;
}

function readHeaders(text: string, names: FieldNames): Found | undefined {
  const first = findFirst(text, header, names);
  return first === undefined ? undefined : { parts: readParts(text, first, header, names) };
}

function readOtherForms(text: string, names: FieldNames, fields: readonly SignatureField[]): Found {
  const extracted = extractJson(text, (whole) => readLiteral(whole).ok);
  const literal = extracted.ok ? readLiteral(extracted.json) : undefined;
  const object = literal?.ok === true && isPlainObject(literal.value) ? (literal.value as JsonObject) : {};
  const parts = readObject(object, names);
  const isWhole =
    Object.keys(object).every((key) => names.find(key) !== undefined) &&
    fields.every(({ name, required }) => !required || parts.has(name));
  const first = findFirst(text, label, names);
  if (first !== undefined) {
    const brace = text.search(/[{[]/);
    // An object after a field name is the value of the field, unless it is the whole answer.
    const isValue = brace === -1 || (first < brace && !isWhole);
    // In braces that are not valid JSON, names are keys and their values cannot be separated.
    const isKey = /^[ \t]{0,20}\{|\{[ \t]{0,20}\r?$/m.test(text.slice(0, first));
    if (!isKey && (isValue || parts.size === 0)) return { parts: readParts(text, first, label, names) };
  }
  if (parts.size > 0 || !text.includes('{')) return { parts };
  const note = !extracted.ok ? extracted.problem : literal?.ok === false ? literal.problem : undefined;
  return note === undefined ? { parts } : { parts, note: toPrintable(note) };
}

function readObject(object: JsonObject, names: FieldNames): Parts {
  const parts = new Map<string, Part>();
  for (const [key, value] of Object.entries(object)) {
    const name = names.find(key);
    if (name !== undefined && !parts.has(name)) parts.set(name, { value, from: 'json' });
  }
  return parts;
}

/** The value after each field's first name, starting with the one at `first`. */
function readParts(text: string, first: number, pattern: RegExp, names: FieldNames): Parts {
  endMark.lastIndex = first;
  const end = endMark.exec(text)?.index;
  const isFenced = /(?:^|\n)[ \t]{0,20}(?:```|~~~)[^\n]{0,40}\s{0,9}$/.test(text.slice(Math.max(0, first - 80), first));
  const body = isFenced ? withoutLastFence(text.slice(first, end)) : text.slice(first, end);
  const parts = new Map<string, Part>();
  const add = ({ name, end: start }: Head, next?: number): void => {
    if (name === undefined || parts.has(name)) return;
    const value = body.slice(start, next).trim();
    // The placeholder of the prompt, repeated.
    if (value === `{${name}}`) return;
    // An empty value after the last name may be due to truncation.
    if (value !== '' || next !== undefined || end !== undefined) parts.set(name, { value, from: 'text' });
  };
  let open: Head | undefined;
  for (const head of findHeads(body, pattern, names)) {
    if (open !== undefined) add(open, head.start);
    open = head;
  }
  if (open !== undefined) add(open);
  return parts;
}

/** Removes the end of a fence that was opened before `text`. */
function withoutLastFence(text: string): string {
  let count = 0;
  let last = 0;
  for (const { index } of text.matchAll(/^[ \t]{0,20}(?:```|~~~)/gm)) {
    count += 1;
    last = index;
  }
  return count % 2 === 1 ? text.slice(0, last) : text;
}

const name = 'think|thinking|thought|reasoning|reflection|scratchpad';
// An opening tag at the start of a line or after another tag; a closing tag at either end of a line; the beginning of an answer.
const mark = new RegExp(
  `(?:^|(?<=>))[ \\t]{0,20}<(${name})>|<\\/(?:${name})>(?=[ \\t]{0,20}\\r?$)|^[ \\t]{0,20}<\\/(?:${name})>|^[ \\t*_\`#]{0,20}(\\{|\\[\\[)`,
  'gim',
);

/**
 * Removes reasoning before the answer: blocks such as `<think>`, and everything before a closing tag without an opening one, which some
 * chat templates add themselves. Returns nothing for reasoning without an end. Tags within the answer stay.
 */
export function skipReasoning(text: string): string {
  let start = 0;
  let hasBegun = false;
  mark.lastIndex = 0;
  for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
    const [, opened, answer] = found;
    if (answer !== undefined) {
      hasBegun = true;
      continue;
    }
    if (opened === undefined) {
      start = mark.lastIndex;
      hasBegun = false;
      continue;
    }
    if (hasBegun) break;
    const closing = new RegExp(`<\\/${opened}>`, 'gi');
    closing.lastIndex = mark.lastIndex;
    if (!closing.test(text)) return '';
    start = closing.lastIndex;
    mark.lastIndex = start;
  }
  return text.slice(start);
}
