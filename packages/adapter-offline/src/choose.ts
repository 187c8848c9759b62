import { conceptsOf, isDestructive, isLooking, isStoring, shareConcept } from './concepts.ts';
import { type Filling, fill } from './fill.ts';
import type { Clause, Item } from './reading.ts';
import { isPreposition } from './roles.ts';
import type { Profile, Toolbox } from './toolbox.ts';
import { isStopWord, splitName, stemOf } from './words.ts';

/** A tool with what the clause gives for it. */
export interface Choice {
  readonly profile: Profile;
  readonly filling: Filling;
  readonly score: number;
}

export interface ChooseOptions {
  /** Which tools may be taken; default all. */
  readonly accept?: (profile: Profile) => boolean;
}

/**
 * The tool that a clause asks for, or `undefined` when none fits. A tool fits when what it does and what it does it to
 * are both in the request, in these words or in others of like meaning, or when its arguments explain the words that are left.
 */
export function choose(
  clause: Clause,
  toolbox: Toolbox,
  { accept = () => true }: ChooseOptions = {},
): Choice | undefined {
  const telling = tellingWords(clause);
  const first = toolbox.profiles
    .filter(accept)
    .map((profile) => ({ profile, relevance: relevanceOf(clause, telling, profile, toolbox) }))
    .filter(({ relevance }) => relevance > 0)
    .sort((left, right) => right.relevance - left.relevance)
    .slice(0, maxCandidates);
  let best: Choice | undefined;
  for (const { profile, relevance } of first) {
    const filling = fill(profile.parameters, clause, profile.nameStems);
    const score = fits(clause, telling, profile, filling, toolbox) ? scoreOf(relevance, clause, profile, filling) : 0;
    if (score > minScore && (best === undefined || score > best.score)) best = { profile, filling, score };
  }
  return best;
}

const maxCandidates = 12;
const minScore = 1;

interface TellingWord {
  readonly stem: string;
  readonly concepts: ReadonlySet<string>;
  /** The item that it stands in. */
  readonly index: number;
  /** A word that the looks of a value imply: a path implies a file. */
  readonly isImplied: boolean;
}

function tellingWords({ items, verb }: Clause): readonly TellingWord[] {
  return items.flatMap((item, index) => {
    if (item.type === 'mark' || index === verb?.index) return [];
    if (item.type === 'value') return wordsOfValue(item, index);
    return isStopWord(item.lower)
      ? []
      : [{ stem: item.stem, concepts: conceptsOf(item.stem), index, isImplied: false }];
  });
}

const impliedByKind: Readonly<Record<string, string>> = {
  path: 'file',
  glob: 'file pattern',
  url: 'url',
  email: 'mail',
  quoted: 'text',
  code: 'text',
};

function wordsOfValue({ value }: Item & { type: 'value' }, index: number): readonly TellingWord[] {
  const raw = String(value.value);
  const implied = Object.hasOwn(impliedByKind, value.kind) ? (impliedByKind[value.kind] ?? '').split(' ') : [];
  if (value.kind === 'path') implied.push(...(/\.([a-z0-9]+)$/iu.exec(raw)?.slice(1) ?? []));
  const said = value.kind === 'capital' || value.kind === 'code' ? splitName(raw) : [];
  const words = (list: readonly string[], isImplied: boolean): readonly TellingWord[] =>
    list.map(stemOf).map((stem) => ({ stem, concepts: conceptsOf(stem), index, isImplied }));
  return [...words(implied, true), ...words(said, false)];
}

function relevanceOf(clause: Clause, telling: readonly TellingWord[], profile: Profile, toolbox: Toolbox): number {
  let sum = verbMatch(clause, profile) * 3;
  const seen = new Set<string>();
  for (const { stem, concepts, isImplied } of telling) {
    if (seen.has(stem)) continue;
    seen.add(stem);
    sum += strength(stem, concepts, profile, toolbox) * (isImplied ? 0.35 : 1);
  }
  return sum;
}

/** How strongly a word points at a tool: its name before its description, its description before its parameters. */
function strength(stem: string, concepts: ReadonlySet<string>, profile: Profile, { weightOf }: Toolbox): number {
  const weight = weightOf(stem);
  if (profile.nameStems.has(stem)) return 3 * weight;
  const like =
    concepts.size === 0 ? undefined : profile.objectStems.find((each) => shareThing(concepts, conceptsOf(each)));
  if (like !== undefined) return 2.2 * weightOf(like);
  if (profile.descriptionStems.has(stem)) return 1.4 * weight;
  if (profile.parameterStems.has(stem)) return 1;
  if (profile.detailStems.has(stem)) return 0.6;
  if (concepts.size > 0 && [...profile.descriptionStems].some((each) => shareThing(concepts, conceptsOf(each))))
    return 0.8;
  return 0;
}

function shareThing(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  for (const concept of left) if (concept.endsWith('(thing)') && right.has(concept)) return true;
  return false;
}

/** 1 for the tool's own verb, less for one of like meaning, 0.2 for a verb that fits everything, 0 for another. */
function verbMatch(
  { verb, items }: Clause,
  { actionStems, actionConcepts, descriptionStems, nameStems }: Profile,
): number {
  if (verb === undefined) {
    // "Add the flag" and "weather for Oslo": without a verb the things decide; a verb anywhere still helps.
    return items.some((item) => item.type === 'word' && actionStems.has(item.stem)) ? 0.6 : 0;
  }
  if (actionStems.has(verb.stem)) return 1;
  if (shareConcept(verb.concepts, actionConcepts)) return 0.8;
  if (nameStems.has(verb.stem)) return 0.8;
  return descriptionStems.has(verb.stem) ? 0.4 : 0;
}

function fits(
  clause: Clause,
  telling: readonly TellingWord[],
  profile: Profile,
  filling: Filling,
  toolbox: Toolbox,
): boolean {
  const { verb } = clause;
  const matched = verbMatch(clause, profile);
  if (isDestructive(profile.actionConcepts) && matched < 0.8) return false;
  if (verb !== undefined && verb.index < 0 && isStoring(profile.actionConcepts) && !isLooking(profile.actionConcepts))
    return false;
  if (verb !== undefined && verb.index >= 0 && matched === 0) return false;
  const knows = (word: TellingWord): boolean => strength(word.stem, word.concepts, profile, toolbox) > 0;
  const isExplained = (word: TellingWord): boolean => filling.used.has(word.index) || knows(word);
  // What the clause is about, and what the tool is about, must have met.
  const object = telling.filter((word) => !word.isImplied && isObjectOf(clause, word.index));
  if (object.length > 0 && !object.some(isExplained)) return false;
  const isAbout = (word: TellingWord): boolean =>
    profile.nameStems.has(word.stem) ||
    profile.objectStems.some((stem) => shareThing(word.concepts, conceptsOf(stem))) ||
    profile.descriptionStems.has(word.stem);
  if (telling.some(isAbout)) return true;
  if (clause.refersBack && matched >= 0.8) return true;
  return (
    matched >= 0.8 &&
    (profile.objectStems.length === 0 || filling.used.size > 0) &&
    telling.every((word) => word.isImplied || isExplained(word))
  );
}

/** Whether the item belongs to what stands directly behind the verb. */
function isObjectOf({ items, verb }: Clause, index: number): boolean {
  if (verb === undefined || index <= verb.index) return verb === undefined;
  return items
    .slice(verb.index + 1, index + 1)
    .every((item, at) =>
      item.type === 'word'
        ? !isPreposition(item.lower) || at === 0
        : item.type === 'value' && verb.index + 1 + at === index,
    );
}

function scoreOf(relevance: number, clause: Clause, profile: Profile, filling: Filling): number {
  const missing = filling.missing.length * (clause.refersBack ? 0.25 : 0.6);
  const unused = clause.items.filter(
    (item, index) => item.type === 'value' && !filling.used.has(index) && !isNamed(item, profile),
  ).length;
  const used = [...filling.used].filter((index) => clause.items[index]?.type === 'value').length;
  return relevance - missing - unused * 0.7 + used * 0.7;
}

function isNamed(item: Item, { nameStems, descriptionStems }: Profile): boolean {
  return (
    item.type === 'value' &&
    splitName(String(item.value.value)).some(
      (word) => nameStems.has(stemOf(word)) || descriptionStems.has(stemOf(word)),
    )
  );
}
