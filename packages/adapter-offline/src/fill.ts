import type { Json, JsonObject } from '@holdfast/core';
import { findChoices } from './choices.ts';
import { nameBonus } from './naming.ts';
import type { Parameter } from './parameters.ts';
import type { Clause, Item } from './reading.ts';
import { affinity, prepositionBonus, type Role } from './roles.ts';
import { findSpans, type Span } from './spans.ts';
import { convertTime, timeUnitOf } from './units.ts';
import { isStopWord, stemOf } from './words.ts';

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

/** What filling must know about a tool beside its parameters. */
export interface FilledTool {
  readonly objectStems: readonly string[];
  readonly nameStems: ReadonlySet<string>;
  readonly roles: ReadonlyMap<Parameter, Role>;
}

/** One way to give one parameter a value. */
export interface Candidate {
  readonly parameter: Parameter;
  readonly value: Json;
  readonly from: number;
  readonly to: number;
  readonly score: number;
  /** Items that named the parameter. */
  readonly names: readonly number[];
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
    entries.set(
      outer,
      inner === undefined
        ? value
        : { ...(typeof object === 'object' && object !== null ? object : {}), [inner]: value },
    );
  }
  return Object.fromEntries(entries);
}

function candidatesFor(
  parameter: Parameter,
  clause: Clause,
  spans: readonly Span[],
  tool: FilledTool,
): readonly Candidate[] {
  if (parameter.type === 'other') return [];
  if (parameter.choices.length > 0 || parameter.type === 'boolean') return findChoices(parameter, clause.items);
  const role = tool.roles.get(parameter) ?? 'neutral';
  return spans.flatMap((span) => {
    const candidate =
      parameter.type === 'string' ? asText(parameter, role, clause, span, tool) : asNumber(parameter, clause, span);
    return candidate === undefined ? [] : [candidate];
  });
}

function asNumber(parameter: Parameter, { items }: Clause, span: Span): Candidate | undefined {
  if (span.kind !== 'number' || typeof span.value !== 'number') return undefined;
  const wanted = timeUnitOf([...parameter.nameStems, ...parameter.descriptionStems]);
  const value = convertTime(span.value, span.unit, wanted);
  if (parameter.type === 'integer' && !Number.isInteger(value)) return undefined;
  const naming = nameBonus(parameter.nameStems, items, span);
  const before = wordAt(items, span.from - 1);
  const isLimit = /^(?:first|top|most|last)$/u.test(before) && parameter.nameStems.some((stem) => limits.has(stem));
  // "The first 20 lines" end at 20 and start where they always do.
  if (before === 'first' && parameter.nameStems.some((stem) => starts.has(stem))) return undefined;
  if (before === 'last' && !parameter.nameStems.some((stem) => tails.has(stem))) return undefined;
  const unit = span.unit !== undefined && wanted !== undefined && timeUnitOf([stemOf(span.unit)]) !== undefined ? 5 : 0;
  const score = 2 + naming.bonus + unit + (isLimit ? 6 : 0) + prepositionBonus(before, 'neutral', parameter.nameStems);
  return { parameter, value, from: span.from, to: span.to, score, names: naming.indexes };
}

const starts: ReadonlySet<string> = new Set('start from offset skip begin'.split(' ').map(stemOf));
const tails: ReadonlySet<string> = new Set('limit count n tail last'.split(' ').map(stemOf));
const limits: ReadonlySet<string> = new Set(
  'limit max maximum top count n number size results end'.split(' ').map(stemOf),
);

function asText(parameter: Parameter, role: Role, clause: Clause, span: Span, tool: FilledTool): Candidate | undefined {
  const value = String(span.value);
  if (parameter.pattern !== undefined && !parameter.pattern.test(value.slice(0, 500))) return undefined;
  const naming = nameBonus(parameter.nameStems, clause.items, span);
  const before = precedingWord(clause.items, span.from);
  const suits = affinity(role, span.kind);
  if (suits === 0 && (naming.bonus < 7 || parameter.format !== undefined)) return undefined;
  if (role === 'path' && span.kind === 'quoted' && naming.bonus === 0 && !/^\S*[./]\S*$|\.\w{1,10}$/u.test(value))
    return undefined;
  if (role === 'glob' && !/[*?[{./]/u.test(value) && !/^(?:named|called|matching)$/u.test(before)) return undefined;
  const isWords = span.kind === 'phrase' || span.kind === 'bare';
  // The direct object is the thing the tool works on; only what looks something up takes it for its text or its place.
  if (isWords && span.isObject && naming.bonus === 0 && !isLookedUp(role, clause, span)) return undefined;
  const stems = value.split(/\s+/u).map(stemOf);
  if (naming.bonus === 0 && span.kind !== 'quoted' && stems.every((stem) => tool.nameStems.has(stem))) return undefined;
  const cue = prepositionBonus(before, role, parameter.nameStems);
  // Words become the text of a file or a mail only when the request says so: "saying", "body:".
  if (role === 'content' && span.kind !== 'quoted' && naming.bonus < 7 && cue === 0) return undefined;
  if (role === 'path' && isWords && naming.bonus === 0 && cue === 0 && !span.isObject) return undefined;
  const score =
    suits +
    naming.bonus +
    cue +
    (span.isObject && role === 'path' && isWords ? 5 : 0) +
    oldOrNew(parameter, span, before, markAt(clause.items, span.to));
  return { parameter, value, from: span.from, to: span.to, score, names: naming.indexes };
}

/** "Search docs for x" and "search x" with a search, "get the version from a.json" with anything that reads a file. */
function isLookedUp(role: Role, { verb, items }: Clause, span: Span): boolean {
  const next = textAt(items, span.to);
  if (verb?.concepts.has('find') === true && role === 'path') return next === 'for' && span.from === verb.index + 1;
  if (role !== 'text') return false;
  const file = items[span.to + 1];
  const isIn = /^(?:in|from|of)$/u.test(next) && file?.type === 'value' && file.value.kind === 'path';
  return verb?.concepts.has('find') === true
    ? next !== 'for' || span.from > verb.index + 1
    : verb?.concepts.has('get') === true && isIn;
}

const oldStems: ReadonlySet<string> = new Set('old find search original'.split(' ').map(stemOf));
const newStems: ReadonlySet<string> = new Set('new replacement replace'.split(' ').map(stemOf));

/** In "replace A with B" the first is what is there and the second what is to be there. */
function oldOrNew({ nameStems }: Parameter, span: Span, before: string, after: string): number {
  const follows = /^(?:with|to|by|into)$/u.test(before);
  const isKey = /^(?::|=)$/u.test(after);
  // In `"debug": false` the quoted text is only a part of what is meant.
  if (nameStems.some((stem) => oldStems.has(stem))) return isKey ? -20 : follows ? -2 : span.kind === 'quoted' ? 2 : 0;
  if (nameStems.some((stem) => newStems.has(stem))) return follows ? 2 : -2;
  return 0;
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

function precedingWord(items: readonly Item[], from: number): string {
  const before = wordAt(items, from - 1);
  return /^(?:the|a|an|my|our)$/u.test(before) ? wordAt(items, from - 2) : before;
}

function wordAt(items: readonly Item[], at: number): string {
  const item = items[at];
  return item?.type === 'word' ? item.lower : '';
}

function markAt(items: readonly Item[], at: number): string {
  const item = items[at];
  return item?.type === 'mark' ? item.text : '';
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
