import { type ParsedJson, parseJson } from '@holdfast/core';

/**
 * Reads one value in `text`: JSON, or what models write in its place and what can be read in one way only: texts in single quotation
 * marks, `True`, `False` and `None` (a literal of Python), a comma behind the last item, line breaks within a text.
 */
export function readLiteral(text: string): ParsedJson {
  const parsed = parseJson(text);
  if (parsed.ok || parsed.reason !== 'syntax' || !/^\s*[[{'"]/.test(text)) return parsed;
  const json = toJsonText(text);
  return json === undefined ? parsed : parseJson(json);
}

const words: ReadonlyMap<string, string> = new Map([
  ['True', 'true'],
  ['true', 'true'],
  ['False', 'false'],
  ['false', 'false'],
  ['None', 'null'],
  ['null', 'null'],
]);

const escapes: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['b', '\b'],
  ['f', '\f'],
  ['/', '/'],
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
]);

const token = /([A-Za-z_]\w*)|(,\s*)(?=[\]}])|[-+.\d][-+.\deE]*|\s+|[[\]{}:,]/y;

/** The literal's JSON, token by token; `undefined` where there is something else. Whether it makes a value is left to the parser. */
function toJsonText(text: string): string | undefined {
  const parts: string[] = [];
  // Whether there is something that a comma may stand behind.
  let hasItem = false;
  for (let at = 0; at < text.length; ) {
    if (text[at] === "'" || text[at] === '"') {
      const quoted = readQuoted(text, at);
      if (quoted === undefined) return undefined;
      parts.push(JSON.stringify(quoted.value));
      hasItem = true;
      at = quoted.end;
      continue;
    }
    token.lastIndex = at;
    const found = token.exec(text);
    if (found === null) return undefined;
    const [whole, name, comma] = found;
    const part = name !== undefined ? words.get(name) : comma !== undefined && hasItem ? '' : whole;
    if (part === undefined) return undefined;
    if (whole.trim() !== '') hasItem = whole !== '[' && whole !== '{';
    parts.push(part);
    at = token.lastIndex;
  }
  return parts.join('');
}

/** The text in the quotation marks that begin at `start`; `undefined` without an end or with an escape that means different things. */
function readQuoted(text: string, start: number): { readonly value: string; readonly end: number } | undefined {
  const mark = text[start];
  let value = '';
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text[at];
    if (character === mark) return { value, end: at + 1 };
    if (character !== '\\') {
      value += character;
      continue;
    }
    const code = /^(?:u[\da-fA-F]{4}|x[\da-fA-F]{2})/.exec(text.slice(at + 1, at + 6))?.[0];
    const escaped =
      code === undefined ? escapes.get(text[at + 1] ?? '') : String.fromCharCode(parseInt(code.slice(1), 16));
    if (escaped === undefined) return undefined;
    value += escaped;
    at += code?.length ?? 1;
  }
  return undefined;
}
