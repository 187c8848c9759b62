import type { Json } from '@holdfast/core';
import { decodeJson } from '@holdfast/core/internal';
import type { Span } from './shapes.ts';

/** A value under a secret name in a text. */
export interface NamedValue extends Span {
  /** Without quotes and escapes; a list or object if it parses as JSON. */
  readonly value: Json;
  /** True for an unquoted value in JSON: its mask needs quotes. */
  readonly unquoted: boolean;
}

interface Separated {
  /** Start of the value. */
  readonly at: number;
  readonly by: 'colon' | 'equals' | 'compared' | 'space' | 'tag';
  readonly quoted: boolean;
}

/** Maximum space between name, separator and value. */
const maxGap = 8;

/**
 * Finds the values of secret names in `text`: JSON (even cut off or within a JSON string), assignments, query strings, command
 * options, header lines, objects as printed by Node.js, and XML elements. In order, without overlap.
 */
export function findNamedValues(text: string, isSecretName: (name: string) => boolean): readonly NamedValue[] {
  const found: NamedValue[] = [];
  const names = /[\w.$-]+/g;
  for (let match = names.exec(text); match !== null; match = names.exec(text)) {
    const separated = findSeparator(text, match.index, names.lastIndex);
    if (separated === undefined || !isSecretName(match[0])) continue;
    const value = readValue(text, match.index, separated, isSecretName);
    if (value === undefined) continue;
    found.push(value);
    names.lastIndex = value.end;
  }
  return found;
}

function findSeparator(text: string, start: number, end: number): Separated | undefined {
  const backslashes = countOf(text, end, '\\', maxGap);
  const quote = text[end + backslashes];
  const quoted = quote === '"' || quote === "'";
  if (backslashes > 0 && !quoted) return undefined;
  const at = quoted ? end + backslashes + 1 : end;
  const gap = at + gapAt(text, at);
  switch (text[gap]) {
    case ':': {
      // A URL scheme: `token://`.
      if (text.startsWith('//', gap + 1)) return undefined;
      const colons = text[gap + 1] === ':' || text[gap + 1] === '=' ? 2 : 1;
      return { at: gap + colons + gapAt(text, gap + colons), by: quoted ? 'equals' : 'colon', quoted };
    }
    case '=': {
      const signs = /^=(?:==?|>)?/.exec(text.slice(gap, gap + 3))?.[0].length ?? 1;
      return { at: gap + signs + gapAt(text, gap + signs), by: signs === 1 ? 'equals' : 'compared', quoted };
    }
    case '>':
      return gap === end && text[start - 1] === '<' ? { at: gap + 1, by: 'tag', quoted } : undefined;
    default:
      return gap > at && text.startsWith('--', start) ? { at: gap, by: 'space', quoted } : undefined;
  }
}

const closing: ReadonlyMap<string, string> = new Map([
  ['{', '}'],
  ['[', ']'],
]);
/** Words that mean the absence of a value. */
const nothing = /^(?:true|false|null|undefined|none|nil)$/i;

function readValue(
  text: string,
  nameStart: number,
  { at, by, quoted }: Separated,
  isSecretName: (name: string) => boolean,
): NamedValue | undefined {
  const backslashes = countOf(text, at, '\\', maxGap);
  const quote = text[at + backslashes] ?? '';
  if (by !== 'tag' && (quote === '"' || quote === "'" || quote === '`')) {
    const start = at + backslashes + 1;
    const end = endOfQuoted(text, start, quote, backslashes);
    return start === end
      ? undefined
      : { start, end, value: unquote(text.slice(start, end), backslashes), unquoted: false };
  }
  // Compared, or computed: only a literal is a value.
  if (by === 'compared' || (!quoted && by !== 'tag' && isCode(text, at, by, isSecretName))) return undefined;
  if (closing.has(quote) && backslashes === 0 && by !== 'tag') {
    const end = endOfNested(text, at);
    const nested = text.slice(at, end);
    return { start: at, end, value: readJson(nested) ?? nested, unquoted: quoted };
  }
  const plain = bareValue(text, nameStart, at, by);
  if (plain === '' || nothing.test(plain)) return undefined;
  return { start: at, end: at + plain.length, value: plain, unquoted: quoted };
}

/** A variable of a shell, workflow or SQL statement, also after the scheme of a header. */
const variable =
  /(?:(?:[Bb]earer|[Bb]asic|token) )?(?:\$(?:[A-Z_][A-Z0-9_]{0,99}|[0-9]{1,3}|\{\{?[ \w.]{1,100}\}\}?)|\{\{[ \w.]{1,100}\}\}|\?|%s)(?=[\s"'`),;&@]|$)/y;
/** An expression: a keyword, type, call or element; also an object that is not JSON. */
const expression =
  /(?:(?:await|new|async|function|typeof|yield)\s|(?:string|number|boolean|unknown|str|bytes|bool|int)\b(?= ?(?:[|;,)=]|$))|[A-Za-z_$][\w$]{0,99}(?:\??\.[A-Za-z_$][\w$]{0,99}){0,9}[([])/y;
const path = /[A-Za-z_$][\w$]{0,99}(?:\??\.[A-Za-z_$][\w$]{0,99}){1,9}(?=[\s),;}]|$)/y;

/** True if the text only refers to a value: a variable, or code. */
function isCode(text: string, at: number, by: Separated['by'], isSecretName: (name: string) => boolean): boolean {
  if (take(variable, text, at) !== '') return true;
  // `a = b` and `a: b` may be code or a setting; `a=b` is a setting.
  if (by === 'space' || !isSpace(text[at - 1])) return false;
  if (by === 'equals' && /^[{[]\s*[\w$.]/.test(text.slice(at, at + 16))) return true;
  return take(expression, text, at) !== '' || isSecretName(take(path, text, at));
}

const upToSpace = /[^\s"'`<>(){}[\],;&\\]*/y;
const upToLineEnd = /[^\r\n"'`]*/y;
const upToTag = /[^<]*/y;

function bareValue(text: string, nameStart: number, at: number, by: Separated['by']): string {
  if (by === 'tag') return take(upToTag, text, at);
  if (by === 'equals' || by === 'space') return take(upToSpace, text, at);
  // Header lines and YAML take the whole line; within a sentence a value must not look like a word.
  if (beginsLine(text, nameStart)) return take(upToLineEnd, text, at).trimEnd();
  const plain = take(upToSpace, text, at);
  return plain.length >= 6 && /\d/.test(plain) ? plain : '';
}

function take(expression: RegExp, text: string, at: number): string {
  expression.lastIndex = at;
  return expression.exec(text)?.[0] ?? '';
}

/** True if only space or a quote precedes it in its line. */
function beginsLine(text: string, start: number): boolean {
  for (let index = start - 1; index >= Math.max(0, start - 64); index -= 1) {
    const unit = text[index];
    if (unit === '\n' || unit === '\r' || unit === '"' || unit === "'" || unit === '`') return true;
    if (unit !== ' ' && unit !== '\t' && unit !== '>' && unit !== '<' && unit !== '*') return false;
  }
  return start <= 64;
}

/** A quote closes after as many backslashes as the opening one, not counting escaped backslashes. */
function endOfQuoted(text: string, start: number, quote: string, backslashes: number): number {
  for (let at = text.indexOf(quote, start); at !== -1; at = text.indexOf(quote, at + 1)) {
    let before = 0;
    while (at - before > start && text[at - before - 1] === '\\') before += 1;
    if (before >= backslashes && (before - backslashes) % (2 * (backslashes + 1)) === 0) return at - backslashes;
  }
  return text.length;
}

function endOfNested(text: string, start: number): number {
  const open: string[] = [];
  for (let at = start; at < text.length; at += 1) {
    const unit = text[at] ?? '';
    const close = closing.get(unit);
    if (unit === '"') at = endOfQuoted(text, at + 1, '"', 0);
    else if (close !== undefined) open.push(close);
    else if (unit === open.at(-1)) {
      open.pop();
      if (open.length === 0) return at + 1;
    }
  }
  return text.length;
}

/** The list or object in a text; `undefined` for other text, and if it is cut off. */
export function readJson(text: string): Json | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return decodeJson(text) as Json;
  } catch {
    return undefined;
  }
}

/** Decodes the value as far as possible, because equal values must have equal masks. */
function unquote(content: string, backslashes: number): string {
  let value = content;
  for (let level = backslashes; value.includes('\\'); level = (level - 1) / 2) {
    try {
      value = String(JSON.parse(`"${value}"`));
    } catch {
      // Not JSON: keep the text.
      return value;
    }
    if (level < 1) return value;
  }
  return value;
}

function countOf(text: string, start: number, unit: string, most: number): number {
  let count = 0;
  while (count < most && text[start + count] === unit) count += 1;
  return count;
}

function gapAt(text: string, start: number): number {
  let count = 0;
  while (count < maxGap && isSpace(text[start + count])) count += 1;
  return count;
}

function isSpace(unit: string | undefined): boolean {
  return unit === ' ' || unit === '\t' || unit === '\n' || unit === '\r';
}
