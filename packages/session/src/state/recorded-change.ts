import { append, clear, type Json, type Operation, remove, replace, type Slice, upsert } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import type { SliceTable } from './table.ts';

/** Reads a recorded change and finds its slice. `undefined` if it is invalid, or its slice changes by events. */
export function readChange(
  json: Json,
  table: SliceTable,
): { readonly slice: Slice; readonly operation: Operation } | undefined {
  if (!isPlainObject(json) || typeof json['slice'] !== 'string') return undefined;
  const operation = toOperation(json);
  const slice = table.get(json['slice']);
  return operation === undefined || slice === undefined || slice.reducers.size > 0 ? undefined : { slice, operation };
}

function toOperation({ op, value, items, key, item }: Record<string, unknown>): Operation | undefined {
  switch (op) {
    case 'clear':
      return clear;
    case 'replace':
      return replace(value);
    case 'append':
      return Array.isArray(items) ? append(...items) : undefined;
    case 'upsert':
      return typeof key === 'string' ? upsert(key, item) : undefined;
    case 'remove':
      return typeof key === 'string' ? remove(key) : undefined;
    default:
      return undefined;
  }
}
