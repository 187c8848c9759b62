import type { Json } from '@holdfast/core';
import { type Filling, fill } from './fill.ts';
import { type Parameter, readObjects } from './parameters.ts';
import { type Clause, references } from './reading.ts';
import { isPreposition } from './roles.ts';
import type { Profile } from './toolbox.ts';
import { isStopWord, splitName, stemOf } from './words.ts';

/** What a clause surely gives: plain words are taken only where the clause says what they are, as in "the city is paris". */
export function fillSurely(clause: Clause, profile: Profile): Filling {
  const filling = fill(profile.parameters, clause, profile);
  const given = new Map<Parameter, Json>();
  const used = new Set(filling.used);
  for (const [parameter, value] of filling.given) {
    const at = typeof value === 'string' && parameter.choices.length === 0 ? wordsAt(clause, value) : undefined;
    if (isNoText(value, parameter, clause, profile)) {
      for (const [index, item] of clause.items.entries())
        if (item.type === 'value' && String(item.value.value) === value) used.delete(index);
      continue;
    }
    if (at === undefined || isSaid(parameter, at, clause, profile)) given.set(parameter, value);
    else if (at !== undefined)
      for (let index = at; index < at + String(value).split(/\s+/u).length; index += 1) used.delete(index);
  }
  const missing = profile.parameters.filter((each) => each.isRequired && !given.has(each));
  return { ...filling, given, used, missing };
}

/** "The three files" are no text, nor is what stands beside one, as in "translate a.txt into Spanish", nor the place of one. */
function isNoText(
  value: Json,
  parameter: Parameter,
  { items, verb }: Clause,
  { roles, actionConcepts }: Profile,
): boolean {
  if (typeof value !== 'string' || !/^(?:text|content)$/u.test(roles.get(parameter) ?? '')) return false;
  const at = items.findIndex((item) => item.type === 'value' && String(item.value.value) === value);
  const [item, before] = [items[at], items[at - 1]];
  if (item?.type !== 'value') return false;
  if (item.value.kind === 'number') return true;
  if (isPlaceOfText(items, at)) return true;
  const isNamed = before?.type === 'word' && parameter.nameStems.includes(before.stem);
  const isLookedUp = actionConcepts.has('find') || actionConcepts.has('get');
  return item.value.kind === 'capital' && !isNamed && !isLookedUp && at !== (verb?.index ?? -1) + 1;
}

/** Of "the text of a.txt", which is what is in it. */
export function isPlaceOfText(items: Clause['items'], at: number): boolean {
  const [item, of, noun] = [items[at], items[at - 1], items[at - 2]];
  const isPlace = item?.type === 'value' && /^(?:path|url)$/u.test(item.value.kind);
  const isOf = of?.type === 'word' && of.lower === 'of';
  return isPlace && isOf && noun?.type === 'word' && /^(?:text|contents?|body|words)$/u.test(noun.lower);
}

/** Where the words of a value begin that is nothing but words. */
function wordsAt({ items }: Clause, value: string): number | undefined {
  if (items.some((item) => item.type === 'value' && item.value.value === value)) return undefined;
  const [first = ''] = value.split(/\s+/u);
  const at = items.findIndex((item) => item.type === 'word' && item.text === first);
  return at < 0 ? undefined : at;
}

function isSaid(parameter: Parameter, at: number, { items, verb }: Clause, profile: Profile): boolean {
  const first = items[at];
  // "The message of the summary" gives no message.
  if (first?.type === 'word' && (isPreposition(first.lower) || /^(?:and|or)$/u.test(first.lower))) return false;
  let before = at - 1;
  for (
    let item = items[before];
    item?.type === 'word' && /^(?:the|a|an|my|our|is|be|to)$/u.test(item.lower) && before > (verb?.index ?? -1) + 1;
    item = items[before]
  )
    before -= 1;
  const word = items[before];
  const lead = word?.type === 'word' ? word : undefined;
  const names = new Set([
    ...parameter.nameStems,
    ...(parameter.path.length > 1 ? splitName(parameter.path[0] ?? '').map(stemOf) : []),
  ]);
  const isCalled = /^(?:called|named|titled|saying|says|containing|that)$/u.test(lead?.lower ?? '');
  if (isCalled || (lead !== undefined && names.has(lead.stem)) || (word?.type === 'mark' && /^[:=]$/u.test(word.text)))
    return true;
  const after = items[at + 1];
  if (after?.type === 'word' && /^as$/u.test(after.lower)) return true;
  switch (profile.roles.get(parameter)) {
    case 'id':
      return false;
    case 'text':
      return (
        profile.actionConcepts.has('find') ||
        profile.actionConcepts.has('get') ||
        /^(?:about|for)$/u.test(lead?.lower ?? '')
      );
    case 'content':
    case 'neutral':
      return lead !== undefined && (isPreposition(lead.lower) || lead.stem === verb?.stem);
    default:
      return true;
  }
}

const narrowing =
  /^(?:only|except|excluding|excludes?|besides|apart|without|instead|rather|other|unless|unique|distinct|different|older|newer|longer|shorter|larger|smaller|bigger|fewer|less|least|recent|half|part|some)$/u;
const manners = /ly$|^(?:right|away|again|too|well|once|now|down|straight|ahead)$/u;

/**
 * A word that narrows what is asked for, and that no argument has taken: leaving it out would be more than was asked for.
 * `isStrict`: any word that the tool does not know does, as where something is deleted.
 */
export function findNarrowing(
  { items, verb }: Clause,
  { used }: Filling,
  { nameStems, descriptionStems, parameterStems }: Profile,
  isStrict: boolean,
): string | undefined {
  const found = items.find((item, at) => {
    if (item.type !== 'word' || used.has(at) || at === verb?.index) return false;
    if ([nameStems, descriptionStems, parameterStems].some((stems) => stems.has(item.stem))) return false;
    if (narrowing.test(item.lower)) return true;
    return (
      isStrict &&
      !isStopWord(item.lower) &&
      !isPreposition(item.lower) &&
      !manners.test(item.lower) &&
      !references.has(item.stem) &&
      !/^(?:files?|documents?|workspace|project|repository|thanks?)$/u.test(item.lower)
    );
  });
  return found?.type === 'word' ? found.text : undefined;
}

/** "Read all files in src" with a tool that reads one. */
export function wantsMany({ items }: Clause, { given }: Filling, { roles, objectStems }: Profile): boolean {
  const says = items.some((item, at) => {
    const before = items[at - 1];
    const isAll = before?.type === 'word' && /^(?:all|every|each|any)$/u.test(before.lower);
    return (
      item.type === 'word' &&
      isAll &&
      (/^(?:files?|documents?|pages?)$/u.test(item.lower) || objectStems.includes(item.stem))
    );
  });
  return (
    says &&
    [...given].some(
      ([parameter, value]) =>
        roles.get(parameter) === 'path' &&
        !parameter.isList &&
        !parameter.nameStems.some((stem) => folders.has(stem)) &&
        !/\.\w+$/u.test(String(value)),
    )
  );
}

const folders: ReadonlySet<string> = new Set(['folder', 'directory', 'dir'].map(stemOf));

/** Required arguments without a value; an object of which nothing is given, as a whole. */
export function wantsOf(profile: Profile, { given, missing }: Filling): readonly Parameter[] {
  const objects = readObjects(profile.tool.inputSchema).filter(
    ({ path: [name], isRequired }) => isRequired && ![...given.keys()].some(({ path }) => path[0] === name),
  );
  const whole = new Set(objects.map(({ path }) => path[0]));
  return [...missing.filter(({ path }) => !whole.has(path[0])), ...objects];
}
