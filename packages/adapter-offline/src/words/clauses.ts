import { findValues, type ValueKind } from './values.ts';
import { isVerb, isWriting } from './verbs.ts';
import { isFunctionWord, isPronoun, stemOf } from './words.ts';

/** A word, value or punctuation mark of a request, with its position. */
export type Token = {
  /** The original text. */
  readonly text: string;
  /** The word or mark in lower case; empty for a value. */
  readonly lower: string;
  /** The stem of a word; empty for a value or a mark. */
  readonly stem: string;
  readonly start: number;
  readonly end: number;
} & (
  | { readonly type: 'word' | 'mark'; readonly kind?: never; readonly value?: never }
  | { readonly type: 'value'; readonly kind: ValueKind; readonly value: string | number }
);

/** A part of a request that asks for one thing. */
export interface Clause {
  readonly tokens: readonly Token[];
  /** The whole request, to which the positions of the tokens refer. */
  readonly source: string;
  /** The words that join it to the previous clause, such as "and then"; may be empty. */
  readonly joint: string;
}

/** The original text of a clause. */
export function textOf({ tokens, source }: Pick<Clause, 'tokens' | 'source'>): string {
  return source.slice(tokens[0]?.start ?? 0, tokens.at(-1)?.end ?? 0);
}

/** True for a value, or a word that is not only grammar. */
export function isContent({ type, lower }: Token): boolean {
  return type === 'value' || (type === 'word' && !isFunctionWord(lower));
}

/**
 * Splits a request into clauses. A clause ends at a full stop or a semicolon, and at a comma, "and" or "then" before a
 * verb: one of `toolVerbs`, or one that requests often start with.
 */
export function readClauses(source: string, toolVerbs: ReadonlySet<string>): readonly Clause[] {
  const tokens = tokenize(source);
  const clauses: Clause[] = [];
  let [from, joint] = [0, ''];
  for (let at = 0; at <= tokens.length; at += 1) {
    let next = at;
    while (joints.test(tokens[next]?.lower ?? '')) next += 1;
    const run = textOf({ tokens: tokens.slice(at, next), source }).toLowerCase();
    const verb = tokens[next]?.stem ?? '';
    const isVerbNext = isVerb(verb) || toolVerbs.has(verb);
    const isEnd = next >= tokens.length || /[.;!?]/u.test(run) || (isVerbNext && /,|\band\b|\bthen\b/u.test(run));
    if (!isEnd) continue;
    const inner = tokens.slice(from, at);
    if (inner.some(isContent)) clauses.push({ tokens: inner, source, joint });
    [from, joint, at] = [next, run, Math.max(at, next - 1)];
  }
  return clauses;
}

const joints = /^(?:[,.;!?]|and|then|also|please|next|finally|afterwards)$/u;

function tokenize(source: string): readonly Token[] {
  const values = findValues(source);
  const toPlace = (start: number, end: number) => ({ text: source.slice(start, end), start, end });
  const words = source.matchAll(/[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{N}]+)*|[^\s\p{L}\p{N}]/gu);
  const others = [...words].flatMap(({ 0: text, index }): readonly Token[] => {
    if (values.some(({ start, end }) => index < end && index + text.length > start)) return [];
    const isWord = /[\p{L}\p{N}]/u.test(text);
    const lower = text.toLowerCase().replaceAll('’', "'");
    const place = toPlace(index, index + text.length);
    return [{ ...place, type: isWord ? 'word' : 'mark', lower, stem: isWord ? stemOf(lower) : '' }];
  });
  const placed = values.map(
    (value): Token => ({ ...toPlace(value.start, value.end), ...value, type: 'value', lower: '', stem: '' }),
  );
  return [...others, ...placed].sort((left, right) => left.start - right.start);
}

const targetWords = /^(?:the|an?|all|of|to|into|in|as|file|new|named|called|please)$/u;

/**
 * The file of a clause such as "write them to report.md": a writing verb, words for the earlier result, and one path.
 * `undefined` if any word may mean something else.
 */
export function readWriteClause({ tokens: [verb, ...others] }: Clause, first: Clause): string | undefined {
  const [path, another] = others.filter(({ type }) => type === 'value');
  const words = others.filter(({ type }) => type !== 'value').map(({ lower }) => lower);
  // "Summarize …, and write the summary": the noun of the verb.
  const verbs = first.tokens.flatMap(({ stem }) => (isVerb(stem) && stem.length > 4 ? [stem.slice(0, 6)] : []));
  const isResult = (word: string): boolean =>
    isPronoun(word) || isResultWord(word) || verbs.some((stem) => word.startsWith(stem));
  const isPlain = words.some(isResult) && words.every((word) => isResult(word) || targetWords.test(word));
  const isWrite = verb !== undefined && (isWriting(verb.stem) || verb.lower === 'put');
  if (!isWrite || !isPlain || another !== undefined || path?.kind !== 'path' || path.text.endsWith('/'))
    return undefined;
  return path.text;
}

/** True for words such as "result" and "list", which refer to any earlier result. */
export function isResultWord(lower: string): boolean {
  return /^(?:th[ai][ts]|these|those|answers?|findings?|lists?|matches|outcome|output|results?)$/u.test(lower);
}
