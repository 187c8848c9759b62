import type { Json, JsonObject } from '@holdfast/core';

/** An object that was read, where it ends, and where its members begin. */
export interface PlainLiteral {
  readonly value: JsonObject;
  readonly end: number;
  /** Offsets of the members of the object itself. */
  readonly offsets: ReadonlyMap<string, number>;
}

// Less than what a literal may have: beyond, the tree decides.
const maxDepth = 32;
const maxValues = 10_000;

/**
 * Reads an object that is written out plainly, at `start` of a source that is known to be sound JavaScript, and where an expression begins
 * there. Understands objects, lists, texts, numbers and words of JSON as people write them, with comments; nothing else. `undefined`
 * for whatever has anything else in it: `readLiteral` says what that is.
 */
export function readPlainLiteral(source: string, start: number): PlainLiteral | undefined {
  const reader = new PlainReader(source, start);
  const offsets = new Map<string, number>();
  const value = reader.readObject(0, offsets);
  return value === undefined ? undefined : { value, end: reader.at, offsets };
}

const identifier = /[A-Za-z_$][\w$]*/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const singleQuoted = /'([^'\\]*(?:\\[\\'"nt/][^'\\]*)*)'/y;
const doubleQuoted = /"([^"\\]*(?:\\[\\'"nt/][^"\\]*)*)"/y;
// A template takes a carriage return for a line feed.
const template = /`([^`\\$\r]*)`/y;

/** Every method answers `undefined` for what is not understood, and then nothing after it counts. */
class PlainReader {
  readonly #source: string;
  at: number;
  #values = 0;

  constructor(source: string, start: number) {
    this.#source = source;
    this.at = start;
  }

  readObject(depth: number, offsets?: Map<string, number>): JsonObject | undefined {
    if (!this.#take('{')) return undefined;
    const members: Record<string, Json> = {};
    while (!this.#take('}')) {
      const offset = this.at;
      const key = this.#readKey();
      // The one key that an object would not take as it is.
      if (key === undefined || key === '__proto__' || Object.hasOwn(members, key)) return undefined;
      if (!this.#take(':')) return undefined;
      const value = this.#read(depth + 1);
      if (value === undefined || !this.#endMember('}')) return undefined;
      members[key] = value;
      offsets?.set(key, offset);
    }
    return members;
  }

  #readList(depth: number): Json | undefined {
    this.#take('[');
    const items: Json[] = [];
    while (!this.#take(']')) {
      const item = this.#read(depth + 1);
      if (item === undefined || !this.#endMember(']')) return undefined;
      items.push(item);
    }
    return items;
  }

  #read(depth: number): Json | undefined {
    this.#values += 1;
    if (depth > maxDepth || this.#values > maxValues) return undefined;
    switch (this.#source[this.at]) {
      case '{':
        return this.readObject(depth);
      case '[':
        return this.#readList(depth);
      case "'":
      case '"':
      case '`':
        return this.#readText();
      default:
        return this.#readScalar();
    }
  }

  #readKey(): string | undefined {
    const first = this.#source[this.at];
    return first === "'" || first === '"' ? this.#readText() : this.#match(identifier)?.[0];
  }

  #readText(): string | undefined {
    const first = this.#source[this.at];
    const text = this.#match(first === "'" ? singleQuoted : first === '"' ? doubleQuoted : template)?.[1];
    if (text === undefined || !text.includes('\\')) return text;
    return text.replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped === 't' ? '\t' : escaped));
  }

  #readScalar(): Json | undefined {
    const word = this.#match(identifier)?.[0];
    if (word !== undefined)
      return word === 'true' ? true : word === 'false' ? false : word === 'null' ? null : undefined;
    const value = Number(this.#match(number)?.[0] ?? Number.NaN);
    return Number.isFinite(value) ? value : undefined;
  }

  /** After a comma, or before what ends the list. */
  #endMember(end: string): boolean {
    return this.#take(',') || this.#source[this.at] === end;
  }

  #take(character: string): boolean {
    this.at = skipBlanks(this.#source, this.at);
    if (this.#source[this.at] !== character) return false;
    this.at = skipBlanks(this.#source, this.at + 1);
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#source);
    if (found === null) return undefined;
    this.at = pattern.lastIndex;
    return found;
  }
}

/** Where the blanks and comments end that begin at `start`. Blanks that are no ASCII are not taken for any. */
export function skipBlanks(source: string, start: number): number {
  let at = start;
  for (;;) {
    const character = source[at];
    if (character === ' ' || character === '\n' || character === '\t' || character === '\r') at += 1;
    else if (character === '/' && source[at + 1] === '/') {
      while (at < source.length && !/[\n\r\u2028\u2029]/.test(source.charAt(at))) at += 1;
    } else if (character === '/' && source[at + 1] === '*') {
      const end = source.indexOf('*/', at + 2);
      if (end === -1) return at;
      at = end + 2;
    } else return at;
  }
}
