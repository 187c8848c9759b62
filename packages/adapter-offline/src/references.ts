import { isPlainObject, type Json, type JsonObject } from '@holdfast/core';
import { type Chapter, composeDocument } from './compose.ts';
import type { Parameter } from './parameters.ts';
import { type Clause, type Item, textOf } from './reading.ts';
import { pathsIn } from './results.ts';
import { isPreposition, type Role } from './roles.ts';
import { splitName, stemOf } from './words.ts';

/** The argument that an earlier result gives: by its own name, as the only path, or as the only value there is. */
export function referTo(parameter: Parameter, role: Role, clause: Clause, known: readonly Chapter[]): Json | undefined {
  const last = known.at(-1);
  if (last === undefined || parameter.isList) return undefined;
  const { value } = last.finding;
  const isNamed = parameter.nameStems.every((stem) =>
    clause.items.some((item) => item.type === 'word' && item.stem === stem),
  );
  if (isPlainObject(value) && (clause.refersBack || isNamed)) {
    const entries = Object.entries(value as JsonObject).filter(([, each]) => typeof each !== 'object');
    const same = entries.find(([key]) => sameWords(splitName(key).map(stemOf), parameter.nameStems));
    const [only] = entries.length === 1 ? entries : [];
    const found = (same ?? only)?.[1];
    if (found !== undefined && suits(parameter, found)) return found;
  }
  if (!clause.refersBack) return undefined;
  if (role === 'path') return pathsIn(value)[0] ?? pathsIn(last.finding.arguments)[0];
  if ((role === 'text' || role === 'neutral') && parameter.type === 'string' && parameter.choices.length === 0) {
    if (parameter.nameStems.some((stem) => titles.has(stem))) return known[0]?.title;
    return typeof value === 'string' ? value : undefined;
  }
  return suits(parameter, value) ? value : undefined;
}

/** Names of arguments that are headings. */
export const titles: ReadonlySet<string> = new Set(['title', 'subject', 'headline', 'caption', 'heading'].map(stemOf));

/** The text that a clause wants stored: what was found so far, else the words that it gives itself. */
export function contentFor(
  clause: Clause,
  known: readonly Chapter[],
  given: ReadonlyMap<Parameter, Json>,
  used: ReadonlySet<number>,
): string | undefined {
  if (clause.items.some((item) => item.type === 'word' && item.lower === 'empty')) return '';
  if (known.length === 0) return ownWords(clause, used);
  const target = [...given.values()].find((value) => typeof value === 'string' && /\.[a-z0-9]{1,8}$/iu.test(value));
  return composeDocument(known, typeof target === 'string' ? target : '');
}

/** "Write hello world to a.txt": words behind the verb without an article are the text itself; "a poem" would be a task. */
export function ownWords({ items, verb, source }: Clause, used: ReadonlySet<number>): string | undefined {
  const from = (verb?.index ?? -1) + 1;
  let to = from;
  for (let item = items[to]; item?.type === 'word' && !isPreposition(item.lower) && !used.has(to); item = items[to])
    to += 1;
  const first = items[from];
  if (
    to === from ||
    first?.type !== 'word' ||
    /^(?:an?|the|all|every|each|some|any|my|our|your|this|that|it|them|[0-9]+)$/u.test(first.lower)
  )
    return undefined;
  return textOf(items.slice(from, to), source);
}

/** A heading made of the clause: what it is about, without the verb and the words of courtesy around it. */
export function titleOf({ items, verb, source }: Clause): string {
  const isLead = (item: Item): boolean => item.type === 'word' && leads.has(item.lower);
  const isTail = (item: Item): boolean =>
    item.type === 'mark' ||
    (item.type === 'word' && (isPreposition(item.lower) || /^(?:please|thanks|and)$/u.test(item.lower)));
  const from = (verb?.index ?? -1) + 1;
  const first = items.findIndex((item, index) => index >= from && item.type !== 'mark' && !isLead(item));
  const last = items.findLastIndex((item) => !isTail(item));
  const text = textOf(first < 0 ? items : items.slice(first, last + 1), source).slice(0, 100);
  if (text === '') return 'Findings';
  return items[first]?.type === 'value' ? text : `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

const leads: ReadonlySet<string> = new Set(
  'the a an all every each any me my our please us of list for up out with about on could can would you tell know report table like'.split(
    ' ',
  ),
);

function sameWords(left: readonly string[], right: readonly string[]): boolean {
  return left.join(' ') === right.join(' ');
}

function suits({ type, choices }: Parameter, value: Json): boolean {
  if (choices.length > 0) return choices.includes(value);
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'number':
    case 'string':
    case 'boolean':
      return typeof value === type;
    default:
      return false;
  }
}
