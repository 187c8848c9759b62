import type { Json } from '@holdfast/core';
import type { Token } from '../words/clauses.ts';
import { fits, type Parameter } from '../words/parameters.ts';
import { searches, type ToolWords } from '../words/tool-words.ts';
import { isFunctionWord, isGrammar, splitName, stemOf } from '../words/words.ts';

/** A part of a clause that can be an argument. */
export interface Mention {
  readonly parameter: Parameter;
  readonly value: Json;
  /** Tokens: `from` inclusive, `to` exclusive. */
  readonly from: number;
  readonly to: number;
  /** Further tokens that name the argument, in the same form. */
  readonly name?: readonly [from: number, to: number];
  /** The evidence: the argument's name, an allowed value, the preposition of a pair, its form, or no other option left. */
  readonly by: 'name' | 'word' | 'side' | 'looks' | 'rest';
}

type Tokens = readonly Token[];

/** All parts of a clause that can be an argument of the tool. */
export function findMentions(tokens: Tokens, tool: ToolWords): readonly Mention[] {
  return tool.parameters.flatMap((parameter) => {
    const found = [...findWords(tokens, parameter), ...findLooks(tokens, parameter, tool)];
    return [...findNamed(tokens, parameter), ...found, ...findSides(tokens, parameter, tool, found)];
  });
}

/** "The amount 200", "3 people", "folder src": the argument's name beside the value. */
function findNamed(tokens: Tokens, parameter: Parameter): readonly Mention[] {
  const { kind, nameStems, takes } = parameter;
  const places = ['file', 'folder', 'directory'].filter((place) => (place === 'file' ? takes.file : takes.folder));
  return [nameStems, ...(kind === 'path' ? places.map((place) => [stemOf(place)]) : [])].flatMap((phrase) =>
    placesOf(tokens, phrase).flatMap((at) => {
      const end = at + phrase.length;
      // "The folder src" and "the src folder", but not "the files src" or "which files".
      const isFolder = /^(?:folder|directory)$/u.test(lowerAt(tokens, at));
      const isExact = phrase.length > 1 || lowerAt(tokens, at) === parameter.name.toLowerCase();
      let next = end;
      while (/^(?:of|is|:|=|the|an?|called|named|titled)$/u.test(lowerAt(tokens, next))) next += 1;
      const behind = readSpan(tokens, next, parameter, kind === 'path' ? isFolder : isExact);
      const before = /^(?:number|path)$/u.test(kind) ? readSpan(tokens, at - 1, parameter, isFolder) : [];
      return [...behind, ...before].map((span): Mention => ({ ...span, parameter, name: [at, end], by: 'name' }));
    }),
  );
}

type Span = Pick<Mention, 'value' | 'from' | 'to'>;

/** The value at a place, or a bare word if that is unambiguous. */
function readSpan(tokens: Tokens, at: number, parameter: Parameter, mayBeBare: boolean): readonly Span[] {
  const token = tokens[at];
  if (token?.type === 'value')
    return fits(parameter, token, true) ? [{ value: token.value, from: at, to: at + 1 }] : [];
  const isValue = token !== undefined && mayBeBare && isBare(token) && /^(?:name|path|query)$/u.test(parameter.kind);
  return isValue ? [readName(tokens, at)] : [];
}

const generic =
  /^(?:files?|folders?|director(?:y|ies)|paths?|lines?|words?|texts?|names?|root|working|same|wh\p{L}+|how)$/u;

/** True for a word that can be a value without quotation marks. */
function isBare({ type, lower }: Token): boolean {
  return type === 'word' && !isGrammar(lower) && !generic.test(lower);
}

/** A word and the words after it that belong to the same name: "Buenos Aires". */
function readName(tokens: Tokens, from: number): Span {
  let to = from + 1;
  while (isNameLike(tokens[from]) && isNameLike(tokens[to])) to += 1;
  return {
    value: tokens
      .slice(from, to)
      .map(({ text }) => text)
      .join(' '),
    from,
    to,
  };
}

/** A capitalized word, except those of a calendar. */
function isNameLike(token: Token | undefined): boolean {
  const isCapital = token?.type === 'word' && /^\p{Lu}[\p{L}'’-]+$/u.test(token.text);
  return isCapital && !/day$|^(?:january|february|march|april|may|june|july|august|\p{L}+ber)$/u.test(token.lower);
}

/** Allowed values, and switches mentioned by their full name. */
function findWords(tokens: Tokens, parameter: Parameter): readonly Mention[] {
  const choices = parameter.choices.map((choice) => [choice, splitName(String(choice)).map(stemOf)] as const);
  const options = parameter.kind === 'flag' ? [[true, parameter.nameStems] as const] : choices;
  return options.flatMap(([value, phrase]) => {
    const isSame = (token: Token): boolean => String(token.value).toLowerCase() === String(value).toLowerCase();
    const values = [...tokens.keys()]
      .filter((at) => tokens.slice(at, at + 1).some(isSame))
      .map((from) => ({ from, to: from + 1 }));
    // "IN" means Indiana only in capitals.
    const isMeant = (at: number): boolean =>
      !isFunctionWord(lowerAt(tokens, at)) || /^\p{Lu}+$/u.test(tokens[at]?.text ?? '');
    const words = placesOf(tokens, phrase)
      .filter(isMeant)
      .map((from) => ({ from, to: from + phrase.length }));
    return [...values, ...words].map((place): Mention => ({ ...place, parameter, value, by: 'word' }));
  });
}

/** Arguments recognized by form: a path, an address, a quoted text; for a required name, a capitalized word. */
function findLooks(tokens: Tokens, parameter: Parameter, tool: ToolWords): readonly Mention[] {
  const { kind, isRequired } = parameter;
  const isSought = kind === 'query' || (kind === 'text' && searches(tool));
  return tokens.flatMap((token, from): readonly Mention[] => {
    const mention = { parameter, from, to: from + 1, by: 'looks' as const };
    if (token.type === 'value') return fits(parameter, token, false) ? [{ ...mention, value: token.value }] : [];
    if (from === 0 || !isRequired) return [];
    if (isSought) return /^\p{Lu}{2,}$/u.test(token.text) ? [{ ...mention, value: token.text }] : [];
    const isName = kind === 'name' && isNameLike(token) && !isNameLike(tokens[from - 1]) && !tool.stems.has(token.stem);
    return isName ? [{ ...mention, ...readName(tokens, from) }] : [];
  });
}

const fromNames = /^(?:from|old|source|src|origin|original)$/u;
const toNames = /^(?:to|new|target|destination|replacement)$/u;

/** For a pair of arguments such as from and to: the one that the preposition selects. */
function findSides(
  tokens: Tokens,
  parameter: Parameter,
  tool: ToolWords,
  found: readonly Mention[],
): readonly Mention[] {
  const begins = (names: RegExp, each: Parameter): boolean =>
    each.kind === parameter.kind && names.test(splitName(each.name)[0] ?? '');
  const isTarget = begins(toNames, parameter);
  const isPair = tool.parameters.some((each) => begins(isTarget ? fromNames : toNames, each));
  if (!isPair || !(isTarget || begins(fromNames, parameter))) return [];
  return found.flatMap((mention): readonly Mention[] => {
    let before = mention.from - 1;
    while (/^(?:the|text|word|degrees?)$/u.test(lowerAt(tokens, before))) before -= 1;
    const isFrom = before === 0 || tokens[before]?.type === 'value' || /^(?:from|of)$/u.test(lowerAt(tokens, before));
    const isTo = /^(?:to|into|in|as|with|by)$/u.test(lowerAt(tokens, before));
    return (isTarget ? isTo : isFrom) ? [{ ...mention, by: 'side' }] : [];
  });
}

function placesOf(tokens: Tokens, phrase: readonly string[]): readonly number[] {
  const isAt = (at: number): boolean => phrase.every((stem, index) => tokens[at + index]?.stem === stem);
  return phrase.length === 0 ? [] : [...tokens.keys()].filter(isAt);
}

function lowerAt(tokens: Tokens, at: number): string {
  return tokens[at]?.lower ?? '';
}
