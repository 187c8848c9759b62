/** The text of valid tool arguments, described a second time and independently of the code under test. */
export interface StrictLimits {
  readonly maxLength: number;
  readonly maxDepth: number;
  readonly maxKeys: number;
}

const argumentLimits: StrictLimits = { maxLength: 1_048_576, maxDepth: 64, maxKeys: 10_000 };

/** The object that `text` is the JSON of; `undefined` if a tool call may not have it as arguments. */
export function parseStrictly(text: string, limits: StrictLimits = argumentLimits): object | undefined {
  if (text.trim() === '') return {};
  if (text.length > limits.maxLength) return undefined;
  try {
    const value = new StrictParser(text, limits).parse();
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

class Refused extends Error {}

const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
// Sticky: each is tried where the parser stands.
const string = /"(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy;
const space = /[ \t\n\r]*/y;
const literals: readonly (readonly [string, unknown])[] = [
  ['null', null],
  ['true', true],
  ['false', false],
];

class StrictParser {
  readonly #text: string;
  readonly #limits: StrictLimits;
  #at = 0;
  #keys = 0;

  constructor(text: string, limits: StrictLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  parse(): unknown {
    const value = this.#value(0);
    if (this.#at < this.#text.length) throw new Refused();
    return value;
  }

  #value(depth: number): unknown {
    this.#take(space);
    const first = this.#text[this.#at];
    let value: unknown;
    if (first === '{') value = this.#object(depth + 1);
    else if (first === '[') value = this.#array(depth + 1);
    else if (first === '"') value = this.#string();
    else value = this.#literal();
    this.#take(space);
    return value;
  }

  #object(depth: number): object {
    const entries = new Map<string, unknown>();
    this.#list(depth, '}', () => {
      this.#take(space);
      const key = this.#string();
      this.#keys += 1;
      if (key === '__proto__' || entries.has(key) || this.#keys > this.#limits.maxKeys) throw new Refused();
      this.#take(space);
      this.#expect(':');
      entries.set(key, this.#value(depth));
    });
    return Object.fromEntries(entries);
  }

  #array(depth: number): unknown[] {
    const items: unknown[] = [];
    this.#list(depth, ']', () => items.push(this.#value(depth)));
    return items;
  }

  #list(depth: number, close: string, item: () => void): void {
    if (depth > this.#limits.maxDepth) throw new Refused();
    this.#at += 1;
    this.#take(space);
    if (this.#text[this.#at] !== close) {
      item();
      while (this.#text[this.#at] === ',') {
        this.#at += 1;
        item();
      }
    }
    this.#expect(close);
  }

  #string(): string {
    const raw = this.#take(string);
    if (raw === '') throw new Refused();
    return JSON.parse(raw) as string;
  }

  #literal(): unknown {
    for (const [name, value] of literals) {
      if (!this.#text.startsWith(name, this.#at)) continue;
      this.#at += name.length;
      return value;
    }
    const raw = this.#take(number);
    const value = Number(raw);
    // Too large for a number is not a number that JSON could say again.
    if (raw === '' || !Number.isFinite(value)) throw new Refused();
    const [whole = '', rest] = raw.split('.');
    const isWhole = /^-?\d+$/.test(whole) && (rest === undefined || /^0+$/.test(rest));
    // Nor is one that would be said in other digits, unless it is just that one.
    if (isWhole && String(value) !== whole && BigInt(value) !== BigInt(whole)) throw new Refused();
    return value;
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const [taken = ''] = pattern.exec(this.#text) ?? [];
    this.#at += taken.length;
    return taken;
  }

  #expect(character: string): void {
    if (this.#text[this.#at] !== character) throw new Refused();
    this.#at += 1;
  }
}
