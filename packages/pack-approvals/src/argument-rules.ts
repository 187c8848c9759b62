import { isPlainObject } from '@holdfast/core/internal';
import { matchText } from './match-text.ts';

export type Scalar = string | number | boolean | null;

/** One condition on an argument; exactly one of the operators is there. */
export interface ArgumentCondition {
  /**
   * By its key; of an inner one by its keys, with dots between them: `order.total`. In a list every item is looked at, or the one of a
   * number: `lines.0.price`.
   */
  readonly argument: string;
  /** Compared as text: in any letter case, without spaces around it, a path without detours. */
  readonly equals?: Scalar | undefined;
  /** Equal to one of them. */
  readonly in?: readonly Scalar[] | undefined;
  /** More than that. */
  readonly above?: number | undefined;
  /** Less than that. */
  readonly below?: number | undefined;
  /** A pattern for the whole text: `*` stands for any number of characters, `?` for one, anything else for itself. */
  readonly matches?: string | undefined;
  /** That it is not there, or null. */
  readonly missing?: true | undefined;
}

export const operators = ['equals', 'in', 'above', 'below', 'matches', 'missing'] as const;

/**
 * Why a person is to be asked about a call with this input; `undefined` when the condition does not hold. What cannot be compared holds.
 */
export function describeHeld(condition: ArgumentCondition, input: unknown): string | undefined {
  const { argument, above, below, matches } = condition;
  const found = [...collect(input, argument.split('.'))];
  const shown = `\`${argument}\``;
  if (condition.missing === true) {
    return found.some((value) => value === undefined || value === null) ? `${shown} is missing` : undefined;
  }
  if (above !== undefined)
    return describeNumber(found, { shown, limit: `above ${above}`, holds: (value) => value > above });
  if (below !== undefined)
    return describeNumber(found, { shown, limit: `below ${below}`, holds: (value) => value < below });
  const odd = found.some((value) => isOdd(value)) ? `${shown} cannot be compared` : undefined;
  if (matches !== undefined) {
    const pattern = fold(matches);
    const isMatch = (value: unknown): boolean =>
      isText(value) && spellings(value).some((text) => matchText(pattern, text));
    return found.some(isMatch) ? `${shown} matches \`${matches}\`` : odd;
  }
  const wanted = condition.in ?? (condition.equals === undefined ? [] : [condition.equals]);
  const equal = wanted.find((one) => found.some((value) => isEqual(one, value)));
  return equal === undefined ? odd : `${shown} is ${show(equal)}`;
}

/**
 * All that is at a path; what is in lists is looked at item by item, unless the path says which. A key may itself have dots: then all
 * ways to read the path count. `undefined` stands for nothing.
 */
function collect(value: unknown, path: readonly string[]): ReadonlySet<unknown> {
  const [key] = path;
  if (Array.isArray(value)) {
    const isIndex = key !== undefined && /^\d+$/u.test(key);
    if (isIndex) return Object.hasOwn(value, key) ? collect(value[Number(key)], path.slice(1)) : nothing;
    return value.length === 0 ? nothing : new Set(value.flatMap((item) => [...collect(item, path)]));
  }
  if (key === undefined) return new Set([value]);
  if (!isPlainObject(value)) return nothing;
  const found = path.flatMap((_name, index) => {
    const name = path.slice(0, index + 1).join('.');
    return Object.hasOwn(value, name) ? [...collect(value[name], path.slice(index + 1))] : [];
  });
  return found.length === 0 ? nothing : new Set(found);
}

const nothing: ReadonlySet<undefined> = new Set([undefined]);

interface NumberCondition {
  readonly shown: string;
  readonly limit: string;
  readonly holds: (value: number) => boolean;
}

function describeNumber(found: readonly unknown[], { shown, limit, holds }: NumberCondition): string | undefined {
  if (found.some((value) => typeof value === 'number' && holds(value))) return `${shown} is ${limit}`;
  // A limit that cannot be looked at has not been kept.
  if (found.some((value) => typeof value !== 'number' || Number.isNaN(value)))
    return `${shown} is no number, so it may be ${limit}`;
  return undefined;
}

function isText(value: unknown): value is string | number | boolean {
  return (
    (typeof value === 'string' && value.length <= maxLength) || typeof value === 'number' || typeof value === 'boolean'
  );
}

// What is longer takes too long to compare.
const maxLength = 100_000;

/** What no text can be compared with. */
function isOdd(value: unknown): boolean {
  if (typeof value === 'string') return value.length > maxLength;
  return value !== undefined && value !== null && !isText(value);
}

function isEqual(wanted: Scalar, value: unknown): boolean {
  if (wanted === null) return value === null;
  if (!isText(value)) return false;
  const texts = spellings(value);
  // `5`, `5.0` and `05`.
  if (typeof wanted === 'number' && texts.some((text) => text !== '' && Number(text) === wanted)) return true;
  return texts.includes(fold(String(wanted)));
}

/** The ways in which a text, or a number, may be meant: as it is, and as a path without detours. */
function spellings(value: string | number | boolean): readonly string[] {
  const whole = fold(String(value));
  const text = whole.replaceAll('\\', '/');
  if (!text.includes('/')) return [whole];
  const names: string[] = [];
  for (const name of text.split('/')) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  return [whole, text, names.join('/'), `/${names.join('/')}`];
}

/** Brings together what a reader takes for the same text, but for letters of other alphabets that look alike. */
function fold(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toUpperCase()
    .toLowerCase()
    .trim()
    .replaceAll(/\s+/gu, ' ');
}

const maxShown = 60;

function show(value: Scalar): string {
  const text = JSON.stringify(value);
  return `\`${text.length > maxShown ? `${text.slice(0, maxShown).toWellFormed()}…` : text}\``;
}
