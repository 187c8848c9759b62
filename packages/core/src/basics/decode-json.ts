/**
 * `JSON.parse` with correct keys. V8 (at least in Node.js 24 to 26, https://github.com/nodejs/node/issues/63785) confuses an escaped key
 * with an earlier key of an object of the same shape if that key is a prefix of the raw text: `"\n"` then reads `\`. Such a key contains a
 * backslash, and only then the slower way is used.
 *
 * @throws SyntaxError as `JSON.parse`.
 */
export function decodeJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return text.includes('\\') && hasBackslashInKey(value) ? decodeCarefully(text) : value;
}

function hasBackslashInKey(root: unknown): boolean {
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) {
      for (const item of value) waiting.push(item);
      continue;
    }
    const object = value as Readonly<Record<string, unknown>>;
    // Without a list of the entries, which would cost more than the rest of the walk.
    for (const key in object) {
      if (key.includes('\\')) return true;
      const member = object[key];
      if (typeof member === 'object') waiting.push(member);
    }
  }
  return false;
}

/** Parses valid JSON with placeholders for escaped keys, then restores the keys. */
function decodeCarefully(text: string): unknown {
  const name = findName(text);
  const keys = new Map<string, string>();
  let plain = '';
  let end = 0;
  for (let start = text.indexOf('"'); start !== -1; ) {
    const after = findEnd(text, start);
    const raw = text.slice(start, after);
    if (raw.includes('\\') && isKey(text, after)) {
      const substitute = `${name}${keys.size}`;
      // A single string has no shape to confuse.
      keys.set(substitute, String(JSON.parse(raw)));
      plain += `${text.slice(end, start)}"${substitute}"`;
      end = after;
    }
    start = text.indexOf('"', after);
  }
  return putBack(JSON.parse(plain + text.slice(end)), keys);
}

/** The end of the string at `start`: after the first unescaped quote. */
function findEnd(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"' && at < text.length) at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function isKey(text: string, after: number): boolean {
  let at = after;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at += 1;
  return text[at] === ':';
}

/** A name that does not occur in the text. */
function findName(text: string): string {
  let longest = 0;
  for (const { 0: run } of text.matchAll(/k+/g)) longest = Math.max(longest, run.length);
  return 'k'.repeat(longest + 1);
}

function putBack(value: unknown, keys: ReadonlyMap<string, string>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => putBack(item, keys));
  const entries = Object.entries(value).map(([key, member]) => [keys.get(key) ?? key, putBack(member, keys)]);
  // Like `JSON.parse`: own keys only, also `__proto__`; of a key twice the last value at the first place.
  return Object.fromEntries(entries);
}
