import { conceptsOf, isDestructive, isLooking, isStoring, shareConcept } from './concepts.ts';
import { type Filling, fill } from './fill.ts';
import type { Parameter } from './parameters.ts';
import { type Clause, type Item, references } from './reading.ts';
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
  /** Words for what the clause refers back to, e.g. `csv` for "it" after a CSV file was read. */
  readonly about?: readonly string[];
}

/**
 * The tool that a clause asks for, or `undefined` when none fits. A tool fits when what it does and what it does it to
 * are both in the request, in these words or in others of like meaning, or when its arguments explain the words that are left.
 */
export function choose(
  clause: Clause,
  toolbox: Toolbox,
  { accept = () => true, about = [] }: ChooseOptions = {},
): Choice | undefined {
  const telling = [...tellingWords(clause), ...(clause.refersBack ? toImplied(about, -1) : [])];
  const first = toolbox.profiles
    .filter(accept)
    .map((profile) => ({ profile, relevance: relevanceOf(clause, telling, profile, toolbox) }))
    .filter(({ relevance }) => relevance > 0)
    .sort((left, right) => right.relevance - left.relevance)
    .slice(0, maxCandidates);
  let best: Choice | undefined;
  for (const { profile, relevance } of first) {
    const filling = fill(profile.parameters, clause, profile);
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

function tellingWords({ items, verb, refersBack }: Clause): readonly TellingWord[] {
  return items.flatMap((item, index) => {
    if (item.type === 'mark' || index === verb?.index) return [];
    // "Tell me what …": the question says what is wanted.
    if (item.type === 'word' && verb?.index === -1 && /^(?:tell|know|show|see)$/u.test(item.lower)) return [];
    if (item.type === 'value') return wordsOfValue(item, index);
    return isStopWord(item.lower) || (refersBack && references.has(item.stem))
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
  formula: 'calculate expression',
};

function wordsOfValue({ value }: Item & { type: 'value' }, index: number): readonly TellingWord[] {
  const raw = String(value.value);
  const implied = Object.hasOwn(impliedByKind, value.kind) ? (impliedByKind[value.kind] ?? '').split(' ') : [];
  if (value.kind === 'path') implied.push(...(/\.([a-z0-9]+)$/iu.exec(raw)?.slice(1) ?? []));
  const said = value.kind === 'capital' || value.kind === 'code' ? splitName(raw) : [];
  return [...toImplied(implied, index), ...toImplied(said, index).map((word) => ({ ...word, isImplied: false }))];
}

function toImplied(words: readonly string[], index: number): readonly TellingWord[] {
  return words.map(stemOf).map((stem) => ({ stem, concepts: conceptsOf(stem), index, isImplied: true }));
}

function relevanceOf(clause: Clause, telling: readonly TellingWord[], profile: Profile, toolbox: Toolbox): number {
  let sum = verbMatch(clause, profile) * 3;
  if (clause.verb !== undefined && shareAnyThing(clause.verb.concepts, profile)) sum += 2;
  const seen = new Set<string>();
  for (const { stem, concepts, isImplied } of telling) {
    if (seen.has(stem)) continue;
    seen.add(stem);
    // The ending of a file says as much as a word, that it is a file only little.
    sum += strength(stem, concepts, profile, toolbox) * (isImplied ? (endings.has(stem) ? 0.5 : 0.35) : 1);
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
  if (concepts.size > 0 && shareThing(concepts, profile.descriptionThings)) return 0.8;
  return 0;
}

/** "Email it" says with what as well. */
function shareAnyThing(concepts: ReadonlySet<string>, { objectStems }: Profile): boolean {
  return objectStems.some((stem) => shareThing(concepts, conceptsOf(stem)));
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
  // "Give me statistics" and "a summary of it": the noun says what is to be done.
  const isNamed = items.some(
    (item) =>
      item.type === 'word' &&
      (actionStems.has(item.stem) ||
        (isLooking(actionConcepts) && shareConcept(conceptsOf(item.stem), actionConcepts))),
  );
  if (verb === undefined) return isNamed ? 0.6 : 0;
  if (actionStems.has(verb.stem)) return 1;
  if (shareConcept(verb.concepts, actionConcepts)) return 0.8;
  if (nameStems.has(verb.stem)) return 0.8;
  if (shareConcept(verb.concepts, browsing) && shareConcept(actionConcepts, browsing)) return 0.5;
  if (
    verb.concepts.has('get') &&
    items.some(
      (item, index) =>
        index !== verb.index &&
        item.type === 'word' &&
        isLooking(actionConcepts) &&
        shareConcept(conceptsOf(item.stem), actionConcepts),
    )
  )
    return 0.6;
  return descriptionStems.has(verb.stem) ? 0.4 : 0;
}

// "Find the tasks" and "list the tasks" ask for the same.
const browsing: ReadonlySet<string> = new Set(['list', 'find', 'get', 'read']);

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
  if (wantsOtherFile(telling, profile)) return false;
  const knows = (word: TellingWord): boolean =>
    strength(word.stem, word.concepts, profile, toolbox) > 0 || shareConcept(word.concepts, profile.actionConcepts);
  const isExplained = (word: TellingWord): boolean => filling.used.has(word.index) || knows(word);
  // What the clause is about, and what the tool is about, must have met.
  const object = telling.filter((word) => !word.isImplied && isObjectOf(clause, word.index));
  const isStored =
    isStoring(profile.actionConcepts) && matched >= 0.8 && filling.missing.some((each) => isContent(each, profile));
  // What is to be stored may be anything: "write a list of tasks to a.md".
  if (object.length > 0 && !object.some(isExplained) && !isStored) return false;
  const isAbout = (word: TellingWord): boolean =>
    profile.nameStems.has(word.stem) ||
    profile.objectStems.some((stem) => shareThing(word.concepts, conceptsOf(stem))) ||
    profile.descriptionStems.has(word.stem);
  if (telling.some(isAbout)) return true;
  // "List the TODO comments" with nothing but a search at hand is a search for TODO.
  const marked = [...filling.used].some((index) => isMarked(clause.items[index]));
  if (
    marked &&
    matched >= 0.5 &&
    profile.actionConcepts.has('find') &&
    verb !== undefined &&
    shareConcept(verb.concepts, browsing)
  )
    return true;
  const isGiven = [...filling.used].some((index) => clause.items[index]?.type === 'value');
  const isSearch = verb?.concepts.has('find') === true && profile.actionConcepts.has('find') && filling.used.size > 0;
  if (matched < 0.8 || !(profile.objectStems.length === 0 || isGiven || isSearch)) return false;
  // "Add 12 and 30" says no more than the verb and the numbers; a question says not even that.
  const isCommand = verb !== undefined && verb.index >= 0 && filling.missing.length === 0;
  return (telling.length > 0 || isCommand) && telling.every((word) => word.isImplied || isExplained(word));
}

function isMarked(item: Item | undefined): boolean {
  if (item?.type !== 'value') return false;
  const { kind, value } = item.value;
  return kind === 'quoted' || kind === 'code' || (kind === 'capital' && /^\p{Lu}{2,}s?$/u.test(String(value)));
}

const endings: ReadonlySet<string> = new Set('csv json yaml xml html pdf md txt toml png jpg'.split(' '));

/** A tool for one kind of file has nothing to say about another kind. */
function wantsOtherFile(telling: readonly TellingWord[], { objectStems }: Profile): boolean {
  const wanted = objectStems.filter((stem) => endings.has(stem));
  const there = telling.filter((word) => word.isImplied && endings.has(word.stem));
  return wanted.length > 0 && there.length > 0 && !there.some((word) => wanted.includes(word.stem));
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
  const missing = filling.missing.filter((each) => !isContent(each, profile)).length * (clause.refersBack ? 0.25 : 2.5);
  const unused = clause.items.filter(
    (item, index) => item.type === 'value' && !filling.used.has(index) && !isNamed(item, profile),
  ).length;
  const used = [...filling.used].filter((index) => clause.items[index]?.type === 'value').length;
  const filled = profile.parameters.filter((each) => each.isRequired && filling.given.has(each)).length;
  return relevance + filled * 0.5 + filling.quality * 0.05 - missing - unused * 0.7 + used * 0.7;
}

/** Whether a value only says which tool is meant. */
export function isNamed(item: Item, { nameStems, descriptionStems }: Profile): boolean {
  return (
    item.type === 'value' &&
    splitName(String(item.value.value)).some(
      (word) => nameStems.has(stemOf(word)) || descriptionStems.has(stemOf(word)),
    )
  );
}

/** Whether an argument is the text that is stored or sent. */
export function isContent(parameter: Parameter, profile: Profile): boolean {
  const isText = parameter.type === 'string' && !parameter.isList && parameter.choices.length === 0;
  return isText && profile.roles.get(parameter) === 'content';
}
