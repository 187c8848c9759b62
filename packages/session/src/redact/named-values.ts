/** How often JSON texts may lie within each other. */
const maxLevels = 3;

/** The values of the properties `names` that are written out in `text`: JSON, also cut off, with a key twice, or within a JSON text. */
export function namedValues(text: string, names: ReadonlySet<string>): readonly string[] {
  const found: string[] = [];
  let level = text;
  for (let count = 0; count < maxLevels; count += 1) {
    scan(level, names, found);
    const inner = withoutEscapes(level);
    if (inner === level) break;
    level = inner;
  }
  return found;
}

function scan(text: string, names: ReadonlySet<string>, found: string[]): void {
  // Each letter may be written as an escape of six.
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

/** Behind a colon. */
function startOfValue(text: string, start: number): number | undefined {
  const colon = skipSpace(text, start);
  return text[colon] === ':' ? skipSpace(text, colon + 1) : undefined;
}

/** A writer that indents puts a few. */
const maxSpace = 64;

function skipSpace(text: string, start: number): number {
  let at = start;
  while (at < start + maxSpace && /\s/.test(text[at] ?? '')) at += 1;
  return at;
}

/** Where the value ends that begins at `start`: with its last bracket or quote, or with the text. */
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

/** Where the quote is that ends the text, or `limit`. */
function endOfQuoted(text: string, start: number, limit: number = text.length): number {
  for (let at = start; at < Math.min(limit, text.length); at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at;
  }
  return Math.min(limit, text.length);
}

/** The texts in a value, of which the end may cut off the last, and its numbers. */
function addTexts(value: string, found: string[]): void {
  let plain = '';
  for (let at = 0; at < value.length; at += 1) {
    if (value[at] !== '"') {
      plain += value[at];
      continue;
    }
    const end = endOfQuoted(value, at + 1);
    const quoted = value.slice(at + 1, end);
    // As it was written, too: an escape that is none.
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
    // Cut off within an escape, or never JSON.
    return quoted;
  }
}

const short: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['b', '\b'],
  ['f', '\f'],
]);

function withoutEscapes(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|([^u]))/gs, (_whole, code?: string, unit?: string) =>
    code === undefined ? (short.get(unit ?? '') ?? unit ?? '') : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
