import { isPlainObject } from '@holdfast/core';
import type { GrammarWriter } from './grammar-writer.ts';
import { countOf, toLiteral } from './schema-parts.ts';

/** Of all texts together: where there are more, any value may be written. llama.cpp looks at all of them when a text begins. */
const mostPieces = 1000;
/** Characters of the texts that are looked at for their lengths; where there are more, any length may be written. */
const mostListed = 16_384;

/** A text is taken from one of these to another: words, and single other characters. */
const piecePattern = /[\p{L}\p{N}_]+|[^\p{L}\p{N}_]/gu;
/** As it stands in a sentence, with or without a unit behind it. */
const numberPattern = /(?<![\p{L}\p{N}_.])-?\d+(?:\.\d+)?(?!\.?\d)/gu;

interface QuotedTexts {
  /** The name of a rule. */
  readonly rule: string;
  /** Whether it keeps to the lengths that were asked for. */
  readonly holdsLength: boolean;
}

/** `undefined` where the texts are too long for it. */
export function quotedValues(writer: GrammarWriter, texts: readonly string[]): QuotedValues | undefined {
  const pieces = texts.map((text) => text.match(piecePattern) ?? []);
  if (pieces.reduce((sum, { length }) => sum + length, 0) > mostPieces) return undefined;
  const numbers = texts.flatMap((text) => text.match(numberPattern) ?? []).map(Number);
  return new QuotedValues(
    writer,
    pieces,
    [...new Set(numbers)].filter((value) => Math.abs(value) <= Number.MAX_SAFE_INTEGER),
  );
}

/** The values that stand in some texts: texts from one word to another, and numbers. */
export class QuotedValues {
  readonly #writer: GrammarWriter;
  readonly #texts: readonly (readonly string[])[];
  readonly #longest: number;
  readonly #numbers: readonly number[];
  readonly #numberRules = new Map<string, string | undefined>();
  readonly #textRules = new Map<string, QuotedTexts | undefined>();
  #anyText: string | undefined;
  #room = mostListed;

  constructor(writer: GrammarWriter, texts: readonly (readonly string[])[], numbers: readonly number[]) {
    this.#writer = writer;
    this.#texts = texts;
    this.#longest = Math.max(0, ...texts.map((pieces) => lengthOf(pieces.join('').trim())));
    this.#numbers = numbers;
  }

  /** Whether nothing in the texts can be a value of this schema. */
  lacks(schema: unknown): boolean {
    if (!isPlainObject(schema) || Object.hasOwn(schema, 'enum') || Object.hasOwn(schema, 'const')) return false;
    const { type } = schema;
    if (type === 'integer' || type === 'number') return this.numberRule(type) === undefined;
    return type === 'string' && this.textRule(countOf(schema['minLength']), countOf(schema['maxLength'])) === undefined;
  }

  /** `undefined` where no such number stands in the texts. */
  numberRule(type: 'integer' | 'number'): string | undefined {
    return remembered<string | undefined>(this.#numberRules, type, () => {
      const fitting = this.#numbers.filter((value) => type === 'number' || Number.isInteger(value));
      return fitting.length === 0 ? undefined : this.#writer.add(() => fitting.map(toLiteral).join(' | '));
    });
  }

  /** Of texts with so many characters, as JSON Schema counts them; `undefined` where none stands in the texts. */
  textRule(least: number = 0, most: number = Number.POSITIVE_INFINITY): QuotedTexts | undefined {
    return remembered<QuotedTexts | undefined>(this.#textRules, `${least},${most}`, () => {
      if (this.#longest === 0) return undefined;
      if (least <= 1 && this.#longest <= most) return { rule: this.#anyTextRule(), holdsLength: true };
      const listed = new Set<string>();
      for (const text of this.#textsUpTo(most)) {
        this.#room -= text.length;
        if (lengthOf(text) >= least) listed.add(text);
        if (this.#room < 0) return { rule: this.#anyTextRule(), holdsLength: false };
      }
      if (listed.size === 0) return undefined;
      return { rule: this.#writer.add(() => [...listed].map(toLiteral).join(' | ')), holdsLength: true };
    });
  }

  *#textsUpTo(most: number): Generator<string, void, void> {
    for (const pieces of this.#texts) {
      for (const [start, first] of pieces.entries()) {
        if (isSpace(first)) continue;
        let text = '';
        for (const piece of pieces.slice(start)) {
          text += piece;
          if (lengthOf(text) > most) break;
          if (!isSpace(piece)) yield text;
        }
      }
    }
  }

  /** A rule for each piece that a text may begin with: it, and what may follow. Listed, the texts would be as many as its square. */
  #anyTextRule(): string {
    this.#anyText ??= this.#writer.add(() => {
      const starts: string[] = [];
      for (const pieces of this.#texts) {
        let next: string | undefined;
        for (const piece of [...pieces].reverse()) {
          // A text neither begins nor ends with a space.
          const mayEnd = !isSpace(piece);
          if (!mayEnd && next === undefined) continue;
          const after = next === undefined ? '' : mayEnd ? ` (${next})?` : ` ${next}`;
          const literal = toLiteral(piece).replace(/^"\\"/, '"').replace(/\\""$/, '"');
          next = this.#writer.add(() => `${literal}${after}`);
          if (mayEnd) starts.push(next);
        }
      }
      return String.raw`"\"" (${starts.join(' | ')}) "\""`;
    });
    return this.#anyText;
  }
}

function remembered<Value>(known: Map<string, Value>, key: string, make: () => Value): Value {
  const found = known.get(key);
  if (found !== undefined || known.has(key)) return found as Value;
  const made = make();
  known.set(key, made);
  return made;
}

function isSpace(piece: string): boolean {
  return piece.trim() === '';
}

function lengthOf(text: string): number {
  return Array.from(text).length;
}
