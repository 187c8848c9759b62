import { conceptsOf } from './concepts.ts';
import { type Field, isWorkOf } from './plan-outputs.ts';
import { ancestorsOf, freshOf, isStored, lastOf, type Source, type Step } from './plan-step.ts';
import { type Clause, type Item, references } from './reading.ts';
import { isPreposition } from './roles.ts';
import type { Profile } from './toolbox.ts';

/** A piece of a clause that speaks of what earlier steps give. */
export interface Mention {
  /** A `pronoun` has to be made use of; a `noun` may be there by chance. */
  readonly type: 'pronoun' | 'noun' | 'value';
  readonly at: number;
  readonly sources: readonly Source[];
}

/** Whether a clause speaks of several things one by one: each of them gets a step of its own. */
export function isApart({ items }: Clause): boolean {
  return saysOneOf(items, /^(?:each|both|every|separately|individually)$/iu);
}

/** Whether it wants one thing of several. */
export function isTogether({ items }: Clause): boolean {
  return saysOneOf(items, /^(?:together|combined|jointly|overall)$/iu);
}

function saysOneOf(items: readonly Item[], pattern: RegExp): boolean {
  return items.some((item) => item.type === 'word' && pattern.test(item.text));
}

/** The clause without the words for "one by one" and "as one": they say nothing of the tool. */
export function withoutManner(clause: Clause): Clause {
  const items = clause.items.map(
    (item): Item =>
      item.type === 'word' && /^(?:together|combined|jointly|overall|separately|individually)$/u.test(item.lower)
        ? { ...item, lower: 'also', stem: 'also' }
        : item,
  );
  return { ...clause, items };
}

/** The words with which a clause speaks of earlier steps. `own`: stems of words that are the tool's own. */
export function findMentions(
  { items, verb }: Clause,
  own: readonly string[],
  steps: readonly Step[],
): readonly Mention[] {
  const found: Mention[] = [];
  for (const [at, item] of items.entries()) {
    if (item.type !== 'word' || at === verb?.index) continue;
    const mention = readPronoun(items, at, steps) ?? readNoun(items, at, own, steps);
    if (mention !== undefined && (mention.type === 'pronoun' || mention.sources.length > 0)) found.push(mention);
  }
  // "The row count" is one thing, and no row.
  const isPart = ({ type, at }: Mention): boolean => {
    const [word, next] = [items[at], found.find((other) => other.type === 'noun' && other.at === at + 1)];
    return (
      type === 'noun' &&
      word?.type === 'word' &&
      next?.sources.some(({ field }) => field?.stems.includes(word.stem)) === true
    );
  };
  // "Its link" and "the summary of it" say twice where to look: the noun says what.
  return found
    .filter((mention) => !isPart(mention))
    .filter(
      ({ type, at, sources }) =>
        type !== 'pronoun' ||
        !found.some(
          (other) => other.type === 'noun' && Math.abs(other.at - at) <= 3 && sameSteps(other.sources, sources),
        ),
    );
}

function readPronoun(items: readonly Item[], at: number, steps: readonly Step[]): Mention | undefined {
  const word = wordAt(items, at);
  const next = items[at + 1];
  const isFirst = false;
  const toSources = (some: readonly Step[]): readonly Source[] =>
    some.map((step) => ({ step, field: undefined, isFirst }));
  const fresh = freshOf(steps);
  switch (word) {
    case 'it':
    case 'its':
      // "Is it possible" speaks of nothing.
      if (wordAt(items, at - 1) === 'is' || /^(?:is|would|was)$/u.test(wordAt(items, at + 1))) return undefined;
      return { type: 'pronoun', at, sources: toSources(lastOf(steps, () => true)) };
    case 'this':
    case 'that':
      return next === undefined || next.type !== 'word' || isPreposition(next.lower) || /^(?:and|as)$/u.test(next.lower)
        ? { type: 'pronoun', at, sources: toSources(lastOf(steps, () => true)) }
        : undefined;
    case 'both': {
      const two = fresh.length === 2 ? fresh : lastOf(steps, (step) => !isStored(step));
      if (next?.type === 'value') return undefined;
      return { type: 'pronoun', at, sources: two.length === 2 ? toSources(two) : [] };
    }
    case 'each':
      return next?.type === 'value' || /^(?:of|file|page|text)$/u.test(wordAt(items, at + 1))
        ? undefined
        : { type: 'pronoun', at, sources: toSources(fresh) };
    case 'them':
    case 'these':
    case 'those':
    case 'they':
    case 'their':
    case 'everything':
      return { type: 'pronoun', at, sources: toSources(fresh.length > 0 ? fresh : lastOf(steps, () => true)) };
    default:
      return undefined;
  }
}

const determiners =
  /^(?:the|its|their|this|that|these|those|both|all|first|top|last|latest|each|any|whole|full|entire)$/u;

/** "The summary", "both pages", "the first result". */
function readNoun(
  items: readonly Item[],
  at: number,
  own: readonly string[],
  steps: readonly Step[],
): Mention | undefined {
  const item = items[at];
  if (item?.type !== 'word') return undefined;
  const before = leadingWords(items, at);
  if (!before.some((word) => determiners.test(word))) return undefined;
  const isFirst = before.some((word) => /^(?:first|top)$/u.test(word));
  if (own.includes(item.stem) && !isFirst) return undefined;
  const isPlural = /s$/u.test(item.lower) && item.lower !== item.stem;
  const toMention = (some: readonly Step[], fieldOf: (step: Step) => Field | undefined): Mention => ({
    type: 'noun',
    at,
    sources: some.map((step) => ({ step, field: isFirst ? undefined : fieldOf(step), isFirst })),
  });
  const choose = (fits: (step: Step) => boolean): readonly Step[] => {
    const fresh = isPlural ? freshOf(steps).filter(fits) : [];
    return fresh.length > 1 ? fresh : lastOf(steps, fits);
  };
  const fieldOf = (step: Step): Field | undefined => namedField(item.stem, step);
  const withField = choose((step) => fieldOf(step) !== undefined);
  if (withField.length > 0) return toMention(withField, fieldOf);
  const working = choose((step) => !isStored(step) && isWorkOf(item.stem, step.profile));
  if (working.length > 0) return toMention(working, () => undefined);
  const about = choose((step) => !isStored(step) && isAbout(item.stem, step.profile));
  if (about.length > 0) return toMention(about, () => undefined);
  if (!references.has(item.stem)) return undefined;
  const fresh = freshOf(steps);
  return toMention(isPlural && fresh.length > 0 ? fresh : lastOf(steps, (step) => !isStored(step)), () => undefined);
}

/** Up to three words before a noun, as long as they could belong to it. */
function leadingWords(items: readonly Item[], at: number): readonly string[] {
  const words: string[] = [];
  for (let before = at - 1; before >= Math.max(0, at - 3); before -= 1) {
    const item = items[before];
    if (item?.type !== 'word' || isPreposition(item.lower) || item.lower === 'and') break;
    words.push(item.lower);
    if (/^(?:the|its|their|these|those)$/u.test(item.lower)) break;
  }
  return words;
}

function namedField(stem: string, { outputs: { fields } }: Step): Field | undefined {
  const whole = fields.filter(({ stems }) => stems.length === 1 && stems[0] === stem);
  if (whole.length === 1) return whole[0];
  const last = fields.filter(({ stems }) => stems.at(-1) === stem);
  return whole.length === 0 && last.length === 1 ? last[0] : undefined;
}

/** "The page" is what a tool that fetches pages gives. */
function isAbout(stem: string, { objectStems, descriptionStems }: Profile): boolean {
  if (objectStems.includes(stem)) return true;
  const things = [...conceptsOf(stem)].filter((concept) => concept.endsWith('(thing)'));
  return (
    things.length > 0 &&
    ([...descriptionStems].includes(stem) ||
      objectStems.some((object) => things.some((thing) => conceptsOf(object).has(thing))))
  );
}

function sameSteps(left: readonly Source[], right: readonly Source[]): boolean {
  return left.every(({ step }) => right.some((other) => other.step.id === step.id)) && left.length > 0;
}

function wordAt(items: readonly Item[], at: number): string {
  const item = items[at];
  return item?.type === 'word' ? item.lower : '';
}

/** "The text of a.txt" speaks of one thing, in two ways. `undefined`: the two do not meet. */
export function joinMentions(
  mentions: readonly Mention[],
  { items }: Clause,
  steps: readonly Step[],
): readonly Mention[] | undefined {
  const joined: Mention[] = [];
  for (const mention of mentions) {
    const noun = joined.at(-1);
    const [from, to] = [(noun?.at ?? 0) + 1, mention.at];
    const isOf = to - from >= 1 && to - from <= 2 && /^(?:of|in|from)$/u.test(wordAt(items, from));
    if (mention.type !== 'value' || noun?.type !== 'noun' || !isOf) {
      joined.push(mention);
      continue;
    }
    const met = meet(noun, mention, items, steps);
    if (met === undefined) return undefined;
    joined[joined.length - 1] = { ...mention, sources: met };
  }
  return joined;
}

function meet(
  noun: Mention,
  { sources }: Mention,
  items: readonly Item[],
  steps: readonly Step[],
): readonly Source[] | undefined {
  const item = items[noun.at];
  const stem = item?.type === 'word' ? item.stem : '';
  const fields = sources.map(({ step }): Source => ({ step, field: namedField(stem, step), isFirst: false }));
  if (fields.every(({ field }) => field !== undefined)) return fields;
  const above = new Set(sources.map(({ step }) => step.id));
  const made = noun.sources.filter(({ step }) => [...ancestorsOf(step.id, steps)].some((id) => above.has(id)));
  return made.length === sources.length ? made : undefined;
}

/** Of "the row count", both words. */
function placesOf({ at, sources }: Mention, { items }: Clause): readonly number[] {
  const before = items[at - 1];
  const isPart = before?.type === 'word' && sources.some(({ field }) => field?.stems.includes(before.stem) === true);
  return isPart ? [at - 1, at] : [at];
}

/** The clause with words for earlier results in place of what is mentioned, so that nothing there is taken as it stands. */
export function withoutMentions(clause: Clause, mentions: readonly Mention[]): Clause {
  const at = new Set(mentions.flatMap((mention) => (mention.type === 'noun' ? placesOf(mention, clause) : [])));
  if (at.size === 0) return clause;
  const items = clause.items.map(
    (item, index): Item =>
      at.has(index) && item.type === 'word' ? { ...item, text: 'it', lower: 'it', stem: 'it' } : item,
  );
  return { ...clause, items, refersBack: true };
}
