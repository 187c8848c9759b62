import { decodeJson, isPlainObject, type Json, type JsonObject } from '@holdfast/core';

/** A call that was made, and what came of it. */
export interface Finding {
  readonly name: string;
  readonly arguments: JsonObject;
  readonly success: boolean;
  /** As the model got it. */
  readonly text: string;
  /** The tool's own sentence before its value; empty when there is none. */
  readonly message: string;
  /** The value: parsed where it is JSON, else the text. */
  readonly value: Json;
}

/** Reads a tool message: a sentence, a blank line and a value, or only one of the two. */
export function toFinding(name: string, given: JsonObject, success: boolean, text: string): Finding {
  const { message, value } = split(text, given);
  const reported = success ? reportedError(value) : undefined;
  return { name, arguments: given, success: success && reported === undefined, text: reported ?? text, message, value };
}

function split(text: string, given: JsonObject): { readonly message: string; readonly value: Json } {
  const whole = parse(text);
  if (whole !== undefined) return { message: '', value: whole };
  const gap = text.indexOf('\n\n');
  const [head, rest] = gap < 0 ? ['', ''] : [text.slice(0, gap).trim(), text.slice(gap + 2)];
  const value = parse(rest);
  if (value !== undefined) return { message: head, value };
  return isSentence(head, given) ? { message: head, value: toRows(rest) } : { message: '', value: toRows(text) };
}

/** Text of a file may begin with a short paragraph too: a tool's own sentence is one line about what it was called with. */
function isSentence(head: string, given: JsonObject): boolean {
  if (head.length > 300 || !/^[^\n]*\.$/u.test(head)) return false;
  const quoted = head.match(/`[^`]+`/gu) ?? [];
  const called = new Set(Object.values(given).map((each) => `\`${String(each)}\``));
  return quoted.some((each) => called.has(each)) || (called.size === 0 && quoted.length > 0);
}

/** Lines that are all paths or places in files are a list. */
function toRows(text: string): Json {
  // Blank lines mean prose, which stays as it is.
  const lines = text.trimEnd().split('\n');
  const isRow = (line: string): boolean =>
    place.test(line) || /^… /u.test(line) || /^[\w@./-]*(?:\/|\.[A-Za-z]\w*)$/u.test(line);
  return lines.every(isRow) ? lines.map(toRow) : text;
}

const place = /^([^\s:]+):(\d+):? (.*)$/u;

function toRow(line: string): Json {
  const [, file, number, text] = place.exec(line) ?? [];
  return file === undefined || text === undefined ? line : { file, line: Number(number), text: text.trim() };
}

function parse(text: string): Json | undefined {
  if (!/^\s*(?:[[{"\d-]|true|false|null)/u.test(text)) return undefined;
  try {
    return decodeJson(text) as Json;
  } catch {
    // Text that only looks like JSON is text.
    return undefined;
  }
}

/** Tools that answer `{"error": "..."}` have failed, whatever their envelope says. */
function reportedError(value: Json): string | undefined {
  if (!isPlainObject(value) || Object.keys(value).length !== 1 || !Object.hasOwn(value, 'error')) return undefined;
  const { error } = value as { readonly error: unknown };
  return typeof error === 'string' ? error : JSON.stringify(error);
}

/** The paths of files that a value names, without repeats. */
export function pathsIn(value: Json): readonly string[] {
  const paths = new Set<string>();
  const visit = (inner: Json, key: string, depth: number): void => {
    if (depth > 4) return;
    if (typeof inner === 'string') {
      const path = pathKeys.has(key) ? inner : /^([\w@./-]+\.[A-Za-z]\w{0,9})$/u.exec(inner)?.[1];
      if (path !== undefined && (key === '' || pathKeys.has(key))) paths.add(path);
    } else if (Array.isArray(inner))
      for (const each of inner as readonly Json[]) visit(each, typeof each === 'string' ? '' : key, depth + 1);
    else if (isPlainObject(inner))
      for (const [name, each] of Object.entries(inner)) visit(each as Json, Array.isArray(each) ? '' : name, depth + 1);
  };
  visit(value, '', 0);
  return [...paths];
}

const pathKeys: ReadonlySet<string> = new Set(['path', 'file', 'filename', 'filePath', 'file_path']);
