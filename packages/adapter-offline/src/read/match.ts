import type { JsonObject } from '@holdfast/core';
import { type Clause, isContent, type Token } from '../words/clauses.ts';
import type { Parameter } from '../words/parameters.ts';
import { knows, searches, type ToolWords, verbsOf } from '../words/tool-words.ts';
import { isAlike, isFunctionWord, isGrammar, isLimit, isPronoun, isQuantifier, stemOf } from '../words/words.ts';
import { type Filling, fill } from './fill.ts';
import { type Head, rankVerb, readHead } from './head.ts';

/** A tool for a clause, with its arguments. */
export interface Match {
  readonly tool: ToolWords;
  readonly filling: Filling;
  readonly arguments: JsonObject;
}

/** The match of a clause, or why there is none. `near`: tools that match or come close. */
export type Matched =
  | { readonly type: 'matched'; readonly match: Match }
  /** One tool matches, but arguments are missing. */
  | { readonly type: 'missing'; readonly missing: readonly Parameter[]; readonly near: readonly ToolWords[] }
  /** Several tools match equally well. */
  | { readonly type: 'tie'; readonly near: readonly ToolWords[] }
  /** No tool accounts for every word. `words`: those that the closest tool leaves over. */
  | { readonly type: 'none'; readonly words: readonly string[]; readonly near: readonly ToolWords[] };

interface Attempt {
  readonly tool: ToolWords;
  readonly filling: Filling;
  readonly left: readonly Token[];
  /** The verb's rank first, then how much of the clause is in the tool's name. */
  readonly rank: number;
}

/**
 * Finds the one tool that accounts for every word of a clause: the verb by its name and description, each value as an
 * argument. Never guesses: a word left over, a second match or a missing argument is a result of its own. `refersBack`
 * marks words that refer to earlier results, which may supply missing arguments. Default: none.
 */
export function matchClause(
  said: Clause,
  tools: readonly ToolWords[],
  refersBack?: (token: Token) => boolean,
): Matched {
  const { clause, called } = findCalled(said, tools);
  const head = readHead(clause, verbsOf(tools));
  const attempts = (called === undefined ? tools : [called]).flatMap((tool): readonly Attempt[] => {
    const verb = rankVerb(head, tool);
    if (verb === 0 && (called === undefined || head.type !== 'none')) return [];
    const filling = fill(clause, tool, head.at);
    const left = leftOver(clause, tool, filling, head).filter((token) => refersBack?.(token) !== true);
    const stems = saidStems(clause, filling.used);
    return [{ tool, filling, left, rank: verb * 100 + tool.nameStems.filter((stem) => stems.includes(stem)).length }];
  });
  const isWhole = (attempt: Attempt): boolean => called !== undefined || isMeant(clause, head, attempt);
  const whole = attempts.filter((attempt) => attempt.left.length === 0 && isWhole(attempt));
  const top = whole.filter(({ rank }) => rank === Math.max(...whole.map((attempt) => attempt.rank)));
  const complete = top.filter(({ filling }) => (refersBack === undefined) === (filling.missing.length === 0));
  const best = complete.length > 0 ? complete : top;
  const near = best.map(({ tool }) => tool);
  const [first, another] = best;
  if (first === undefined) return explain(clause, attempts);
  if (another !== undefined) return { type: 'tie', near };
  const { tool, filling } = first;
  if (complete.length === 0) return { type: 'missing', missing: filling.missing, near };
  const given = tool.parameters.map((parameter) => [parameter.name, filling.given.get(parameter)]);
  const present = given.filter(([, value]) => value !== undefined);
  return { type: 'matched', match: { tool, filling, arguments: Object.fromEntries(present) } };
}

/** "Use read_text to …", "… with read_text": a tool named explicitly, and the clause without it. */
function findCalled(
  clause: Clause,
  tools: readonly ToolWords[],
): { readonly clause: Clause; readonly called?: ToolWords } {
  const { tokens } = clause;
  const at = tokens.findIndex(
    (_, index) =>
      /^(?:use|using|with|by|call|run)$/u.test(tokens[index - 1]?.lower ?? '') && called(index) !== undefined,
  );
  const tool = called(at);
  return tool === undefined ? { clause } : { called: tool, clause: { ...clause, tokens: tokens.toSpliced(at - 1, 2) } };

  function called(index: number): ToolWords | undefined {
    return tools.find(({ tool: { name } }) => name === tokens[index]?.value);
  }
}

/** The tokens that neither the tool nor its arguments account for. */
function leftOver({ tokens }: Clause, tool: ToolWords, { used }: Filling, head: Head): readonly Token[] {
  return tokens.filter((token, at) => {
    if (used.has(at) || token.type === 'mark') return false;
    if (token.type === 'value' || isLimit(token.lower) || isPronoun(token.lower)) return true;
    return !head.at.has(at) && !isGrammar(token.lower) && !knows(tool, token.stem) && !introduces(tokens, at, used);
  });
}

const nouns = {
  path: /^(?:new|file|folder|directory|path|named|called|document)$/u,
  other:
    /^(?:text|word|phrase|string|term|named|called|titled|contain(?:s|ing)?|saying|pattern|match(?:es|ing)?|like|extension|ending|url|page|address|number|degrees?)$/u,
};

/** "The file a.txt", "matching *.ts", "the word TODO": introduces the argument after it. */
function introduces(tokens: readonly Token[], at: number, used: ReadonlySet<number>): boolean {
  const isBetween = ({ lower }: Token): boolean =>
    isFunctionWord(lower) || /^(?::|new|file|folder|called|named)$/u.test(lower);
  const next = tokens.findIndex((token, index) => index > at && !isBetween(token));
  return used.has(next) && nouns[tokens[next]?.kind === 'path' ? 'path' : 'other'].test(tokens[at]?.lower ?? '');
}

/** True if the clause is about this tool and about as many objects as it handles. */
function isMeant(clause: Clause, head: Head, { tool, filling: { used, named, missing, given } }: Attempt): boolean {
  const isObject = (stem: string): boolean => tool.objects.some((object) => isAlike(object, stem));
  const isPlace = ({ kind, isRequired }: Parameter): boolean => kind === 'path' && !isRequired;
  // "Open the folder src" does not mean comments: a location does not say what to look for.
  const parameters = [...given.keys()];
  const isPlaceOnly = missing.length === 0 && given.size > 0 && parameters.every(isPlace);
  if (isPlaceOnly && !saidStems(clause, used).some(isObject)) return false;
  const isAbout = ({ lower, stem }: Token, at: number): boolean =>
    !used.has(at) && !head.at.has(at) && !isGrammar(lower) && knows(tool, stem);
  const about = clause.tokens.filter(isAbout);
  const isCalled = named > parameters.filter(({ choices }) => choices.length > 0).length;
  const isSought = searches(tool) && parameters.some(({ kind }) => kind === 'text');
  if (about.length > 0 && !isCalled && !isSought && !about.some(({ stem }) => isObject(stem))) return false;
  // A question, or a clause without a verb, must name its object: words of the tool, or allowed values.
  const isSaid = about.length > 0 || named > 1 || (head.stems.length > 0 && given.size > 0);
  if (head.type !== 'verb' && !isSaid) return false;
  if (head.type === 'none' && (missing.length > 0 || about.length + given.size < 2)) return false;
  const at = clause.tokens.findIndex(({ lower }) => isQuantifier(lower));
  // A tool that defaults to everything needs "all" in the clause; "the file" is one file, and the clause does not say which.
  const takesAll = tool.parameters.some((each) => isPlace(each) && each.takes.file && !each.hasDefault);
  const isOne = /(?:^| )(?:the|this|that|a) file(?: |$)/u.test(clause.tokens.map(({ lower }) => lower).join(' '));
  if (at < 0) return given.size > 0 || !(takesAll || (isOne && missing.length === 0));
  // "All files" does not match a tool for one file.
  const noun = clause.tokens.slice(at + 1).find((token) => token.type === 'word' && !isFunctionWord(token.lower));
  const isOfPlace = parameters.some(({ kind }) => kind === 'path') && noun?.stem !== tool.onlyOne;
  return tool.onlyOne === undefined || tool.worksOnAll || isOfPlace;
}

/** The stems of a clause; a path counts as "file" or "folder". */
function saidStems({ tokens }: Clause, used: ReadonlySet<number>): readonly string[] {
  return tokens.map(({ kind, text, stem }, at) =>
    kind === 'path' && used.has(at) ? stemOf(text.endsWith('/') ? 'folder' : 'file') : stem,
  );
}

function explain({ tokens }: Clause, attempts: readonly Attempt[]): Matched {
  const content = tokens.filter(isContent);
  const some = attempts.filter(({ left }) => left.length < content.length);
  const near = some.toSorted((one, other) => one.left.length - other.left.length || other.rank - one.rank);
  const words = (near[0]?.left ?? content).map(({ text }) => text);
  return { type: 'none', words, near: near.map(({ tool }) => tool) };
}
