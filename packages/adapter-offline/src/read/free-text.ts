import { type Clause, type Token, textOf } from '../words/clauses.ts';
import type { Parameter } from '../words/parameters.ts';
import { knows, searches, type ToolWords } from '../words/tool-words.ts';
import { isFunctionWord, isGrammar } from '../words/words.ts';
import type { Mention } from './mentions.ts';

const openers = /^(?:text|contents?|words?|line|sentence|message|body|phrase)$/u;
/** "The text of a.txt", "the words that you find": the text comes from elsewhere. */
const elsewhere =
  /^(?:an?|the|my|of|from|in|to|you|i|which|whose|some|here|there|as|for|all|each|every|any|th[ae]t|this|it|its|them)$/u;

/**
 * Free text with an introduction that ends with the clause or before its target file: "with the text hello world",
 * "write the text hello world to a.txt".
 */
export function findFreeText(clause: Clause, { parameters }: ToolWords): readonly Mention[] {
  const { tokens } = clause;
  return tokens.flatMap(({ lower }, at): readonly Mention[] => {
    const isOpened = openers.test(lower) && /^(?:the|a|with|text|word)$/u.test(tokens[at - 1]?.lower ?? '');
    if (!isOpened && !/^(?:saying|says)$/u.test(lower)) return [];
    const from = /^[:=]$/u.test(tokens[at + 1]?.lower ?? '') ? at + 2 : at + 1;
    const isTarget = (token: Token | undefined): boolean => token?.type === 'value' || token?.lower === 'the';
    const end = tokens.findIndex(
      (token, index) => index > from && /^(?:to|into|in)$/u.test(token.lower) && isTarget(tokens[index + 1]),
    );
    const inner = tokens.slice(from, end < 0 ? tokens.length : end);
    const isPlain = inner.every((each) => each.type === 'word' && !/^(?:and|then|or|please)$/u.test(each.lower));
    if (inner.length === 0 || !isPlain || elsewhere.test(inner[0]?.lower ?? '')) return [];
    const value = textOf({ ...clause, tokens: inner });
    return parameters
      .filter(({ kind }) => kind === 'text')
      .map((parameter) => ({ parameter, value, from, to: from + inner.length, name: [at, at + 1], by: 'name' }));
  });
}

/**
 * The remaining tokens as the remaining argument, if they are one run after a preposition: "for tulips" for a search,
 * "in src" for a list.
 */
export function findRun(
  clause: Clause,
  tool: ToolWords,
  open: readonly Parameter[],
  used: ReadonlySet<number>,
): readonly Mention[] {
  const { tokens } = clause;
  const isLeft = ({ type, lower, stem }: Token, at: number): boolean =>
    type === 'word' && !used.has(at) && at > 0 && !isGrammar(lower) && !knows(tool, stem);
  const left = tokens.filter(isLeft);
  const from = tokens.findIndex(isLeft);
  const to = from + left.length;
  const next = tokens[to]?.lower;
  const isRun = left.length > 0 && tokens.findLastIndex(isLeft) === to - 1;
  if (!isRun || (next !== undefined && !isFunctionWord(next))) return [];
  const before = tokens[from - 1]?.lower ?? '';
  const isMeant = ({ kind, isRequired, takes }: Parameter): boolean => {
    if (kind === 'query') return /^(?:for|about|of|on)$/u.test(before);
    if (kind === 'text') return searches(tool) && isRequired && left.length === 1 && before === 'for';
    const isPlace = kind === 'path' && !isRequired && takes.folder && left.length === 1;
    return isPlace && /^(?:in|inside|under|from)$/u.test(before);
  };
  const value = textOf({ ...clause, tokens: left });
  return open.filter(isMeant).map((parameter) => ({ parameter, value, from, to, by: 'rest' }));
}
