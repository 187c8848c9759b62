import { findEnd, type StepBudget } from './brackets.ts';

/** Unambiguous deviations from JSON. */
export type Repair =
  | 'trailing commas'
  | 'comments'
  | 'unusual blanks'
  | 'line breaks and tabs in texts'
  | 'escaped apostrophes'
  | 'hexadecimal escapes'
  | 'texts in other quotes'
  | 'keys without quotes'
  | 'literals of Python';

/** The result of reading a value. */
export type LenientReading =
  | {
      readonly type: 'value';
      /** The index after it. */
      readonly end: number;
      /** The value as JSON, duplicate keys kept. The text itself where nothing was repaired. */
      readonly json: string;
      /** The keys of the outermost object, as written. */
      readonly keys: readonly string[];
      readonly repairs: ReadonlyMap<Repair, number>;
    }
  /** No value starts like this. */
  | { readonly type: 'other'; readonly problem: string }
  /** An object with a fault. `end`: the index after its closing brace; `undefined`: it is cut off. */
  | { readonly type: 'broken'; readonly problem: string; readonly end: number | undefined };

// One more than any caller accepts, so that its own limit is the one reported.
const maxDepth = 80;

const plainBlank = /[ \n\r\t]+/y;
const unusualBlank = /[\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]+/y;
const identifier = /[A-Za-z_$][\w$]*/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const escapeSign = /\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/y;
const hexadecimal = /\\x[0-9A-Fa-f]{2}/y;
/** Needs no escape, whatever the quotes are. */
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

/**
 * Reads the JSON value at `start` of `text`. Accepts unambiguous faults of models; never inserts a comma, a
 * quote or a bracket. `budget` bounds the characters read.
 */
export function readLenientJson(
  text: string,
  start: number,
  budget: StepBudget = { left: Number.POSITIVE_INFINITY },
): LenientReading {
  return new LenientReader(text, start, budget).read();
}

type Expected = 'value' | 'key' | 'colon' | 'next';

/** Goes through the value token by token. Methods return false, or `undefined`, after a fault. */
class LenientReader {
  readonly #text: string;
  readonly #start: number;
  readonly #budget: StepBudget;
  readonly #json: string[] = [];
  readonly #keys: string[] = [];
  readonly #repairs = new Map<Repair, number>();
  /** The brackets that close the open ones, outermost first. */
  readonly #open: string[] = [];
  #at: number;
  #expected: Expected = 'value';
  /** The last token, where a closing bracket may follow instead of a value. */
  #last: 'bracket' | 'comma' | 'other' = 'other';
  /** A key and its colon were read, so an object was meant. */
  #committed = false;
  #failure: { readonly problem: string; readonly at: number } | undefined;

  constructor(text: string, start: number, budget: StepBudget) {
    this.#text = text;
    this.#start = start;
    this.#at = start;
    this.#budget = budget;
  }

  read(): LenientReading {
    do {
      if (!this.#readToken()) return this.#fault();
    } while (this.#open.length > 0 && this.#skipBlank());
    if (this.#failure !== undefined) return this.#fault();
    const json = this.#repairs.size === 0 ? this.#text.slice(this.#start, this.#at) : this.#json.join('');
    return { type: 'value', end: this.#at, json, keys: this.#keys, repairs: this.#repairs };
  }

  #fault(): LenientReading {
    const { problem, at } = this.#failure ?? { problem: '', at: this.#at };
    if (!this.#committed) return { type: 'other', problem };
    return { type: 'broken', problem, end: findEnd(this.#text, at, { open: this.#open.length, budget: this.#budget }) };
  }

  #readToken(): boolean {
    const sign = this.#text[this.#at];
    if (sign === this.#open.at(-1) && sign !== undefined && (this.#expected === 'next' || this.#last !== 'other'))
      return this.#close(sign);
    switch (this.#expected) {
      case 'value':
        return this.#readValue(sign);
      case 'key':
        return this.#readKey(sign);
      case 'colon':
        if (sign !== ':') return this.#fail('a colon is missing after a key');
        this.#committed = true;
        return this.#write(sign, 1, 'value');
      case 'next':
        if (sign !== ',') return this.#fail(`\`,\` or \`${this.#open.at(-1)}\` is missing`);
        // Written when something follows it.
        this.#write('', 1, this.#open.at(-1) === '}' ? 'key' : 'value');
        this.#last = 'comma';
        return true;
    }
  }

  #close(sign: string): boolean {
    if (this.#last === 'comma') {
      this.#note('trailing commas');
      this.#last = 'other';
    }
    this.#open.pop();
    return this.#write(sign, 1, 'next');
  }

  #readValue(sign: string | undefined): boolean {
    if (sign === '{' || sign === '[') {
      if (this.#open.length === maxDepth) return this.#fail(`it is nested deeper than ${maxDepth} levels`);
      this.#open.push(sign === '{' ? '}' : ']');
      this.#write(sign, 1, sign === '{' ? 'key' : 'value');
      this.#last = 'bracket';
      return true;
    }
    if (sign !== undefined && closings.has(sign)) return this.#readText(sign, 'next');
    const digits = this.#match(number);
    if (digits !== '') return this.#write(digits, digits.length, 'next');
    const word = this.#match(identifier);
    const literal = literals.get(word);
    if (literal === undefined) return this.#fail(sign === undefined ? 'it ends in the middle' : 'a value is missing');
    if (literal !== word) this.#note('literals of Python');
    return this.#write(literal, word.length, 'next');
  }

  #readKey(sign: string | undefined): boolean {
    const start = this.#at;
    const isOutermost = this.#open.length === 1;
    if (sign !== undefined && closings.has(sign)) {
      if (!this.#readText(sign, 'colon')) return false;
      if (isOutermost) this.#keys.push(this.#text.slice(start + 1, this.#at - 1));
      return true;
    }
    const name = this.#match(identifier);
    // Python would write other keys of these words than JavaScript.
    if (name === '' || literals.has(name)) return this.#fail('a key in double quotes is missing');
    this.#note('keys without quotes');
    if (isOutermost) this.#keys.push(name);
    return this.#write(`"${name}"`, name.length, 'colon');
  }

  #readText(opening: string, expected: 'next' | 'colon'): boolean {
    const start = this.#at;
    const closing = closings.get(opening);
    const parts: string[] = ['"'];
    const take = (part: string, length: number): void => {
      parts.push(part);
      this.#step(length);
    };
    if (opening !== '"') this.#note('texts in other quotes');
    this.#step(1);
    for (;;) {
      const plain = this.#match(inText);
      take(plain, plain.length);
      const next = this.#text[this.#at];
      if (next === undefined) return this.#fail('a text does not end', start);
      if (next === closing) return this.#write(`${parts.join('')}"`, 1, expected);
      const raw = rawEscapes.get(next);
      if (next === '\\') {
        const [known, length] = this.#readEscape(opening);
        if (known === '') return this.#fail('a text has an escape that JSON does not know', start);
        take(known, length);
      } else if (raw !== undefined) {
        this.#note('line breaks and tabs in texts');
        take(raw, 1);
      } else if (next < ' ') return this.#fail('a text has a control character in it', start);
      // Quotes inside curly quotes make the end of the string ambiguous.
      else if (opening === '“' && next !== "'") return this.#fail('a text in curly quotes has quotes in it', start);
      else take(next === '"' ? '\\"' : next, 1);
    }
  }

  /** The escape as JSON has it, and how long it is in the text; `''`: JSON does not know it. */
  #readEscape(opening: string): readonly [escape: string, length: number] {
    const next = this.#text[this.#at + 1];
    // The meaning of `\/` in single quotes depends on the language.
    const known = opening === "'" && next === '/' ? '' : this.#match(escapeSign);
    if (known !== '') return [known, known.length];
    if (next === "'") {
      this.#note('escaped apostrophes');
      return ["'", 2];
    }
    const code = this.#match(hexadecimal);
    if (code !== '') this.#note('hexadecimal escapes');
    return [code.replace('\\x', '\\u00'), code.length];
  }

  /** Skips blanks and comments. */
  #skipBlank(): boolean {
    for (let from = -1; from < this.#at; ) {
      from = this.#at;
      this.#step(this.#match(plainBlank).length);
      const unusual = this.#match(unusualBlank).length;
      if (unusual > 0) this.#note('unusual blanks');
      this.#step(unusual);
      const mark = this.#text.slice(this.#at, this.#at + 2);
      if (mark !== '//' && mark !== '/*') continue;
      const closing = mark === '//' ? '\n' : '*/';
      const found = this.#text.indexOf(closing, this.#at + 2);
      const end = found === -1 ? this.#text.length : found + closing.length;
      this.#step(end - this.#at);
      if (found === -1 && mark === '/*') return this.#fail('a comment does not end');
      this.#note('comments');
    }
    return this.#budget.left >= 0 || this.#fail('it takes too long to read');
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0] ?? '';
  }

  #write(part: string, length: number, expected: Expected): true {
    if (this.#last === 'comma' && part !== '') this.#json.push(',');
    this.#json.push(part);
    this.#step(length);
    this.#expected = expected;
    this.#last = 'other';
    return true;
  }

  #step(count: number): void {
    this.#at += count;
    this.#budget.left -= count;
  }

  #note(repair: Repair): void {
    this.#repairs.set(repair, (this.#repairs.get(repair) ?? 0) + 1);
  }

  #fail(problem: string, at: number = this.#at): false {
    this.#failure ??= { problem, at };
    return false;
  }
}
