import type { Json } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { type Amount, wholeAmount } from './amount.ts';

/** How to measure the cost of a call. */
export interface Taking {
  /** Fixed cost, used if the argument is missing. */
  readonly amount?: string | number | undefined;
  /** Path of the argument with the cost, with dots: `order.total`. */
  readonly argument?: string | undefined;
  /** Path of the actual cost in the result, with dots: `usage.totalTokens`. Default: the reserved amount. */
  readonly result?: string | undefined;
}

/** The estimated cost of a call, and the actual cost if known. */
export interface Measure {
  /** @returns `undefined` if it cannot be determined. */
  readonly estimate: (input: Json) => Amount | undefined;
  readonly actual?: (value: Json, input: Json) => Amount | undefined;
  /** The value at the cost's path, for a message. */
  readonly told?: (input: Json) => { readonly place: string; readonly found: Json | undefined };
}

/** Creates a measure. `amount` does not replace an invalid argument, only a missing one. */
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

/** Measures the size of an argument in bytes; 0 if it is missing. */
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

/** Size in UTF-8; values other than text as JSON. */
export function sizeOf(json: Json | undefined): Amount {
  if (json === undefined) return 0n;
  return wholeAmount(new TextEncoder().encode(typeof json === 'string' ? json : JSON.stringify(json)).length);
}
