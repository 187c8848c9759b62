import { conceptsOf, isAction } from './concepts.ts';
import { maxRequestLength } from './unread.ts';
import { findValues, type Value } from './values.ts';
import { isStopWord, stemOf, toWord, type Word } from './words.ts';

/** A request as a row of words, values and punctuation marks. */
export type Item =
  | ({ readonly type: 'word' } & Place & Word)
  | ({ readonly type: 'value'; readonly value: Value } & Place)
  | ({ readonly type: 'mark'; readonly text: string } & Place);

interface Place {
  readonly start: number;
  readonly end: number;
}

/** One thing that is asked for. */
export interface Clause {
  readonly items: readonly Item[];
  /** The request that the items come from; their places are in it. */
  readonly source: string;
  /** The words as they stand, for titles. */
  readonly text: string;
  /** What is to be done, when the clause says so. */
  readonly verb: Verb | undefined;
  /** Whether it speaks of what came before: "them", "it", "the findings". */
  readonly refersBack: boolean;
}

export interface Verb {
  readonly stem: string;
  readonly concepts: ReadonlySet<string>;
  /** Where it stands in `items`; -1 for one that a question implies. */
  readonly index: number;
}

/** Words that say what is done by the tools at hand, beside the common ones. */
export type ActionWords = ReadonlySet<string>;

/**
 * Cuts a request into clauses at sentence ends, "then", and before a verb after "and" or a comma.
 * `actions` are the stems of the verbs of the offered tools; `objects` those of the things they are about.
 */
export function readClauses(request: string, actions: ActionWords, objects: ActionWords): readonly Clause[] {
  const source = request.slice(0, maxRequestLength).replace(/\bget rid of\b/giu, 'delete');
  const items = itemsOf(source);
  const clauses: Clause[] = [];
  let from = 0;
  for (let at = 0; at <= items.length; at += 1) {
    const skip = at === items.length ? 1 : boundaryAt(items, from, at, actions);
    if (skip === 0) continue;
    const part = items.slice(from, at);
    if (
      !isNegated(part) &&
      part.some((item) => item.type === 'value' || (item.type === 'word' && !isStopWord(item.lower)))
    ) {
      clauses.push(readClause(part, source, actions, objects));
    }
    from = at + skip;
    at = from - 1;
  }
  return clauses;
}

/** A clause of some of the items of `source`. */
export function readClause(items: readonly Item[], source: string, actions: ActionWords, objects: ActionWords): Clause {
  const verb = findVerb(items, actions, objects);
  return { items, source, text: textOf(items, source), verb, refersBack: refersBack(items) };
}

/** The items as they stand in `source`; where some were left out between two, a space. */
export function textOf(items: readonly Item[], source: string): string {
  return items
    .map((item, index) => {
      const next = items[index + 1];
      const gap = next === undefined ? '' : source.slice(item.end, next.start);
      return source.slice(item.start, item.end) + (/[\p{L}\p{N}]/u.test(gap) ? ' ' : gap);
    })
    .join('')
    .trim();
}

function itemsOf(text: string): readonly Item[] {
  const items: Item[] = [];
  let at = 0;
  for (const value of findValues(text)) {
    pushWords(items, text.slice(at, value.start), at);
    items.push({ type: 'value', value, start: value.start, end: value.end });
    at = value.end;
  }
  pushWords(items, text.slice(at), at);
  return items;
}

function pushWords(items: Item[], text: string, offset: number): void {
  for (const match of text.matchAll(/[\p{L}\p{N}_]+(?:['’][\p{L}\p{N}_]+)*|[.!?;:,=\n]/gu)) {
    const [part] = match;
    const start = offset + match.index;
    if (/^[.!?;:,=\n]$/u.test(part)) items.push({ type: 'mark', text: part, start, end: start + part.length });
    else items.push({ type: 'word', ...toWord(part), start, end: start + part.length });
  }
}

/** How many items at `at` stand between two clauses; 0 when none begins there. */
function boundaryAt(items: readonly Item[], from: number, at: number, actions: ActionWords): number {
  const item = items[at];
  if (item === undefined || item.type === 'value') return 0;
  if (item.type === 'mark' && /[.!?;\n]/u.test(item.text)) return 1 + joinersAt(items, at + 1);
  const joiners = joinersAt(items, at);
  if (joiners === 0 || at === from) return 0;
  const words = items.slice(at, at + joiners);
  if (words.some((word) => word.type === 'word' && sequence.has(word.lower))) return joiners;
  return startsClause(items, at + joiners, actions) && says(items.slice(from, at)) ? joiners : 0;
}

const sequence: ReadonlySet<string> = new Set(['but', 'then', 'afterwards', 'finally', 'after']);
const joiners: ReadonlySet<string> = new Set(['and', 'but', 'then', 'also', 'afterwards', 'finally', 'next', 'please']);

function joinersAt(items: readonly Item[], at: number): number {
  let count = 0;
  for (let item = items[at]; item !== undefined; item = items[at + count]) {
    const next = items[at + count + 1];
    if (item.type === 'word' && item.lower === 'after' && next?.type === 'word' && next.lower === 'that') count += 2;
    else if (item.type === 'word' && joiners.has(item.lower)) count += 1;
    else if (item.type === 'mark' && item.text === ',') count += 1;
    else break;
  }
  return count;
}

// "and email addresses" goes on with a list of things, "and email them" begins something new.
const alsoThings: ReadonlySet<string> = new Set(
  'email mail message number count order name text list report file print note comment link total search result plan book copy stream tag label play work content statistics stats set record match display lock charge bill rank measure profile change estimate quote contents output log store'
    .split(' ')
    .map(stemOf),
);
const openers: ReadonlySet<string> = new Set(
  'the a an this that these those my our your its their both all every everything each it them to into in as with me'.split(
    ' ',
  ),
);

function startsClause(items: readonly Item[], at: number, actions: ActionWords): boolean {
  const [verb, next] = [items[at], items[at + 1]];
  if (verb?.type !== 'word' || isStopWord(verb.lower) || next === undefined || next.type === 'mark') return false;
  if (!isAction(verb.stem) && !actions.has(verb.stem)) return false;
  if (alsoThings.has(verb.stem) || !isAction(verb.stem)) return next.type === 'value' || openers.has(next.lower);
  return true;
}

function says(items: readonly Item[]): boolean {
  const telling = items.filter((item) => item.type === 'value' || (item.type === 'word' && !isStopWord(item.lower)));
  return (
    telling.length >= 2 ||
    (telling.length === 1 &&
      items.some((item) => item.type === 'word' && (pronouns.has(item.lower) || /^(?:both|each)$/u.test(item.lower))))
  );
}

const fillers: ReadonlySet<string> = new Set(
  (
    'please can could would will shall should might may you i we us me my boss asked want wants need to like hey hi hello ok okay well so kindly help ' +
    'go and now then also first next finally just let lets it is possible for this one here a job task do must able if wonder have has someone time'
  ).split(' '),
);
const articles: ReadonlySet<string> = new Set(
  'the a an my our your this that these those some any every each all no'.split(' '),
);

/** "Do not delete a.txt" asks for nothing, and least of all for that. */
function isNegated(items: readonly Item[]): boolean {
  const first = items.find((item) => item.type !== 'mark' && !(item.type === 'word' && fillers.has(item.lower)));
  return first?.type === 'word' && /^(?:not|never|don['’]?t|cannot|can['’]t|without)$/u.test(first.lower);
}

function findVerb(items: readonly Item[], actions: ActionWords, objects: ActionWords): Verb | undefined {
  const asked = findQuestion(items);
  if (asked !== undefined) return asked;
  for (const [index, item] of items.entries()) {
    if (item.type === 'mark') continue;
    if (item.type === 'value') return undefined;
    const before = items[index - 1];
    const named = before?.type === 'word' && articles.has(before.lower) && before.lower !== 'this';
    if (fillers.has(item.lower) || articles.has(item.lower)) continue;
    if (named) return undefined;
    const known = isAction(item.stem);
    if (known || actions.has(item.stem)) return { stem: item.stem, concepts: conceptsOf(item.stem), index };
    // An unknown first word is a verb when a thing follows it: "encrypt the archive", not "archive".
    const next = items[index + 1];
    const hasObject =
      next?.type === 'value' || (next?.type === 'word' && (articles.has(next.lower) || !isStopWord(next.lower)));
    return hasObject && !objects.has(item.stem) && !isStopWord(item.lower)
      ? { stem: item.stem, concepts: conceptsOf(item.stem), index }
      : undefined;
  }
  return undefined;
}

/** Questions name no verb where a command would: "how many" counts, "what does X say" reads. */
function findQuestion(items: readonly Item[]): Verb | undefined {
  const all = items.flatMap((item) => (item.type === 'word' ? [item.lower] : []));
  // "Please tell me which …" asks what "which …" does.
  const words = all.slice(
    Math.max(
      0,
      all.findIndex((word) => !fillers.has(word) && !/^(?:tell|know|show|see|out)$/u.test(word)),
    ),
  );
  const [first = '', second = ''] = words;
  const imply = (stem: string): Verb => ({ stem, concepts: conceptsOf(stem), index: -1 });
  if (first === 'how' && second === 'many') return imply('count');
  if ((first === 'what' || first === 'what’s' || first === "what's") && /^(?:does|do|is in|is inside)/u.test(second)) {
    return imply(words.some((word) => /^(?:say|contain|hold|read|look)/u.test(word)) ? 'read' : 'get');
  }
  const isFolder = items.some((item) =>
    item.type === 'value'
      ? /\/$/u.test(String(item.value.value))
      : item.type === 'word' && /^(?:folder|directory)$/u.test(item.lower),
  );
  if (first === 'what' && isFolder) return imply('list');
  if (/^what(?:['’]s| is) in(?:side)?\b/u.test(words.join(' '))) return imply('read');
  if (first === 'which' || (first === 'what' && second !== '' && !isStopWord(second))) return imply('list');
  if (/^(?:what|how|when|who|is|are|does)(?:['’]s)?$/u.test(first))
    return first === 'is' && second === 'it' ? undefined : imply('get');
  return first === 'where' ? imply('find') : undefined;
}

const pronouns: ReadonlySet<string> = new Set(['it', 'them', 'these', 'those', 'they', 'its', 'their']);
/** Words for what came before: "the findings". */
export const references: ReadonlySet<string> = new Set(
  'result results findings finding output outcome answer list summary matches hits report table everything'
    .split(' ')
    .map(stemOf),
);

function refersBack(items: readonly Item[]): boolean {
  return items.some((item, index) => {
    if (item.type !== 'word') return false;
    if (item.lower === 'everything') return true;
    if (pronouns.has(item.lower)) return item.lower !== 'it' || !isSubject(items, index);
    const next = items[index + 1];
    if (!/^(?:the|that|this|all|your)$/u.test(item.lower)) return false;
    return next === undefined || next.type !== 'word'
      ? /^(?:that|this)$/u.test(item.lower)
      : references.has(next.stem) ||
          (/^(?:that|this)$/u.test(item.lower) && /^(?:to|into|in|as|on)$/u.test(next.lower));
  });
}

/** "Is it possible to" speaks of nothing. */
function isSubject(items: readonly Item[], index: number): boolean {
  const before = items[index - 1];
  const next = items[index + 1];
  return (
    (before?.type === 'word' && before.lower === 'is') ||
    (next?.type === 'word' && /^(?:is|would|was|possible)$/u.test(next.lower))
  );
}
