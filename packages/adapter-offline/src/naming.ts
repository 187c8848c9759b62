import { conceptsOf, shareConcept } from './concepts.ts';
import type { Item } from './reading.ts';
import { stemOf } from './words.ts';

/** Where a request names a parameter beside a value, and how surely. */
export interface Naming {
  /** 0 when it does not; from 5 for a word of like meaning to 14 for the whole name directly before the value. */
  readonly bonus: number;
  readonly indexes: readonly number[];
}

const unnamed: Naming = { bonus: 0, indexes: [] };
const skipped: ReadonlySet<string> = new Set([
  'is',
  'are',
  'be',
  'to',
  'of',
  'as',
  'the',
  'a',
  'an',
  'my',
  'called',
  'named',
  'equals',
  '=',
  ':',
  'for',
]);

/** Looks for the words of a parameter's name before a value ("year is 1954", "to Bob") and behind it ("68 calories", "X as the title"). */
export function nameBonus(
  nameStems: readonly string[],
  items: readonly Item[],
  span: { readonly from: number; readonly to: number },
): Naming {
  const before = namedBefore(nameStems, items, span.from);
  const after = namedAfter(nameStems, items, span.to);
  return after.bonus > before.bonus ? after : before;
}

function namedBefore(nameStems: readonly string[], items: readonly Item[], from: number): Naming {
  for (let at = from - 1; at >= Math.max(0, from - 4); at -= 1) {
    const item = items[at];
    if (item === undefined || item.type === 'value') return unnamed;
    const found = item.type === 'word' ? matchEndingAt(nameStems, items, at) : 0;
    if (found > 0) return naming(nameStems, found, at - Math.floor(found) + 1, at, 14 - (from - at) * 0.1);
    if (!skipped.has(item.type === 'word' ? item.lower : item.text)) return unnamed;
  }
  return unnamed;
}

function namedAfter(nameStems: readonly string[], items: readonly Item[], to: number): Naming {
  let at = to;
  let isExplicit = false;
  for (let item = items[at]; item?.type === 'word' && /^(?:as|the|its|my|for|a)$/u.test(item.lower); item = items[at]) {
    isExplicit ||= item.lower === 'as';
    at += 1;
  }
  if (at > to && !isExplicit) return unnamed;
  for (let length = nameStems.length; length >= 1; length -= 1) {
    const found = matchEndingAt(nameStems, items, at + length - 1);
    // What a link follows is the name of the next value: "93 height is 5".
    const next = items[at + length];
    const isNext = next !== undefined && (next.type === 'value' || /^(?:is|=|:|to|set)$/u.test(next.text));
    if (found >= length) return naming(nameStems, found, at, at + length - 1, isExplicit ? 13.5 : isNext ? 8 : 12);
  }
  return unnamed;
}

function naming(nameStems: readonly string[], found: number, first: number, last: number, whole: number): Naming {
  const indexes = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  if (found < 1) return { bonus: 5, indexes: [last] };
  return { bonus: found >= nameStems.length ? whole : 7, indexes };
}

/** How many words of the name end at `at`, the last word of the name last; 0.5 for a word of like meaning. */
function matchEndingAt(nameStems: readonly string[], items: readonly Item[], at: number): number {
  let found = 0;
  while (found < nameStems.length && stemAt(items, at - found) === nameStems.at(-1 - found)) found += 1;
  if (found > 0 || nameStems.length === 0) return found;
  const stem = stemAt(items, at);
  // A part of a longer name: "title" for `new_title_text`.
  if (nameStems.length > 1 && stem !== '' && nameStems.includes(stem) && stem.length > 3) return 0.9;
  return stem !== '' && shareConcept(thingsOf(stem), thingsOf(nameStems.at(-1) ?? '')) ? 0.5 : 0;
}

function thingsOf(stem: string): ReadonlySet<string> {
  return new Set([...conceptsOf(stem)].filter((concept) => concept.endsWith('(thing)')));
}

function stemAt(items: readonly Item[], at: number): string {
  const item = items[at];
  if (item?.type === 'word') return item.stem;
  return item?.type === 'value' && item.value.kind === 'capital' ? stemOf(String(item.value.value)) : '';
}
