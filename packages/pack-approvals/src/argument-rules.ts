import { isPlainObject } from '@holdfast/core/internal';
import { matchText } from './match-text.ts';

export type Scalar = string | number | boolean | null;

/** A condition on an argument, with exactly one operator. */
export interface ArgumentCondition {
  /**
   * Key of the argument; for nested values keys joined by dots: `order.total`. In a list every item is examined, or the one of an index:
   * `lines.0.price`.
   */
  readonly argument: string;
  /** Compared as text, ignoring case and surrounding spaces; paths are normalized. */
  readonly equals?: Scalar | undefined;
  /** Equal to any of these. */
  readonly in?: readonly Scalar[] | undefined;
  /** Greater than this. */
  readonly above?: number | undefined;
  /** Less than this. */
  readonly below?: number | undefined;
  /** A pattern for the whole text: `*` matches any characters, `?` one, anything else itself. */
  readonly matches?: string | undefined;
  /** The argument is missing or null. */
  readonly missing?: true | undefined;
}

export const operators = ['equals', 'in', 'above', 'below', 'matches', 'missing'] as const;

/**
 * Why a call with this input needs approval; `undefined` if the condition does not hold. Values that cannot be compared meet it.
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
 * All values at a path. Lists are examined item by item, unless the path has an index. Keys may contain dots, so all ways to split the
 * path are tried. `undefined` stands for a missing value.
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
  // A limit that cannot be verified counts as exceeded.
  if (found.some((value) => typeof value !== 'number' || Number.isNaN(value)))
    return `${shown} is not a number, so it may be ${limit}`;
  return undefined;
}

function isText(value: unknown): value is string | number | boolean {
  return (
    (typeof value === 'string' && value.length <= maxLength) || typeof value === 'number' || typeof value === 'boolean'
  );
}

// Longer texts take too long to compare.
const maxLength = 100_000;

/** A value that cannot be compared with text. */
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

/** The possible meanings of a text or number: as written, and as a normalized path. */
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

/** Normalizes texts that look the same to a reader, except look-alike letters of other alphabets. */
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
