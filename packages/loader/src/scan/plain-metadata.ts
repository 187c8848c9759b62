import type { Json, JsonObject } from '@holdfast/core';
import type { StaticExport } from 'oxc-parser';
import type { ExportedFunction, TakenParameter } from '../parse/exported-function.ts';
import type { ParsedModule } from '../parse/module.ts';

/** What a module says of its tool in the plainest way there is. */
export interface PlainMetadata {
  readonly value: JsonObject;
  /** Offset of the member `name`. */
  readonly nameOffset: number;
  /** A function that the module declares and exports, if it can be seen to be one. */
  findFunction(name: string): ExportedFunction;
}

/**
 * Reads `export const METADATA = { … };` and `export function NAME(…)` where they stand so in a sound module, from its text, without its
 * tree. `undefined` for everything else, for which the tree has to be looked at; and so it has for whatever is found to be wrong then.
 */
export function readPlainMetadata(
  source: string,
  { exports }: ParsedModule,
  { isTypeScript }: { readonly isTypeScript: boolean },
): PlainMetadata | undefined {
  const statements = exports === undefined ? undefined : listPlainExports(exports);
  const statement = statements?.get('METADATA');
  if (statements === undefined || statement === undefined) return undefined;
  const { start, end } = statement;
  const begin = matchAt(metadataStart, source, start);
  const literal = begin === undefined ? undefined : readPlainLiteral(source, begin);
  // Nothing else is declared or done there. Blanks behind the literal may lie behind the statement.
  if (literal === undefined || !/^;?$/.test(source.slice(literal.end, end))) return undefined;
  const { name, function: work, description } = literal.value;
  // Without a description a comment of the function takes its place.
  if (typeof name !== 'string' || typeof work !== 'string' || typeof description !== 'string') return undefined;
  const found = findPlainFunction(work, statements.get(work), { source, isTypeScript });
  if (found === undefined) return undefined;
  return { value: literal.value, nameOffset: literal.offsets.get('name') ?? start, findFunction: () => found };
}

const metadataStart = /export\s+const\s+METADATA\s*=\s*(?=\{)/y;

/** By exported name; `undefined` when there is anything among them whose meaning is not plain. */
function listPlainExports(exports: readonly StaticExport[]): ReadonlyMap<string, StaticExport> | undefined {
  const found = new Map<string, StaticExport>();
  for (const statement of exports) {
    for (const { exportName, isType } of statement.entries) {
      if (isType) continue;
      const { name } = exportName;
      // The default, everything of another module, or what makes a module something to be waited for.
      if (name === null || name === 'then') return undefined;
      found.set(name, statement);
    }
  }
  return found;
}

function findPlainFunction(
  name: string,
  statement: StaticExport | undefined,
  { source, isTypeScript }: { readonly source: string; readonly isTypeScript: boolean },
): ExportedFunction | undefined {
  if (statement === undefined || !/^[A-Za-z_][\w]*$/.test(name)) return undefined;
  const open = matchAt(functionStart, source, statement.start);
  if (open === undefined || matchAt(functionName, source, open) !== open + name.length) return undefined;
  if (!source.startsWith(name, open)) return undefined;
  const parameters = skipBlanks(source, open + name.length);
  if (source[parameters] !== '(') return undefined;
  const first = skipBlanks(source, parameters + 1);
  if (isTypeScript) {
    // There `this` is no parameter, and what has no body is no function.
    if (matchAt(thisParameter, source, first) !== undefined) return undefined;
    if (matchAt(plainSignature, source, parameters) === undefined) return undefined;
  }
  const taken = readTaken(source, first);
  if (taken === undefined) return undefined;
  const takesInput = source[first] !== ')';
  return { type: 'function', offset: statement.start, takesInput, taken, documentation: undefined };
}

/** `undefined` where the parameters are more than names, and objects that are taken apart into names. */
function readTaken(source: string, first: number): TakenParameter | undefined {
  plainParameters.lastIndex = first;
  const found = plainParameters.exec(source);
  if (found === null) return undefined;
  const [, parameter] = found;
  if (parameter?.startsWith('{') !== true) return { name: parameter, keys: undefined };
  const keys = parameter.match(/[\w$]+/g) ?? [];
  return { name: undefined, keys: keys.map((name) => ({ name, hasDefault: false })) };
}

// Up to two parameters, each with a type that is a name or an object without others in it. No blank can be matched in two ways.
const plainParameter = String.raw`([\w$]+|\{[\w$,\s]*\})\s*(?::(?:[\w$.<>[\]|\s]+|\s*\{[\w$.<>[\]|\s:;,?]*\}\s*))?`;
const plainParameters = new RegExp(String.raw`(?:${plainParameter}(?:,\s*${plainParameter})?(?:,\s*)?)?\)`, 'y');

// Parameters without functions and texts among them, a type that is one name, and the body.
const plainSignature =
  /\((?:[^(){}'"`/]|\{[^(){}'"`/]*\})*\)\s*(?::\s*(?!(?:keyof|typeof|readonly|unique|asserts|infer|new|abstract)\b)[\w.]+(?:<[\w.<>[\], ]*>)?(?:\[\])*\s*)?\{/y;
const functionStart = /export\s+(?:async\s+)?function\s+/y;
const functionName = /[\w$]+/y;
const thisParameter = /this\b/y;

/** Where the match ends that begins at `start`. */
function matchAt(pattern: RegExp, source: string, start: number): number | undefined {
  pattern.lastIndex = start;
  return pattern.test(source) ? pattern.lastIndex : undefined;
}

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
function skipBlanks(source: string, start: number): number {
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
