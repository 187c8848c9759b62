import { findEnd, type StepBudget } from './find-end.ts';

/** What was not JSON and can mean one thing only. */
export type Repair =
  | 'trailing commas'
  | 'comments'
  | 'unusual blanks'
  | 'line breaks and tabs in texts'
  | 'escaped apostrophes'
  | 'texts in other quotes'
  | 'keys without quotes'
  | 'literals of Python';

/** What stands in a text where a brace opens. */
export type ObjectReading =
  /** No object begins like this. */
  | { readonly type: 'other' }
  | {
      readonly type: 'object';
      /** Behind its closing brace. */
      readonly end: number;
      /** The object as JSON, its keys as often as they are there: what was read itself, where nothing had to be repaired. */
      readonly json: string;
      /** Its own, as they are written. */
      readonly keys: readonly string[];
      /** How often. */
      readonly repairs: ReadonlyMap<Repair, number>;
    }
  /** An object that something is wrong with. `end`: behind the brace that closes it; `undefined`: it is cut off. */
  | { readonly type: 'broken'; readonly problem: string; readonly end: number | undefined };

/**
 * Reads the object that begins at `start` of `text`, taking it with such faults as models make and that can be read in one way only.
 * Nothing is guessed: no comma, quote or bracket is ever put where none was.
 */
export function readLenientObject(text: string, start: number, budget: StepBudget): ObjectReading {
  const reader = new LenientReader(text, start, budget);
  if (!reader.readValue(1)) {
    const { failure, committed } = reader;
    if (!committed || failure === undefined) return { type: 'other' };
    return { type: 'broken', problem: failure.problem, end: findEnd(text, failure.at, { open: failure.open, budget }) };
  }
  const { at: end, keys, repairs } = reader;
  return { type: 'object', end, json: reader.finish(start), keys, repairs };
}

// Deeper than `readPlan` takes any, so that it is what says so.
const maxDepth = 80;

interface Failure {
  readonly problem: string;
  /** The beginning of what could not be read. */
  readonly at: number;
  /** How many brackets are open there. */
  readonly open: number;
}

const plainBlank = /[ \n\r\t]*/y;
const unusualBlank = /[\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]+/y;
const identifier = /[A-Za-z_$][\w$]*/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const escapeSign = /\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/y;
/** What can stand in a text in any quotes as it is. */
const inText = /[^"'“”\\\p{Cc}]+/uy;
const literals: ReadonlyMap<string, string> = new Map([
  ['true', 'true'],
  ['false', 'false'],
  ['null', 'null'],
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
]);
const rawEscapes: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);
const closings: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ['“', '”'],
]);

/** Its methods answer whether there was what they read; where not, `failure` says why. */
class LenientReader {
  at: number;
  /** Whether a key and its colon have been read: then it was meant to be an object. */
  committed = false;
  failure: Failure | undefined;
  readonly keys: string[] = [];
  readonly repairs: Map<Repair, number> = new Map();
  readonly #text: string;
  readonly #budget: StepBudget;
  /** What is written already, and from where on the text has not been. */
  readonly #written: string[] = [];
  #copied: number;
  #open = 0;

  constructor(text: string, start: number, budget: StepBudget) {
    this.#text = text;
    this.at = start;
    this.#copied = start;
    this.#budget = budget;
  }

  finish(start: number): string {
    if (this.repairs.size === 0) return this.#text.slice(start, this.at);
    return this.#written.join('') + this.#text.slice(this.#copied, this.at);
  }

  readValue(depth: number): boolean {
    const first = this.#text[this.at];
    if (first === '{' || first === '[') {
      if (depth > maxDepth) return this.#fail(`it is nested deeper than ${maxDepth} levels`);
      this.#open = depth;
      if (!(first === '{' ? this.#readMembers(depth) : this.#readItems(depth))) return false;
      this.#open = depth - 1;
      return true;
    }
    if (first !== undefined && closings.has(first)) return this.#readText(first);
    return this.#take(number) !== '' || this.#readLiteral();
  }

  #readMembers(depth: number): boolean {
    this.#step(1);
    if (!this.#skipBlank()) return false;
    while (this.#text[this.at] !== '}') {
      if (!(this.#readKey(depth) && this.#skipBlank())) return false;
      if (this.#text[this.at] !== ':') return this.#fail('a colon is missing after a key');
      this.committed = true;
      this.#step(1);
      if (!(this.#skipBlank() && this.readValue(depth + 1) && this.#readSeparator('}'))) return false;
    }
    return this.#step(1);
  }

  #readItems(depth: number): boolean {
    this.#step(1);
    if (!this.#skipBlank()) return false;
    while (this.#text[this.at] !== ']') {
      if (!(this.readValue(depth + 1) && this.#readSeparator(']'))) return false;
    }
    return this.#step(1);
  }

  /** Up to the next member or item, or to the bracket that closes them. */
  #readSeparator(closing: '}' | ']'): boolean {
    if (!this.#skipBlank()) return false;
    if (this.#text[this.at] === closing) return true;
    if (this.#text[this.at] !== ',') return this.#fail(`\`,\` or \`${closing}\` is missing`);
    if (this.#text[this.#findBlankEnd(this.at + 1) ?? this.#text.length] === closing)
      this.#replace(this.at, { end: this.at + 1, by: '', repair: 'trailing commas' });
    return this.#step(1) && this.#skipBlank();
  }

  #readKey(depth: number): boolean {
    const start = this.at;
    const first = this.#text[start];
    if (first !== undefined && closings.has(first)) {
      if (!this.#readText(first)) return false;
      if (depth === 1) this.keys.push(this.#text.slice(start + 1, this.at - 1));
      return true;
    }
    const name = this.#take(identifier);
    // Python writes other keys of these words than JavaScript does.
    if (name === '' || literals.has(name)) return this.#fail('a key in double quotes is missing', start);
    this.#replace(start, { end: this.at, by: `"${name}"`, repair: 'keys without quotes' });
    if (depth === 1) this.keys.push(name);
    return true;
  }

  #readText(opening: string): boolean {
    const start = this.at;
    const closing = closings.get(opening);
    const other = opening !== '"';
    if (other) this.#replace(start, { end: start + 1, by: '"', repair: 'texts in other quotes' });
    this.#step(1);
    for (;;) {
      this.#take(inText);
      const next = this.#text[this.at];
      if (next === undefined) return this.#fail('a text does not end', start);
      if (next === closing) break;
      if (next === '\\') {
        if (!this.#readEscape(start, opening)) return false;
      } else if (rawEscapes.has(next)) this.#swap(rawEscapes.get(next) ?? '', 'line breaks and tabs in texts');
      else if (next < ' ') return this.#fail('a text has a control character in it', start);
      // Where there are more quotes inside of curly ones, nobody knows which of them ends the text.
      else if (opening === '“' && next !== "'") return this.#fail('a text in curly quotes has quotes in it', start);
      else if (next === '"') this.#swap('\\"');
      else this.#step(1);
    }
    return other ? this.#swap('"') : this.#step(1);
  }

  #readEscape(start: number, opening: string): boolean {
    // What `\/` is in single quotes depends on the language.
    const known = opening === "'" && this.#text[this.at + 1] === '/' ? '' : this.#take(escapeSign);
    if (known !== '') return true;
    if (this.#text[this.at + 1] !== "'") return this.#fail('a text has an escape that JSON does not know', start);
    this.#replace(this.at, { end: this.at + 2, by: "'", repair: 'escaped apostrophes' });
    return this.#step(2);
  }

  #readLiteral(): boolean {
    const start = this.at;
    const word = this.#take(identifier);
    const literal = literals.get(word);
    if (literal === undefined)
      return this.#fail(start >= this.#text.length ? 'it ends in the middle' : 'a value is missing', start);
    if (literal !== word) this.#replace(start, { end: this.at, by: literal, repair: 'literals of Python' });
    return true;
  }

  #skipBlank(): boolean {
    const end = this.#findBlankEnd(this.at);
    if (end === undefined) return this.#fail('a comment does not end', this.#text.length);
    if (this.#matchEnd(plainBlank, this.at) < end) {
      const commented = this.#text.slice(this.at, end).includes('/');
      this.#replace(this.at, { end, by: ' ', repair: commented ? 'comments' : 'unusual blanks' });
    }
    this.at = end;
    return this.#spend(0);
  }

  /** Behind blanks and comments; `undefined`: a comment does not end. */
  #findBlankEnd(start: number): number | undefined {
    let end = start;
    for (let from = -1; from < end; ) {
      from = end;
      end = this.#matchEnd(unusualBlank, this.#matchEnd(plainBlank, end));
      if (this.#text[end] !== '/') continue;
      const sign = this.#text[end + 1];
      if (sign !== '/' && sign !== '*') continue;
      const closing = sign === '/' ? '\n' : '*/';
      const found = this.#text.indexOf(closing, end + 2);
      if (found === -1 && sign === '*') {
        this.#spend(this.#text.length - start);
        return undefined;
      }
      end = found === -1 ? this.#text.length : found + closing.length;
    }
    this.#spend(end - start + 1);
    return end;
  }

  #matchEnd(pattern: RegExp, start: number): number {
    pattern.lastIndex = start;
    return pattern.test(this.#text) ? pattern.lastIndex : start;
  }

  #take(pattern: RegExp): string {
    const start = this.at;
    const end = this.#matchEnd(pattern, start);
    this.#step(end - start);
    return this.#text.slice(start, end);
  }

  #swap(by: string, repair?: Repair): boolean {
    this.#replace(this.at, { end: this.at + 1, by, repair });
    return this.#step(1);
  }

  #replace(
    start: number,
    { end, by, repair }: { readonly end: number; readonly by: string; readonly repair: Repair | undefined },
  ): void {
    this.#written.push(this.#text.slice(this.#copied, start), by);
    this.#copied = end;
    if (repair !== undefined) this.repairs.set(repair, (this.repairs.get(repair) ?? 0) + 1);
  }

  #step(count: number): boolean {
    this.at += count;
    return this.#spend(count);
  }

  /** Looked at once more after every member and item, which is often enough. */
  #spend(count: number): boolean {
    this.#budget.left -= count;
    return this.#budget.left >= 0 || this.#fail('it takes too long to read');
  }

  #fail(problem: string, at: number = this.at): false {
    this.failure ??= { problem, at, open: this.#open };
    return false;
  }
}
