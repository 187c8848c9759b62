import type { LoweredKeyword } from './grammar.ts';

/** Rules shared by all grammars. */
export const basics: ReadonlyMap<string, string> = new Map([
  ['string', String.raw`"\"" char* "\""`],
  ['char', String.raw`[^"\\\x00-\x1F\x7F] | "\\" (["\\/bfnrt] | "u" unit)`],
  // Excludes unpaired surrogates, which are not valid text.
  ['unit', '([0-9abcefABCEF] hex hex hex | [dD] [0-7] hex hex)'],
  ['hex', '[0-9a-fA-F]'],
  ['integer', '"-"? natural'],
  // At most 16 digits: a longer number would lose precision when parsed.
  ['natural', '"0" | [1-9] [0-9]{0,14}'],
  ['number', 'integer ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?'],
  ['boolean', '"true" | "false"'],
  ['null', '"null"'],
  ['value', 'string | number | boolean | null | object | array'],
  ['object', '"{" (string ":" value ("," string ":" value)*)? "}"'],
  ['array', '"[" (value ("," value)*)? "]"'],
]);

/** Collects the rules of a grammar and the keywords it does not enforce. */
export class GrammarWriter {
  readonly #rules: string[] = [];
  readonly lowered: LoweredKeyword[] = [];

  /** Adds a rule and returns its name; its text may refer to other rules and to itself. */
  add(toText: (name: string) => string): string {
    const name = `r${this.#rules.length}`;
    const index = this.#rules.push('') - 1;
    this.#rules[index] = `${name} ::= ${toText(name)}`;
    return name;
  }

  toText(roots: readonly string[]): string {
    const own = [...basics].map(([name, text]) => `${name} ::= ${text}`);
    return [`root ::= ${roots.join(' | ')}`, ...this.#rules, ...own, ''].join('\n');
  }
}
