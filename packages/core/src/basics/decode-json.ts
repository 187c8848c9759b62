/**
 * `JSON.parse` with the keys that the text has. V8 (Node.js 24 to 26 at least, https://github.com/nodejs/node/issues/63785) takes an
 * escaped key for one that it met before in an object of the same shape, when that one is how the text of the key begins: `"\n"`
 * then reads `\`. Such a key holds a backslash, and only then the text is read with care.
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

/** Reads valid JSON with a name without escapes in place of every key that has one, and puts the keys back. */
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
      // A string alone has no shape to be taken for another.
      keys.set(substitute, String(JSON.parse(raw)));
      plain += `${text.slice(end, start)}"${substitute}"`;
      end = after;
    }
    start = text.indexOf('"', after);
  }
  return putBack(JSON.parse(plain + text.slice(end)), keys);
}

/** Where the string ends that begins at `start`: behind the first quote that no backslash belongs to. */
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

/** Something that is nowhere in the text. */
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
