import { findEnd, findTextEnd } from './brackets.ts';
/** The JSON text in a message, or a clause that says why it has none. */
export type ExtractedJson =
  | { readonly ok: true; readonly json: string }
  | { readonly ok: false; readonly problem: string };

/**
 * Finds the JSON object or list in a message. Takes the first match of these, even if its content is
 * malformed:
 *
 * 1. a fenced block marked as JSON, else one without a mark that begins with a bracket; the first of them,
 * 2. the whole text, when it begins with a bracket and `isWhole` says that it is one value,
 * 3. the first object in the text, or the first list of objects. Only what begins with a key counts: `{}`, `[ ]` and `[1]` are
 *    found in prose and code that mean something else.
 *
 * Linear in the length of the text.
 */
export function extractJson(text: string, isWhole: (text: string) => boolean): ExtractedJson {
  const fenced = findFenced(text);
  if (fenced !== undefined) return { ok: true, json: fenced.trim() };
  // Takes a byte order mark away, too.
  const whole = text.trim();
  if (startsWithBracket(whole, 0) && isWhole(whole)) return { ok: true, json: whole };
  const start = findBeginning(whole);
  if (start === -1) return { ok: false, problem: 'it contains no JSON object' };
  const end = findEnd(whole, start);
  if (end === undefined) return { ok: false, problem: 'its JSON is incomplete' };
  return { ok: true, json: whole.slice(start, end) };
}

/** Info strings of blocks that hold JSON. */
const jsonMarks: ReadonlySet<string> = new Set(['json', 'jsonc', 'json5']);

interface Fence {
  readonly mark: '`' | '~';
  readonly length: number;
  /** First word of the info string, in lower case. */
  readonly info: string;
}

/** The content of the first JSON block. An unclosed block ends with the text. */
function findFenced(text: string): string | undefined {
  let unmarked: string | undefined;
  let at = 0;
  while (at < text.length) {
    const lineEnd = endOfLine(text, at);
    const fence = readFence(text.slice(at, lineEnd));
    at = lineEnd + 1;
    if (fence === undefined) continue;
    const isJson = jsonMarks.has(fence.info) || (fence.info === '' && startsWithBracket(text, at));
    const content = readBlock(text, at, fence, isJson);
    if (jsonMarks.has(fence.info)) return content.text;
    if (isJson) unmarked ??= content.text;
    at = content.next;
  }
  return unmarked;
}

function readFence(line: string): Fence | undefined {
  const trimmed = line.trim();
  const mark = trimmed[0];
  if (mark !== '`' && mark !== '~') return undefined;
  let length = 1;
  while (trimmed[length] === mark) length += 1;
  const rest = trimmed.slice(length).trim();
  // Backticks after backticks make code within a line of prose.
  if (length < 3 || (mark === '`' && rest.includes('`'))) return undefined;
  return { mark, length, info: (rest.split(/\s/, 1)[0] ?? '').toLowerCase() };
}

/**
 * The lines of a block from `start` on. A fence closes it that has a line to itself; a block of JSON also one at the end of a
 * line, where many models put it and JSON cannot have it.
 */
function readBlock(
  text: string,
  start: number,
  { mark, length }: Fence,
  isJson: boolean,
): { readonly text: string; readonly next: number } {
  for (let at = start; at < text.length; ) {
    const lineEnd = endOfLine(text, at);
    const line = text.slice(at, lineEnd).trimEnd();
    let closing = line.length;
    while (closing > 0 && line[closing - 1] === mark) closing -= 1;
    if (line.length - closing >= length && (isJson || line.slice(0, closing).trim() === '')) {
      return { text: text.slice(start, at + closing), next: lineEnd + 1 };
    }
    at = lineEnd + 1;
  }
  return { text: text.slice(start), next: text.length };
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

function startsWithBracket(text: string, at: number): boolean {
  const first = text[skipSpace(text, at)];
  return first === '{' || first === '[';
}

/** The index of the first `{` or `[{` followed by a key and `:`; -1 if none. */
function findBeginning(text: string): number {
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '{' && hasKey(text, at)) return at;
    if (text[at] === '[') {
      const inner = skipSpace(text, at + 1);
      if (text[inner] === '{' && hasKey(text, inner)) return at;
    }
  }
  return -1;
}

/** True if a key follows the brace at `brace`. A key ends at the first quotation mark, so that no text is gone through often. */
function hasKey(text: string, brace: number): boolean {
  const key = skipSpace(text, brace + 1);
  return text[key] === '"' && text[skipSpace(text, findTextEnd(text, key) ?? text.length)] === ':';
}

/** Over what JSON takes for white space. */
function skipSpace(text: string, start: number): number {
  let at = start;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at += 1;
  return at;
}
