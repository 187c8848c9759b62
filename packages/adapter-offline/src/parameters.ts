import { isPlainObject, type Json, type JsonObject } from '@holdfast/core';
import { splitName, stemOf, wordsOf } from './words.ts';

/** What one argument of a tool must look like, as far as the schema says. */
export interface Parameter {
  /** Names from the outside in: one, or two for a property of a nested object. */
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'other';
  /** The argument is a list of values of `type`. */
  readonly isList: boolean;
  readonly isRequired: boolean;
  /** The only allowed values; empty when any value will do. */
  readonly choices: readonly Json[];
  readonly format: string | undefined;
  readonly pattern: RegExp | undefined;
  readonly description: string;
  /** Stems of the words of the last name. */
  readonly nameStems: readonly string[];
  readonly descriptionStems: readonly string[];
  /** Of one value: of a list, that of its items. */
  readonly schema: JsonObject;
}

/** Reads the parameters of a tool. Whatever is no JSON Schema that it understands gives parameters of type `other`, or none. */
export function readParameters(inputSchema: JsonObject): readonly Parameter[] {
  return propertiesOf(inputSchema, inputSchema, [], true);
}

function propertiesOf(
  root: JsonObject,
  schema: JsonObject,
  path: readonly string[],
  isRequired: boolean,
): readonly Parameter[] {
  const properties = objectAt(schema, 'properties');
  const required =
    Object.hasOwn(schema, 'required') && Array.isArray(schema['required'])
      ? new Set<unknown>(schema['required'])
      : new Set<unknown>();
  return Object.entries(properties ?? {})
    .slice(0, maxProperties)
    .flatMap(([name, value]) => {
      // The executor refuses this key whatever it holds.
      if (name === '__proto__' || !isPlainObject(value)) return [];
      return parametersOf(root, value as JsonObject, [...path, name], isRequired && required.has(name));
    });
}

const maxProperties = 64;

function parametersOf(
  root: JsonObject,
  declared: JsonObject,
  path: readonly string[],
  isRequired: boolean,
): readonly Parameter[] {
  const schema = resolve(root, declared);
  if (typeOf(schema) === 'object' && path.length === 1) {
    const inner = propertiesOf(root, schema, path, isRequired);
    if (inner.length > 0) return inner;
  }
  return [parameterOf(root, declared, path, isRequired)];
}

/** The arguments that are objects with known members, each as a whole. */
export function readObjects(inputSchema: JsonObject): readonly Parameter[] {
  const required: unknown = Object.hasOwn(inputSchema, 'required') ? inputSchema['required'] : [];
  return Object.entries(objectAt(inputSchema, 'properties') ?? {})
    .slice(0, maxProperties)
    .flatMap(([name, value]) => {
      if (name === '__proto__' || !isPlainObject(value)) return [];
      const schema = resolve(inputSchema, value as JsonObject);
      if (typeOf(schema) !== 'object' || objectAt(schema, 'properties') === undefined) return [];
      const isRequired = Array.isArray(required) && required.includes(name);
      return [parameterOf(inputSchema, value as JsonObject, [name], isRequired)];
    });
}

function parameterOf(root: JsonObject, declared: JsonObject, path: readonly string[], isRequired: boolean): Parameter {
  const schema = resolve(root, declared);
  const type = typeOf(schema);
  const items = objectAt(schema, 'items');
  const isList = type === 'array';
  const element = isList ? resolve(root, items ?? {}) : schema;
  const name = path.at(-1) ?? '';
  const description = textAt(declared, 'description') ?? textAt(schema, 'description') ?? '';
  return {
    path,
    type: isList ? simpleType(items === undefined ? 'string' : typeOf(element)) : simpleType(type),
    isList,
    isRequired: isRequired && !Object.hasOwn(schema, 'default'),
    choices: choicesOf(element),
    format: textAt(element, 'format'),
    pattern: patternOf(element),
    description,
    nameStems: splitName(name).map(stemOf),
    descriptionStems: wordsOf(description.slice(0, 400)).map((word) => word.stem),
    schema: element,
  };
}

/** Follows one local reference and takes the first branch that is not null. */
export function resolve(root: JsonObject, schema: JsonObject): JsonObject {
  const reference = textAt(schema, '$ref');
  const name = reference === undefined ? undefined : /^#\/(\$defs|definitions)\/([^/]+)$/u.exec(reference);
  const target = name?.[1] === undefined ? undefined : objectAt(objectAt(root, name[1]) ?? {}, name[2] ?? '');
  if (target !== undefined) return target;
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const branches = Object.hasOwn(schema, key) ? schema[key] : undefined;
    if (!Array.isArray(branches)) continue;
    const branch: unknown = branches.find((each) => isPlainObject(each) && each['type'] !== 'null');
    if (isPlainObject(branch)) return branch as JsonObject;
  }
  return schema;
}

function typeOf(schema: JsonObject): string {
  const declared = Object.hasOwn(schema, 'type') ? schema['type'] : undefined;
  const type: unknown = Array.isArray(declared) ? declared.find((each) => each !== 'null') : declared;
  if (typeof type === 'string') return type;
  const [first] = choicesOf(schema);
  return first === undefined ? 'string' : typeof first;
}

function simpleType(type: string): Parameter['type'] {
  switch (type) {
    case 'string':
    case 'any':
      return 'string';
    case 'integer':
      return 'integer';
    case 'number':
    case 'float':
      return 'number';
    case 'boolean':
      return 'boolean';
    default:
      return 'other';
  }
}

/** The values that a schema allows; empty when it does not list them. */
export function choicesOf(schema: JsonObject): readonly Json[] {
  if (Object.hasOwn(schema, 'const') && schema['const'] !== undefined) return [schema['const']];
  const choices = Object.hasOwn(schema, 'enum') ? schema['enum'] : undefined;
  return Array.isArray(choices) ? (choices as readonly Json[]).filter((each) => typeof each !== 'object') : [];
}

/** Only patterns that cannot take exponential time are tried; the executor checks all of them. */
function patternOf(schema: JsonObject): RegExp | undefined {
  const source = textAt(schema, 'pattern');
  if (source === undefined || source.length > 200 || /[()]/u.test(source) || (source.match(/[*+{]/gu)?.length ?? 0) > 3)
    return undefined;
  try {
    return new RegExp(source, 'u');
  } catch {
    // Not an expression of this language: the validator that knows it decides.
    return undefined;
  }
}

export function objectAt(schema: JsonObject, key: string): JsonObject | undefined {
  const value = Object.hasOwn(schema, key) ? schema[key] : undefined;
  return isPlainObject(value) ? (value as JsonObject) : undefined;
}

function textAt(schema: JsonObject, key: string): string | undefined {
  const value = Object.hasOwn(schema, key) ? schema[key] : undefined;
  return typeof value === 'string' ? value : undefined;
}
