import type { Json, JsonObject } from '@holdfast/core';
import { decodeJson, isPlainObject } from '@holdfast/core/internal';

/** A call and its result. */
export interface Finding {
  readonly name: string;
  readonly arguments: JsonObject;
  readonly success: boolean;
  /** The text that the model received. */
  readonly text: string;
  /** The tool's message before its value; may be empty. */
  readonly message: string;
  /** The value: parsed if JSON, rows if each line is a place in a file, otherwise the text. */
  readonly value: Json;
  /** The tool reported at the end that it left something out. */
  readonly isPart: boolean;
}

/** Parses a tool message: a sentence, a blank line and a value, or only one of them. */
export function toFinding(name: string, given: JsonObject, success: boolean, text: string): Finding {
  const { message, value } = split(text, given);
  // A tool that returns `{"error": "..."}` failed, even if its call succeeded.
  const error = success && isPlainObject(value) && Object.keys(value).length === 1 && value['error'] !== undefined;
  const isPart = /(?:^|\n)… [^\n]*$/u.test(text.trimEnd());
  return { name, arguments: given, success: success && !error, text, message, value, isPart };
}

function split(text: string, given: JsonObject): Pick<Finding, 'message' | 'value'> {
  const whole = parse(text);
  if (whole !== undefined) return { message: '', value: whole };
  const gap = text.indexOf('\n\n');
  const [head, rest] = gap < 0 ? [text.trim(), ''] : [text.slice(0, gap).trim(), text.slice(gap + 2)];
  const value = parse(rest);
  if (value !== undefined) return { message: head, value };
  return isSentence(head, given) ? { message: head, value: toRows(rest) } : { message: '', value: toRows(text) };
}

/** A file may start with a short paragraph too: a tool's sentence is one line that mentions an argument of the call. */
function isSentence(head: string, given: JsonObject): boolean {
  if (head.length > 300 || !/^[^\n]*\.$/u.test(head)) return false;
  const quoted = head.match(/`[^`]+`/gu) ?? [];
  const called = new Set(Object.values(given).map((each) => `\`${String(each)}\``));
  return quoted.some((each) => called.has(each)) || (called.size === 0 && quoted.length > 0);
}

const place = /^([^\s:]+):(\d+):? (.*)$/u;

/** Lines that are all paths or places in files are a list; a note about omissions may follow. */
function toRows(text: string): Json {
  const lines = text.trimEnd().split('\n');
  const isRow = (line: string): boolean => place.test(line) || /^… |^[\w@./-]*(?:\/|\.[A-Za-z]\w*)$/u.test(line);
  if (text.trim() === '' || !lines.every(isRow)) return text;
  return lines.map((line) => {
    const [, file, number, said] = place.exec(line) ?? [];
    return file === undefined || said === undefined ? line : { file, line: Number(number), text: said.trim() };
  });
}

function parse(text: string): Json | undefined {
  if (!/^\s*(?:[[{"\d-]|true|false|null)/u.test(text)) return undefined;
  try {
    return decodeJson(text) as Json;
  } catch {
    // Text that only looks like JSON.
    return undefined;
  }
}
