import { decodeEscapes } from './text.ts';

/** Levels of JSON in JSON text. */
const maxLevels = 3;

/** Values of the properties `names` in `text`: JSON, even cut off, with duplicate keys, or nested in a JSON text. */
export function namedValues(text: string, names: ReadonlySet<string>): readonly string[] {
  const found: string[] = [];
  let level = text;
  for (let count = 0; count < maxLevels; count += 1) {
    scan(level, names, found);
    const inner = decodeEscapes(level);
    if (inner === level) break;
    level = inner;
  }
  return found;
}

function scan(text: string, names: ReadonlySet<string>, found: string[]): void {
  // Each letter may be an escape of six characters.
  const longest = 6 * Math.max(0, ...[...names].map(({ length }) => length));
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    const end = endOfQuoted(text, at + 1, at + 2 + longest);
    const value = startOfValue(text, end + 1);
    if (text[end] !== '"' || value === undefined || !names.has(unquote(text.slice(at + 1, end)))) {
      at += 1;
      continue;
    }
    at = endOfValue(text, value);
    addTexts(text.slice(value, at), found);
  }
}

/** After a colon. */
function startOfValue(text: string, start: number): number | undefined {
  const colon = skipSpace(text, start);
  return text[colon] === ':' ? skipSpace(text, colon + 1) : undefined;
}

/** Enough for indented JSON. */
const maxSpace = 64;

function skipSpace(text: string, start: number): number {
  let at = start;
  while (at < start + maxSpace && /\s/.test(text[at] ?? '')) at += 1;
  return at;
}

/** The end of the value at `start`: its closing bracket or quote, or the end of the text. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const unit = text[at];
    if (unit === '"') {
      at = endOfQuoted(text, at + 1);
      if (depth === 0) return at + 1;
    } else if (unit === '{' || unit === '[') depth += 1;
    else if (unit === '}' || unit === ']' || unit === ',') {
      if (depth === 0) return at;
      if (unit !== ',') depth -= 1;
      if (depth === 0 && unit !== ',') return at + 1;
    }
  }
  return text.length;
}

/** The closing quote, or `limit`. */
function endOfQuoted(text: string, start: number, limit: number = text.length): number {
  for (let at = start; at < Math.min(limit, text.length); at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return Math.min(limit, text.length);
}

/** Collects the texts of a value, of which the last may be cut off, and its numbers. */
function addTexts(value: string, found: string[]): void {
  let plain = '';
  for (let at = 0; at < value.length; at += 1) {
    if (value[at] !== '"') {
      plain += value[at];
      continue;
    }
    const end = endOfQuoted(value, at + 1);
    const quoted = value.slice(at + 1, end);
    // Also in raw form, for invalid escapes.
    for (const text of new Set([unquote(quoted), quoted])) if (text !== '') found.push(text);
    plain += ' ';
    at = end;
  }
  for (const [number] of plain.matchAll(/-?\d[\d.eE+-]*/g)) found.push(number);
}

function unquote(quoted: string): string {
  try {
    return String(JSON.parse(`"${quoted}"`));
  } catch {
    // Cut off within an escape, or not JSON.
    return quoted;
  }
}
