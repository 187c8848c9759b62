import { parseJson } from '@holdfast/core/internal';
import { findTextEnd } from '@holdfast/prompt/json';

/** A parsed path into a value: keys and list indexes. */
export type ValuePath = readonly (string | number)[];

/** The result of parsing: the path and its end in the text, or a problem. */
export type PathReading =
  | { readonly ok: true; readonly path: ValuePath; readonly end: number }
  | { readonly ok: false; readonly problem: string };

const maxSegments = 64;
/** The highest possible list index. */
const maxIndex = 4_294_967_294;
const plainKey = /[^\s.[\]{}|"'\\]+/y;
const wholeNumber = /^(?:0|[1-9]\d*)$/;
const bareKey = /^[^\s.[\]{}|"'\\]+$/;

/**
 * Reads `.a.b[0]["a key"]` from `start` to the end of the text or the first character that cannot continue the path. Linear in what it
 * reads.
 */
export function readPath(text: string, start: number): PathReading {
  const path: (string | number)[] = [];
  let at = start;
  while (text[at] === '.' || text[at] === '[') {
    const step = text[at] === '.' ? readKey(text, at + 1) : readBracket(text, at + 1);
    if (typeof step === 'string') return { ok: false, problem: step };
    if (step.segment === '__proto__') return { ok: false, problem: 'the key `__proto__` is not allowed' };
    path.push(step.segment);
    if (path.length > maxSegments) return { ok: false, problem: `a path has at most ${maxSegments} steps` };
    at = step.end;
  }
  return { ok: true, path, end: at };
}

/** Parses all of `text` as a path without a leading dot: `a.b[0]`. */
export function parsePath(text: string): PathReading {
  if (text === '') return { ok: true, path: [], end: 0 };
  const dotted = text.startsWith('[') ? text : `.${text}`;
  const reading = readPath(dotted, 0);
  if (!reading.ok || reading.end === dotted.length) return reading;
  return { ok: false, problem: 'a path consists of keys and indexes, as in `a.b[0]["a key"]`' };
}

interface Step {
  readonly segment: string | number;
  readonly end: number;
}

function readKey(text: string, start: number): Step | string {
  plainKey.lastIndex = start;
  const key = plainKey.exec(text)?.[0];
  if (key === undefined) return 'expected a key after a dot';
  const place = wholeNumber.test(key) ? Number(key) : maxIndex + 1;
  return { segment: place <= maxIndex ? place : key, end: start + key.length };
}

function readBracket(text: string, start: number): Step | string {
  if (text[start] === '"') {
    const quoted = readQuoted(text, start);
    if (quoted === undefined || text[quoted.end] !== ']') return 'a quoted key must be a JSON string and end with `"]`';
    return { segment: quoted.value, end: quoted.end + 1 };
  }
  plainKey.lastIndex = start;
  const digits = plainKey.exec(text)?.[0] ?? '';
  if (!wholeNumber.test(digits) || text[start + digits.length] !== ']') {
    return 'expected an index or a key in double quotes between `[` and `]`';
  }
  if (Number(digits) > maxIndex) return 'the index is too large';
  return { segment: Number(digits), end: start + digits.length + 1 };
}

/** The JSON string that starts with the quote at `start`, and its end; `undefined` if it is invalid. */
function readQuoted(text: string, start: number): { readonly value: string; readonly end: number } | undefined {
  const end = findTextEnd(text, start);
  const parsed = end === undefined ? undefined : parseJson(text.slice(start, end));
  return end !== undefined && parsed?.ok === true ? { value: parsed.value as string, end } : undefined;
}

/** Formats a path for `parsePath`; deterministic. */
export function formatPath(path: ValuePath): string {
  let text = '';
  for (const segment of path) {
    if (typeof segment === 'number') text += `[${segment}]`;
    else if (!isBare(segment)) text += `[${JSON.stringify(segment)}]`;
    else text += text === '' ? segment : `.${segment}`;
  }
  return text;
}

/** `path` with one more key, for messages; long keys are cut. */
export function joinKey(path: string, key: string): string {
  const short = key.length <= 64 ? key : `${key.slice(0, 63)}…`;
  if (!isBare(short)) return `${path}[${JSON.stringify(short)}]`;
  return path === '' ? short : `${path}.${short}`;
}

/** True if the key needs no quotes after a dot. */
function isBare(key: string): boolean {
  return bareKey.test(key) && !(wholeNumber.test(key) && Number(key) <= maxIndex);
}
