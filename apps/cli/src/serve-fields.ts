import { HoldfastError, isPlainObject } from '@holdfast/core';

/** A value of a body, and where it stands there, as `messages[0].content`. */
export interface Field {
  readonly path: string;
  readonly value: unknown;
}

/** The fields of an object, by name. */
export type Fields = (name: string) => Field;

const root = 'body';

export function readBodyFields(value: unknown): Fields {
  return readFields({ path: root, value });
}

export function readFields(field: Field): Fields {
  const { path, value } = field;
  if (!isPlainObject(value)) return fail(field, 'an object');
  return (name) => ({
    path: path === root ? name : `${path}.${name}`,
    value: Object.hasOwn(value, name) ? value[name] : undefined,
  });
}

export function readString(field: Field): string {
  return typeof field.value === 'string' ? field.value : fail(field, 'a string');
}

export function readList<Item>(field: Field, read: (item: Field) => Item): readonly Item[] {
  const { path, value } = field;
  if (!Array.isArray(value)) return fail(field, 'a list');
  return value.map((item: unknown, index) => read({ path: `${path}[${index}]`, value: item }));
}

/** `otherwise` where it is absent. */
export function readFlag(field: Field, otherwise: boolean): boolean {
  if (isAbsent(field)) return otherwise;
  return typeof field.value === 'boolean' ? field.value : fail(field, 'true or false');
}

/** Clients write null for what they leave out. */
export function isAbsent({ value }: Field): boolean {
  return value === undefined || value === null;
}

/** What is there is not what has to be. */
export function fail({ path, value }: Field, expected: string): never {
  throw invalid(path, `\`${path}\` must be ${expected}, got ${describeValue(value)}.`);
}

export function invalid(path: string, message: string): HoldfastError {
  return new HoldfastError('serve.request_invalid', message, { data: { param: path } });
}

/** It is something of OpenAI's that is not done here, and a request without it would mean something else. */
export function unsupported(path: string, message: string): HoldfastError {
  return new HoldfastError('serve.parameter_unsupported', message, { data: { param: path } });
}

function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
