import { isPlainObject } from '@holdfast/core/internal';
import type { GrammarWriter } from './grammar-writer.ts';
import { countOf, toLiteral } from './schema-parts.ts';

/** Pieces of all texts; with more, any value is allowed. llama.cpp tries all pieces at the start of a string. */
const mostPieces = 1000;
/** Characters of the texts that are searched for lengths; with more, any length is allowed. */
const mostListed = 16_384;

/** A string runs from one piece to another: a word or another single character. */
const piecePattern = /[\p{L}\p{N}_]+|[^\p{L}\p{N}_]/gu;
/** A number in a sentence, with or without a unit after it. */
const numberPattern = /(?<![\p{L}\p{N}_.])-?\d+(?:\.\d+)?(?!\.?\d)/gu;

interface QuotedTexts {
  /** The name of a rule. */
  readonly rule: string;
  /** False if the requested lengths are not enforced. */
  readonly holdsLength: boolean;
}

/** `undefined` if the texts are too long. */
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

/** The values that occur in some texts: runs of words, and numbers. */
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

  /** True if the texts contain no value for this schema. */
  lacks(schema: unknown): boolean {
    if (!isPlainObject(schema) || Object.hasOwn(schema, 'enum') || Object.hasOwn(schema, 'const')) return false;
    const { type } = schema;
    if (type === 'integer' || type === 'number') return this.numberRule(type) === undefined;
    return type === 'string' && this.textRule(countOf(schema['minLength']), countOf(schema['maxLength'])) === undefined;
  }

  /** `undefined` if the texts contain no such number. */
  numberRule(type: 'integer' | 'number'): string | undefined {
    return remembered<string | undefined>(this.#numberRules, type, () => {
      const fitting = this.#numbers.filter((value) => type === 'number' || Number.isInteger(value));
      return fitting.length === 0 ? undefined : this.#writer.add(() => fitting.map(toLiteral).join(' | '));
    });
  }

  /** Strings of a length, counted like in JSON Schema; `undefined` if the texts contain none. */
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

  /** A rule for each start piece, followed by its possible continuations. A list of all strings would be quadratic in the pieces. */
  #anyTextRule(): string {
    this.#anyText ??= this.#writer.add(() => {
      const starts: string[] = [];
      for (const pieces of this.#texts) {
        let next: string | undefined;
        for (const piece of [...pieces].reverse()) {
          // A string neither starts nor ends with a space.
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
