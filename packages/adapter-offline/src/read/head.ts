import type { Clause } from '../words/clauses.ts';
import type { ToolWords } from '../words/tool-words.ts';
import { isSameVerb, isVerb } from '../words/verbs.ts';
import { isFunctionWord, stemOf } from '../words/words.ts';

/** The action of a clause, from its first words. */
export interface Head {
  /** `question`: any read-only tool can answer it; `none`: a noun, a value or an unknown verb. */
  readonly type: 'verb' | 'question' | 'none';
  /** The verbs, or those that a question stands for. */
  readonly stems: readonly string[];
  /** Their tokens in the clause. */
  readonly at: ReadonlySet<number>;
}

const questions = /^(?:what|which|where|who|how|when)(?:'s)?$/u;
const being = /^(?:is|are)$/u;

/** Reads how a clause starts: with a verb, a question or neither. */
export function readHead({ tokens }: Clause, toolVerbs: ReadonlySet<string>): Head {
  const words = tokens.map(({ lower }) => lower);
  const asksLater = (at: number): boolean => words.slice(at, at + 3).some((word) => questions.test(word));
  // "Please tell me which …" is the question "which …".
  const isAsking = (word: string, at: number): boolean =>
    /^(?:tell|show|see|know|find|out)$/u.test(word) && asksLater(at + 1);
  const isBegin = (word: string, at: number): boolean =>
    questions.test(word) || being.test(word) || !(isFunctionWord(word) || isAsking(word, at));
  const first = words.findIndex(isBegin);
  const said = words.slice(first).join(' ');
  const at = (last: number): ReadonlySet<number> => new Set([...tokens.keys()].slice(0, last + 1));
  const { type, lower = '', stem = '' } = tokens[first] ?? {};
  if (/^(?:how many|number of) /u.test(said)) return { type: 'verb', stems: [stemOf('count')], at: at(first + 1) };
  if (questions.test(lower) || /^(?:is|are) there\b/u.test(said)) {
    const saying = words.findIndex((word) => /^(?:say|says|contain|contains|hold|inside)$/u.test(word));
    const isContent = /^what/u.test(said) && (saying >= 0 || /^what(?:'s| is| are)? (?:is )?in\b/u.test(said));
    return {
      type: 'question',
      stems: isContent ? ['read', 'list'] : [],
      at: new Set([...at(first), isContent ? saying : first]),
    };
  }
  if (type !== 'word' || !(isVerb(stem) || toolVerbs.has(stem) || being.test(lower)))
    return { type: 'none', stems: [], at: new Set() };
  return { type: 'verb', stems: [stem], at: at(/^look (?:for|up) /u.test(said) ? first + 1 : first) };
}

/** Ranks how well the tool's verbs match the clause: 0 for no match, highest for the verb of its name. */
export function rankVerb({ type, stems }: Head, { verbs: { name, lead, more }, isLooking }: ToolWords): number {
  // A question can ask for a tool named after its result, such as "roman_numeral".
  const isNoun = type === 'question' && name === undefined && !isVerb(lead);
  if (stems.length === 0) return isLooking || isNoun ? 1 : 0;
  const isSaid = (verb: string): boolean => stems.includes(verb);
  if (isSaid(name ?? lead)) return 4;
  if (isSaid(lead)) return 3;
  if (type === 'question') return 0;
  if (more.some(isSaid)) return 2;
  return [lead, name ?? lead, ...more].some((verb) => stems.some((stem) => isSameVerb(verb, stem))) ? 1 : 0;
}
