import { isPlainObject, type Json, type JsonObject } from '@holdfast/core';
import { type Candidate, candidatesFor, type FilledTool } from './candidates.ts';
import type { Parameter } from './parameters.ts';
import type { Clause, Item } from './reading.ts';
import { findSpans } from './spans.ts';
import { isStopWord } from './words.ts';
/** What a clause gives for a tool's parameters. */
export interface Filling {
  readonly given: ReadonlyMap<Parameter, Json>;
  /** Required parameters that the clause gives no value for. */
  readonly missing: readonly Parameter[];
  /** Further values for a parameter that takes one: "count words in a.txt and b.txt" is two calls. */
  readonly more: ReadonlyMap<Parameter, readonly Json[]>;
  /** How well the values suit, summed up over the parameters. */
  readonly quality: number;
  /** Items that became arguments or named them. */
  readonly used: ReadonlySet<number>;
}

// An optional parameter is left to its default unless the request clearly gives it.
const optionalThreshold = 5;
const requiredThreshold = 0.5;

/** Gives each parameter the value of the clause that suits it best, each value once, the surest pair first. */
export function fill(parameters: readonly Parameter[], clause: Clause, tool: FilledTool): Filling {
  const given = new Map<Parameter, Json>();
  const used = new Set<number>();
  const chosen: Candidate[] = [];
  const spans = findSpans(clause, new Set(parameters.flatMap(({ nameStems }) => nameStems)), tool.objectStems);
  const candidates = parameters
    .flatMap((parameter) => candidatesFor(parameter, clause, spans, tool))
    .sort((left, right) => right.score - left.score || left.from - right.from);
  for (const candidate of candidates) {
    const { parameter, value, from, to, names } = candidate;
    if (candidate.score < (parameter.isRequired ? requiredThreshold : optionalThreshold)) break;
    if (given.has(parameter) || overlaps(used, from, to)) continue;
    for (const index of [...rangeOf(from, to), ...names]) used.add(index);
    chosen.push(candidate);
    given.set(parameter, parameter.isList ? listFrom(candidate, candidates, clause.items, used) : value);
  }
  const missing = parameters.filter((each) => each.isRequired && !given.has(each));
  const more = new Map<Parameter, readonly Json[]>();
  for (const candidate of chosen) {
    if (candidate.parameter.isList || !/^(?:path|url|email|quoted)$/u.test(kindAt(clause.items, candidate.from)))
      continue;
    const values = listFrom(candidate, candidates, clause.items, used);
    if (values.length > 1) more.set(candidate.parameter, values.slice(1));
  }
  const quality = chosen.reduce((sum, { score }) => sum + Math.min(score, 10), 0);
  return { given, missing, more, quality, used };
}

/** The arguments as the tool takes them; nested ones are put into their objects. */
export function toArguments(given: ReadonlyMap<Parameter, Json>, parameters: readonly Parameter[]): JsonObject {
  const entries = new Map<string, Json>();
  for (const parameter of parameters) {
    const value = given.get(parameter);
    const [outer, inner] = parameter.path;
    if (value === undefined || outer === undefined) continue;
    const object = entries.get(outer);
    entries.set(outer, inner === undefined ? value : { ...(isPlainObject(object) ? object : {}), [inner]: value });
  }
  return Object.fromEntries(entries);
}

function listFrom(
  first: Candidate,
  candidates: readonly Candidate[],
  items: readonly Item[],
  used: Set<number>,
): readonly Json[] {
  const values = [first.value];
  let end = first.to;
  const rest = candidates
    .filter((each) => each.parameter === first.parameter && each.from >= first.to)
    .sort((left, right) => left.from - right.from);
  for (const next of rest) {
    const between = items.slice(end, next.from);
    const isLinked =
      between.length > 0 && between.every((item) => item.type !== 'value' && /^(?:,|and|or|the)$/u.test(item.text));
    if (!isLinked || overlaps(used, next.from, next.to)) continue;
    values.push(next.value);
    for (const index of rangeOf(next.from, next.to)) used.add(index);
    end = next.to;
  }
  // "labels bug and urgent": behind a link a plain word is one more of them.
  for (let word = items[end + 1]; first.parameter.isList; word = items[end + 1]) {
    if (!/^(?:,|and)$/u.test(textAt(items, end)) || word?.type !== 'word' || isStopWord(word.lower)) break;
    values.push(word.text);
    used.add(end + 1);
    end += 2;
  }
  return values;
}

function textAt(items: readonly Item[], at: number): string {
  const item = items[at];
  return item === undefined || item.type === 'value' ? '' : item.text;
}

function kindAt(items: readonly Item[], at: number): string {
  const item = items[at];
  return item?.type === 'value' ? item.value.kind : '';
}

function overlaps(used: ReadonlySet<number>, from: number, to: number): boolean {
  return rangeOf(from, to).some((index) => used.has(index));
}

function rangeOf(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
