import type { Json } from '@holdfast/core';
import { findChoices } from './choices.ts';
import { nameBonus } from './naming.ts';
import type { Parameter } from './parameters.ts';
import type { Clause, Item } from './reading.ts';
import { affinity, prepositionBonus, type Role } from './roles.ts';
import type { Span } from './spans.ts';
import { convertTime, timeUnitOf } from './units.ts';
import { stemOf } from './words.ts';

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

/** The ways in which a clause can give a parameter a value. */
export function candidatesFor(
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
  // "All .md files" are a pattern for one tool and a name's ending for another.
  const value = role === 'ending' ? (/\.\w+$/u.exec(String(span.value))?.[0] ?? '') : String(span.value);
  if (value === '' && role === 'ending') return undefined;
  if (parameter.pattern !== undefined && !parameter.pattern.test(value.slice(0, 500))) return undefined;
  const naming = nameBonus(parameter.nameStems, clause.items, span);
  const before = precedingWord(clause.items, span.from);
  const suits = affinity(role, span.kind);
  if (suits === 0 && (naming.bonus < 7 || parameter.format !== undefined)) return undefined;
  if (role === 'path' && span.kind === 'quoted' && naming.bonus === 0 && !/^\S*[./]\S*$|\.\w{1,10}$/u.test(value))
    return undefined;
  if (role === 'path' && span.kind === 'glob') return undefined;
  if (!hasFormat(parameter.format, value)) return undefined;
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
    placeBonus(parameter, role, clause, span) +
    oldOrNew(parameter, span, before, markAt(clause.items, span.to));
  return { parameter, value, from: span.from, to: span.to, score, names: naming.indexes };
}

/** What stands where: a file is no folder, "search docs for" names a place, "the version in a.json" what to look up there. */
function placeBonus({ nameStems }: Parameter, role: Role, { items }: Clause, span: Span): number {
  const isWords = span.kind === 'phrase' || span.kind === 'bare';
  if (role === 'path' && isWords) return span.isObject ? 5 : 0;
  const isFile = span.kind === 'path' && /\.\w+$/u.test(String(span.value));
  if (isFile && nameStems.some((stem) => folders.has(stem))) return -4;
  return role === 'text' && (isWords || span.kind === 'code') && isInFile(items, span) ? 4 : 0;
}

/** A value of another format would be refused, and making one fit would be a guess: "tomorrow" is no date here. */
function hasFormat(format: string | undefined, value: string): boolean {
  switch (format) {
    case 'date':
      return /^\d{4}-\d{2}-\d{2}$/u.test(value);
    case 'date-time':
      return /^\d{4}-\d{2}-\d{2}T/u.test(value);
    case 'email':
      return /^\S+@\S+$/u.test(value);
    case 'uri':
      return /^[a-z][a-z0-9+.-]*:/iu.test(value);
    default:
      return true;
  }
}

const folders: ReadonlySet<string> = new Set('folder directory dir'.split(' ').map(stemOf));

function isInFile(items: readonly Item[], span: Span): boolean {
  const file = items[span.to + 1];
  return /^(?:in|from|of)$/u.test(textAt(items, span.to)) && file?.type === 'value' && file.value.kind === 'path';
}

/** "Search docs for x" and "search x" with a search, "get the version from a.json" with anything that reads a file. */
function isLookedUp(role: Role, { verb, items }: Clause, span: Span): boolean {
  const next = textAt(items, span.to);
  if (verb?.concepts.has('find') === true && role === 'path') return next === 'for' && span.from === verb.index + 1;
  if (role !== 'text') return false;
  return verb?.concepts.has('find') === true
    ? next !== 'for' || span.from > verb.index + 1
    : verb?.concepts.has('get') === true && isInFile(items, span);
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

function precedingWord(items: readonly Item[], from: number): string {
  const before = wordAt(items, from - 1);
  return /^(?:the|a|an|my|our)$/u.test(before) ? wordAt(items, from - 2) : before;
}

function wordAt(items: readonly Item[], at: number): string {
  const item = items[at];
  return item?.type === 'word' ? item.lower : '';
}

function textAt(items: readonly Item[], at: number): string {
  const item = items[at];
  return item === undefined || item.type === 'value' ? '' : item.text;
}

function markAt(items: readonly Item[], at: number): string {
  const item = items[at];
  return item?.type === 'mark' ? item.text : '';
}
