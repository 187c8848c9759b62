import type { Clause, Item } from './reading.ts';
import { isPreposition } from './roles.ts';
import { timeUnitOf } from './units.ts';
import type { Value } from './values.ts';
import { isStopWord, stemOf } from './words.ts';

/** A value or a run of words that could become an argument: items `from` (inclusive) to `to` (exclusive). */
export interface Span extends Value {
  readonly from: number;
  readonly to: number;
  /** Directly behind the verb: "search the word", not "in the word". */
  readonly isObject: boolean;
}

/**
 * Everything in a clause that could become an argument: its values, and the words after a preposition, a colon, "is", or
 * the name of a parameter or of the `things` that the tool is about. `names` are the stems of all parameters' names, which end a phrase.
 */
export function findSpans(clause: Clause, names: ReadonlySet<string>, things: readonly string[]): readonly Span[] {
  const { items, verb } = clause;
  const spans: Span[] = [];
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at];
    if (item === undefined) continue;
    const before = items[at - 1];
    if (item.type === 'value') {
      spans.push({ ...item.value, from: at, to: at + 1, isObject: verb !== undefined && at === verb.index + 1 });
      continue;
    }
    const isObject = verb !== undefined && before !== undefined && at === verb.index + 1;
    const isNamed = before?.type === 'word' && things.includes(before.stem);
    if (item.type === 'word' && (isObject || isNamed || introduces(before, names))) {
      const span = phraseAt(clause, at, { names, things }, isObject);
      if (span !== undefined) spans.push(span);
    }
  }
  return spans;
}

const links: ReadonlySet<string> = new Set([
  'is',
  'are',
  'equals',
  'as',
  'be',
  'over',
  'word',
  'phrase',
  'text',
  'term',
  'string',
]);

function introduces(before: Item | undefined, names: ReadonlySet<string>): boolean {
  if (before === undefined) return false;
  // "100 dollars": what is counted can be an argument of its own.
  if (before.type === 'value')
    return before.value.kind === 'number' && timeUnitOf([stemOf(before.value.unit ?? '')]) === undefined;
  if (before.type === 'mark') return before.text === ':' || before.text === '=';
  return isPreposition(before.lower) || links.has(before.lower) || names.has(before.stem);
}

const enders: ReadonlySet<string> = new Set(
  'and or is are as please now then where so but through via over than set thanks if when while not without it them'.split(
    ' ',
  ),
);
const articles: ReadonlySet<string> = new Set(
  'the a an my our your their its his her this that these those some any all every'.split(' '),
);
// They stand for the whole workspace, or for what came before, and are never the value itself.
const nothing: ReadonlySet<string> = new Set(
  'file files document documents folder folders directory project workspace repository repo source sources code codebase everything result results finding findings output outcome list them here me us once total'
    .split(' ')
    .map(stemOf),
);

function phraseAt(
  { items, source }: Clause,
  start: number,
  { names, things }: { readonly names: ReadonlySet<string>; readonly things: readonly string[] },
  isObject: boolean,
): Span | undefined {
  const isSpeech = !isObject && opensSpeech(items, start - 1, names);
  let from = start;
  if (!isSpeech) {
    while (
      articles.has(wordAt(items, from)) ||
      (/^(?:word|phrase|term|string)$/u.test(wordAt(items, from)) && !endsPhrase(items, from + 1))
    )
      from += 1;
  }
  let to = from;
  while (
    isSpeech ? !endsSpeech(items, to, names) : !endsPhrase(items, to) && !(to > from && names.has(stemAt(items, to)))
  )
    to += 1;
  // "Turn off the bedroom light": the light is what the tool is about, not a part of the room's name.
  while (!isSpeech && to - from > 1 && things.includes(stemAt(items, to - 1))) to -= 1;
  const words = items.slice(from, to).flatMap((item) => (item.type === 'word' ? [item] : []));
  const [first, last] = [items[from], items[to - 1]];
  if (first?.type !== 'word' || words.length === 0) return undefined;
  const before = items[start - 1];
  const isStated = before?.type === 'mark' || isSpeech;
  const says = (stem: string, lower: string): boolean =>
    !nothing.has(stem) && (isStated || !isStopWord(lower)) && !names.has(stem);
  if (!words.some((word) => says(word.stem, word.lower))) return undefined;
  const kind = words.length === 1 && from === start && !isObject ? 'bare' : 'phrase';
  const end = last?.end ?? first.end;
  return { kind, value: source.slice(first.start, end), from, to, isObject };
}

function endsPhrase(items: readonly Item[], at: number): boolean {
  const word = wordAt(items, at);
  return word === '' || isPreposition(word) || enders.has(word) || articles.has(word);
}

const speech: ReadonlySet<string> = new Set(
  'text message body content contents subject title comment note caption headline description phrase summary'
    .split(' ')
    .map(stemOf),
);

/** Whether what follows is free text: after "saying", or after "text:" and the like. */
function opensSpeech(items: readonly Item[], at: number, names: ReadonlySet<string>): boolean {
  const before = items[at];
  if (before?.type === 'mark')
    return before.text === ':' || before.text === '=' ? opensSpeech(items, at - 1, names) : false;
  if (before?.type !== 'word') return false;
  const takesText =
    names.has(stemOf('content')) || names.has('body') || names.has('text') || names.has(stemOf('message'));
  if (before.lower === 'that')
    return takesText && items[at - 1]?.type === 'word' && !isPreposition(wordAt(items, at - 1));
  if (/^contain(?:ing|s)$/u.test(before.lower)) return takesText;
  return (
    /^(?:saying|says|reading)$/u.test(before.lower) ||
    (before.lower === 'is' ? opensSpeech(items, at - 1, names) : speech.has(before.stem))
  );
}

/** Free text goes on over prepositions, up to a mark, another parameter's name, or a place that it is for. */
function endsSpeech(items: readonly Item[], at: number, names: ReadonlySet<string>): boolean {
  const item = items[at];
  if (item === undefined || (item.type === 'mark' && item.text !== ',')) return true;
  if (item.type === 'value') return /^(?:path|email|quoted)$/u.test(item.value.kind);
  if (item.type === 'mark' || isPreposition(item.lower) || item.lower === 'and' || item.lower === 'set') {
    let next = at + 1;
    while (articles.has(wordAt(items, next)) || wordAt(items, next) === 'and') next += 1;
    const target = items[next];
    if (target === undefined || (target.type === 'word' && names.has(target.stem))) return true;
    return target.type === 'value' && /^(?:path|email|quoted)$/u.test(target.value.kind);
  }
  return item.lower === 'please' && items[at + 1] === undefined;
}

function stemAt(items: readonly Item[], at: number): string {
  const item = items[at];
  return item?.type === 'word' ? item.stem : '';
}

function wordAt(items: readonly Item[], at: number): string {
  const item = items[at];
  return item?.type === 'word' ? item.lower : '';
}
