import { isPlainObject, type Json } from '@holdfast/core';

/** Where two JSON values differ first, and what each has there; `undefined`: nothing is there. */
export interface JsonDifference {
  /** `value.items[2].at`. */
  readonly path: string;
  readonly left: Json | undefined;
  readonly right: Json | undefined;
}

/** The first difference in the order of keys; the order of keys itself is none. */
export function findDifference(
  left: Json | undefined,
  right: Json | undefined,
  path = 'value',
): JsonDifference | undefined {
  if (Array.isArray(left) && Array.isArray(right)) {
    for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
      const found = findDifference(left[index], right[index], `${path}[${index}]`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isPlainObject(left) && isPlainObject(right)) {
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const found = findDifference(ownValue(left, key), ownValue(right, key), `${path}${toStep(key)}`);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  return left === right ? undefined : { path, left, right };
}

function ownValue(value: Readonly<Record<string, unknown>>, key: string): Json | undefined {
  // What lies in JSON is JSON.
  return Object.hasOwn(value, key) ? (value[key] as Json) : undefined;
}

function toStep(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
