import type { Json } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { type Amount, wholeAmount } from './amount.ts';

/** Where it stands what a call takes. */
export interface Taking {
  /** What a call takes, where no argument says so. */
  readonly amount?: string | number | undefined;
  /** The argument that says so, by dots: `order.total`. */
  readonly argument?: string | undefined;
  /** Where the value of the result says what it has taken, by dots: `usage.totalTokens`. Default: what was reserved counts. */
  readonly result?: string | undefined;
}

/** What a call takes, before it runs, and as far as that is told after it. */
export interface Measure {
  /** @returns `undefined` when it cannot be known. */
  readonly estimate: (input: Json) => Amount | undefined;
  readonly actual?: (value: Json, input: Json) => Amount | undefined;
  /** What is at the place that says it, for a message. */
  readonly told?: (input: Json) => { readonly place: string; readonly found: Json | undefined };
}

/** Reads amounts where `taking` says that they stand. An argument that is there and odd is not made up for by `amount`. */
export function measureOf({ amount, argument, result }: Taking, read: (value: unknown) => Amount | undefined): Measure {
  const fixed = amount === undefined ? undefined : read(amount);
  return {
    estimate(input) {
      const found = argument === undefined ? undefined : valueAt(input, argument);
      return found === undefined ? fixed : read(found);
    },
    ...(result === undefined ? {} : { actual: (value) => read(valueAt(value, result)) }),
    ...(argument === undefined ? {} : { told: (input) => ({ place: argument, found: valueAt(input, argument) }) }),
  };
}

/** Takes the size of an argument, in bytes; nothing when it is not there. */
export function sizeMeasure(argument: string, actual?: Measure['actual']): Measure {
  return {
    estimate: (input) => sizeOf(valueAt(input, argument)),
    ...(actual === undefined ? {} : { actual }),
  };
}

/** Own properties only: names come from a model. */
export function valueAt(json: Json, path: string): Json | undefined {
  let value: Json | undefined = json;
  for (const key of path.split('.')) {
    if (!(isPlainObject(value) || Array.isArray(value)) || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, Json>>)[key];
  }
  return value;
}

/** In UTF-8; of what is no text, as JSON. */
export function sizeOf(json: Json | undefined): Amount {
  if (json === undefined) return 0n;
  return wholeAmount(new TextEncoder().encode(typeof json === 'string' ? json : JSON.stringify(json)).length);
}
