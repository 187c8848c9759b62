import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { isPath, type PlacedValue, type ValueKind } from './values.ts';
import { splitName, stemsOf } from './words.ts';

type Special = 'flag' | 'choice' | 'text' | 'query' | 'name' | 'nothing';
/** Kinds of arguments: `text` is free text, `name` any short text, `query` search words, `nothing` cannot be given in words. */
export type ParameterKind = Exclude<ValueKind, 'quoted' | 'code'> | Special;

/** A parameter of a tool, as far as its schema describes it. */
export interface Parameter {
  readonly name: string;
  readonly kind: ParameterKind;
  /** A list of values of that kind. */
  readonly isList: boolean;
  readonly isRequired: boolean;
  readonly hasDefault: boolean;
  /** The allowed values; empty if there is no limit. */
  readonly choices: readonly Json[];
  /** Stems of the words of its name. */
  readonly nameStems: readonly string[];
  readonly description: string;
  /** For a path: files, folders or both. Both if its words do not say. */
  readonly takes: { readonly file: boolean; readonly folder: boolean };
  /** The schema of one value; for a list, that of its items. */
  readonly schema: JsonObject;
}

/** The parameters of a tool. */
export function readParameters(inputSchema: JsonObject): readonly Parameter[] {
  const required: unknown = inputSchema['required'];
  return Object.entries(objectAt(inputSchema, 'properties') ?? {})
    .slice(0, 64)
    .flatMap(([name, declared]) => {
      // The executor always rejects this key.
      if (name === '__proto__' || !isPlainObject(declared)) return [];
      const isRequired = Array.isArray(required) && required.includes(name);
      return [readParameter(inputSchema, name, declared as JsonObject, isRequired)];
    });
}

function readParameter(root: JsonObject, name: string, declared: JsonObject, isRequired: boolean): Parameter {
  const whole = resolve(root, declared);
  const isList = typeOf(whole) === 'array';
  const schema = isList ? resolve(root, objectAt(whole, 'items') ?? {}) : whole;
  const description = String(declared['description'] ?? whole['description'] ?? '').slice(0, 400);
  const hasDefault = Object.hasOwn(whole, 'default') || Object.hasOwn(declared, 'default');
  const words = splitName(name).join(' ');
  const isFolder = /\b(?:folder|directory|dir)\b/u.test(words);
  const [saysFile = false, saysFolder = false] = [/\bfiles?\b/iu, /\b(?:folder|directory)\b/iu].map((noun) =>
    noun.test(`${words} ${description}`),
  );
  return {
    name,
    kind: kindOf(schema, words, description),
    isList,
    isRequired: isRequired && !hasDefault,
    hasDefault,
    choices: choicesOf(schema),
    nameStems: stemsOf(words),
    description,
    takes: { file: !isFolder && (saysFile || !saysFolder), folder: isFolder || saysFolder || !saysFile },
    schema,
  };
}

/** By the first word of a name; for a path or a date, by the last. */
const kindsByName: readonly (readonly [ParameterKind, RegExp])[] = [
  ['glob', /^(?:glob|wildcard)/u],
  ['ending', /^(?:ending|extension|suffix)/u],
  ['url', /^(?:url|uri|link|website)/u],
  ['email', /^e?mail/u],
  ['query', /^(?:query|keyword|topic|term|question)/u],
  ['text', /^(?:text|content|body|message|comment|description|prompt|note|old text|new text)/u],
  ['date', /(?:^|\s)date$/u],
  ['path', /(?:^|\s)(?:path|file|filename|folder|directory|dir)$/u],
];

function kindOf(schema: JsonObject, name: string, description: string): ParameterKind {
  const [type, format] = [typeOf(schema), schema['format']];
  if (choicesOf(schema).length > 0) return 'choice';
  if (/^(?:integer|number|float)$/u.test(type)) return 'number';
  if (type === 'boolean') return 'flag';
  if (type !== 'string' && type !== 'any') return 'nothing';
  if (format === 'date' || format === 'email') return format;
  if (format === 'uri' || format === 'url') return 'url';
  // "Regular expression or text to search for" is a text; a file name pattern contains stars.
  if (name === 'pattern') return /regular expression|\btext\b/iu.test(description) ? 'text' : 'glob';
  const isPlace = /^(?:the )?(?:path|file|folder|directory|name of (?:a|the) (?:file|folder))\b/iu.test(description);
  return kindsByName.find(([, words]) => words.test(name))?.[0] ?? (isPlace ? 'path' : 'name');
}

/**
 * True if a value can be this argument. `isNamed`: its name is beside the value; otherwise an optional argument needs a distinctive form.
 */
export function fits(parameter: Parameter, said: Pick<PlacedValue, 'kind' | 'value'>, isNamed: boolean): boolean {
  const { kind: wanted, isRequired } = parameter;
  const [kind, text] = [said.kind, String(said.value)];
  const isText = wanted === 'text' || wanted === 'name';
  if (!isNamed && !isRequired && (isText || wanted === 'number')) return false;
  if (/^(?:number|choice|flag|nothing)$/u.test(wanted)) return wanted === kind;
  switch (wanted) {
    case 'path':
      return (kind === 'path' || (kind === 'quoted' && (isNamed || isPath(text)))) && fitsPath(parameter, text);
    case 'glob':
      return wanted === kind || (kind === 'quoted' ? isNamed || /[*?{]/u.test(text) : isNamed && kind === 'path');
    case 'name':
      return kind !== 'number' && (isNamed || !/^(?:path|glob|ending)$/u.test(kind));
    case 'query':
      return kind === 'quoted' || kind === 'code';
    default:
      return wanted === kind || (kind === 'quoted' && (isText || isNamed));
  }
}

/** A folder is not a file, and a tool for one file type does not match another type. */
function fitsPath({ takes: { file, folder }, description }: Parameter, path: string): boolean {
  const ending = /\.([a-z0-9]+)$/iu.exec(path)?.[1]?.toLowerCase();
  const typed = typedFilesOf(description);
  if (ending === undefined) return folder || !path.endsWith('/');
  return file && (typed.length === 0 || typed.includes(ending));
}

/** The file types that a description mentions. */
export function typedFilesOf(description: string): readonly string[] {
  const stems = new Set(stemsOf(description));
  return ['json', 'csv', 'yaml', 'xml', 'html', 'pdf'].filter((type) => stems.has(type));
}

/** Follows one local reference and takes the first branch that is not null. */
export function resolve(root: JsonObject, schema: JsonObject): JsonObject {
  const name = /^#\/(\$defs|definitions)\/([^/]+)$/u.exec(String(schema['$ref'] ?? ''));
  const target = name?.[1] === undefined ? undefined : objectAt(objectAt(root, name[1]) ?? {}, name[2] ?? '');
  if (target !== undefined) return target;
  const branches: unknown = schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf'];
  const isMeant = (each: unknown): boolean => isPlainObject(each) && each['type'] !== 'null';
  return Array.isArray(branches) ? (branches.find(isMeant) ?? schema) : schema;
}

/** The types that a schema names; empty for any type. */
export function typesOf(schema: JsonObject): readonly unknown[] {
  const declared = schema['type'];
  return Array.isArray(declared) ? declared : declared === undefined ? [] : [declared];
}

/** The first type except null; default `string`. */
export function typeOf(schema: JsonObject): string {
  const type = typesOf(schema).find((each) => each !== 'null');
  return typeof type === 'string' ? type : objectAt(schema, 'properties') === undefined ? 'string' : 'object';
}

/** The values that a schema lists, if any. */
export function choicesOf(schema: JsonObject): readonly Json[] {
  const only = schema['const'];
  const choices = only === undefined ? schema['enum'] : [only];
  return Array.isArray(choices) ? (choices as readonly Json[]).filter((each) => typeof each !== 'object') : [];
}

/** Own keys only: the schema is untrusted. */
export function objectAt(schema: JsonObject, key: string): JsonObject | undefined {
  const value = Object.hasOwn(schema, key) ? schema[key] : undefined;
  return isPlainObject(value) ? (value as JsonObject) : undefined;
}
