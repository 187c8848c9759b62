import type { Json } from '@holdfast/core';

/**
 * A value as indented JSON, with each text of several lines written as such lines behind a `|`: file contents stay readable. A line
 * of JSON never begins with `|`, so no text can pass for a field.
 */
export function listArgumentLines(value: Json): readonly string[] {
  return [...write(value, { indent: '', key: '', end: '' })];
}

interface Place {
  readonly indent: string;
  /** `"key": `, in an object. */
  readonly key: string;
  /** A comma, where something follows. */
  readonly end: string;
}

function* write(value: Json, { indent, key, end }: Place): Generator<string> {
  if (typeof value === 'string' && value.includes('\n')) {
    yield `${indent}${key}text of ${value.length} characters${end}`;
    for (const line of value.split('\n')) yield `${indent}  | ${line}`;
    return;
  }
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) {
    yield `${indent}${key}${JSON.stringify(value)}${end}`;
    return;
  }
  const entries: readonly (readonly [string, Json])[] = Array.isArray(value)
    ? value.map((item: Json) => ['', item])
    : Object.entries(value).map(([name, item]) => [`${JSON.stringify(name)}: `, item]);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  yield `${indent}${key}${open}`;
  for (const [index, [name, item]] of entries.entries()) {
    yield* write(item, { indent: `${indent}  `, key: name, end: index < entries.length - 1 ? ',' : '' });
  }
  yield `${indent}${close}${end}`;
}
