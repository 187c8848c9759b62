import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject, modelJsonLimits, parseJson, toPrintable } from '@holdfast/core/internal';
import { type CompiledSchema, compileSchema, describeIssues } from '@holdfast/schema';
import { resolvePointer } from '@holdfast/schema/internal';
import { jsonSchema } from '@holdfast/schema/json';
import { readLiteral } from './literal.ts';

/** `message` is a clause that continues from the name of the field: "must be a number, got `many`". */
export type CoercedValue =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly message: string };

/**
 * Converts a model's text to a value of `schema`. A string is text after a header. Any other value, and with `from: 'json'` also a string,
 * comes from a JSON answer, where a string that fits is used unchanged. Everything not listed here is rejected:
 *
 * - `null`, `None`: null if the schema allows null, text if it allows only text. If listed as an enum text: that text.
 * - text: trimmed, otherwise unchanged. Numbers are not text.
 * - text or another type: the other type if written as JSON.
 * - booleans: `true`, `false`, `yes`, `no` in any case. Not 1 and 0.
 * - numbers: with sign, decimal point and exponent; `1.0` is an integer. No thousands separators, units, or more digits than a number
 *   keeps.
 * - enum texts: exactly, or in another case if only one matches.
 * - lists, objects: JSON, or as in `readLiteral`; lists also as lines that begin with `-`, `*` or `1.`.
 *
 * For all types but text, a fence and one pair of backticks, asterisks or quotation marks are removed. Linear in the length of the text.
 */
export function coerceValue(
  given: Json,
  schema: JsonObject,
  { from = 'text' }: { readonly from?: 'text' | 'json' } = {},
): CoercedValue {
  const target = compile(schema);
  let issues: string | undefined;
  for (const value of typeof given === 'string' ? readings(given, target, from) : [given]) {
    const validation = target.compiled.validate(value);
    if (validation.ok) return { ok: true, value };
    if (target.kinds.has(kindOf(value))) issues = describeIssues(validation.issues);
  }
  if (issues === undefined) return { ok: false, message: describe(given, target.kinds) };
  return { ok: false, message: `does not fit: ${toPrintable(issues.slice(0, maxIssueLength))}` };
}

/** True if `text` is an enum text of `schema`. */
export function isListed(text: string, schema: JsonObject): boolean {
  return compile(schema).listed.includes(text);
}

interface Target extends SchemaKinds {
  readonly compiled: CompiledSchema;
}

const targets = new WeakMap<JsonObject, Target>();

function compile(schema: JsonObject): Target {
  let target = targets.get(schema);
  if (target === undefined) {
    target = { ...readKinds(schema), compiled: compileSchema(jsonSchema(schema)) };
    targets.set(schema, target);
  }
  return target;
}

/** The possible meanings of the text, most likely first. */
function* readings(given: string, { kinds, listed }: Target, from: 'text' | 'json'): Generator<Json> {
  if (from === 'json' && kinds.has('string')) yield given;
  const text = given.trim();
  const bare = unwrap(text);
  if (!kinds.has('string')) {
    yield* readScalar(bare, kinds);
    yield* readStructure(bare, kinds);
    if (kinds.has('array')) yield* readLines(bare);
    return;
  }
  if (listed.includes(text)) yield text;
  if (kinds.has('null') && /^(?:null|NULL|Null|None)$/.test(text)) yield null;
  if (kinds.has('boolean') && /^(?:true|false)$/.test(text)) yield text === 'true';
  if (kinds.has('number')) yield* readNumber(text);
  if (/^["[{]/.test(text) && ['array', 'object', 'number', 'boolean'].some((kind) => kinds.has(kind as Kind))) {
    const parsed = parseJson(text);
    if (parsed.ok) yield parsed.value;
  }
  yield text;
  const quoted = readLiteral(bare);
  const plain = quoted.ok && typeof quoted.value === 'string' ? quoted.value : bare;
  yield plain;
  if (plain.length > maxScalarLength) return;
  for (const said of [plain, plain.replace(/\.$/, '')].map((word) => word.toLowerCase())) {
    const folded = listed.filter((word) => word.toLowerCase() === said);
    if (folded.length === 1) yield* folded;
  }
}

const maxScalarLength = 400;

function* readScalar(text: string, kinds: ReadonlySet<Kind>): Generator<Json> {
  if (text.length > maxScalarLength) return;
  const said = text.replace(/^(["'])(.*)\1$/, '$2');
  const word = said.replace(/\.$/, '').toLowerCase();
  if (kinds.has('null') && (word === 'null' || word === 'none')) yield null;
  if (kinds.has('boolean') && (word === 'true' || word === 'yes')) yield true;
  if (kinds.has('boolean') && (word === 'false' || word === 'no')) yield false;
  if (kinds.has('number')) yield* readNumber(said);
}

const numeral = /^[+-]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

function* readNumber(text: string): Generator<number> {
  if (!numeral.test(text)) return;
  const number = Number(text) + 0; // Without the sign of a zero, which JSON would lose.
  // A longer number would silently become a different one.
  const isKept =
    !Number.isInteger(number) || Number.isSafeInteger(number) || /e/i.test(text) || String(number) === text;
  if (Number.isFinite(number) && isKept) yield number;
}

function* readStructure(text: string, kinds: ReadonlySet<Kind>): Generator<Json> {
  if (!kinds.has('array') && !kinds.has('object')) return;
  const literal = readLiteral(text);
  if (!literal.ok) return;
  // Some models encode JSON twice.
  const again = typeof literal.value === 'string' ? readLiteral(literal.value) : literal;
  if (again.ok && typeof again.value === 'object' && again.value !== null) yield again.value;
}

const item = /^([ \t]*)([-*•]|\d{1,4}[.)])[ \t]+(.*)$/;

/** A list of lines with the same kind of marker. Other lines may belong to the previous item or to none, so they are rejected. */
function* readLines(text: string): Generator<Json> {
  if (text.length > modelJsonLimits.maxLength) return;
  const items: string[] = [];
  let style: string | undefined;
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const found = item.exec(line.trimEnd());
    if (found === null) return;
    const [, indentation = '', sign = '', rest = ''] = found;
    const own = indentation + sign.replace(/\d+/, '1');
    style ??= own;
    if (own !== style) return;
    items.push(rest.trim());
  }
  if (items.length === 0) return;
  yield items;
  yield items.map(readItem);
}

const kindsOfItems: ReadonlySet<Kind> = new Set(['null', 'boolean', 'number', 'array', 'object']);

function readItem(text: string): Json {
  const bare = unwrap(text);
  for (const value of readScalar(bare, kindsOfItems)) return value;
  for (const value of readStructure(bare, kindsOfItems)) return value;
  return bare;
}

/** Removes a fence, backticks or asterisks around the text. */
function unwrap(text: string): string {
  const mark = /^(?:`+|~~~+|\*{1,3})/.exec(text)?.[0];
  if (mark === undefined || text.length < 2 * mark.length || !text.endsWith(mark)) return text;
  if (mark.length < 3 || mark.startsWith('*')) return text.slice(mark.length, -mark.length).trim();
  const lineEnd = text.indexOf('\n');
  return lineEnd === -1 ? text : text.slice(lineEnd + 1, Math.max(lineEnd + 1, text.length - mark.length)).trim();
}

const names: Readonly<Record<Kind, string>> = {
  null: 'null',
  boolean: 'true or false',
  number: 'a number',
  string: 'text',
  array: 'a list as JSON',
  object: 'a JSON object',
};

const maxIssueLength = 300;

function describe(given: Json, kinds: ReadonlySet<Kind>): string {
  const expected = `must be ${[...kinds].map((kind) => names[kind]).join(' or ')}`;
  if (typeof given !== 'string') return `${expected}, got ${names[kindOf(given)]}`;
  const bare = unwrap(given.trim());
  if (bare === '') return `${expected}, got nothing`;
  const got = toPrintable(bare.slice(0, 80)).replaceAll('`', "'");
  const literal = /^[[{]/.test(bare) ? readLiteral(bare) : undefined;
  const reason = literal === undefined || literal.ok ? '' : `: ${toPrintable(literal.problem)}`;
  return `${expected}, got \`${got}${bare.length > 80 ? '…' : ''}\`${reason}`;
}

/** The type of a value. Integers are numbers. */
export type Kind = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

const allKinds: ReadonlySet<Kind> = new Set(['null', 'boolean', 'number', 'string', 'array', 'object']);

function kindOf(value: Json): Kind {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as Exclude<Kind, 'null' | 'array'>;
}

/** The possible types of a value of `schema`, and its enum texts. */
export interface SchemaKinds {
  readonly kinds: ReadonlySet<Kind>;
  readonly listed: readonly string[];
}

function readKinds(schema: JsonObject): SchemaKinds {
  const listed = new Set<string>();
  const kinds = new KindReader(schema, listed).read(schema);
  return { kinds, listed: [...listed] };
}

class KindReader {
  readonly #root: JsonObject;
  readonly #listed: Set<string>;
  /** A reference that is being resolved adds no restriction of its own, so it counts as any kind. */
  readonly #references = new Map<string, ReadonlySet<Kind>>();

  constructor(root: JsonObject, listed: Set<string>) {
    this.#root = root;
    this.#listed = listed;
  }

  read(node: unknown): ReadonlySet<Kind> {
    if (!isPlainObject(node)) return allKinds;
    const { type, $ref: reference, allOf, const: constant } = node;
    const limits: ReadonlySet<Kind>[] = [];
    if (typeof type === 'string') limits.push(toKinds([type]));
    if (Array.isArray(type)) limits.push(toKinds(type));
    if (Array.isArray(node['enum'])) limits.push(this.#list(node['enum']));
    if (constant !== undefined) limits.push(this.#list([constant]));
    for (const union of [node['anyOf'], node['oneOf']]) {
      if (Array.isArray(union)) limits.push(new Set(union.flatMap((branch) => [...this.read(branch)])));
    }
    if (Array.isArray(allOf)) for (const part of allOf) limits.push(this.read(part));
    if (typeof reference === 'string') limits.push(this.#follow(reference));
    return new Set([...allKinds].filter((kind) => limits.every((limit) => limit.has(kind))));
  }

  #list(values: readonly unknown[]): ReadonlySet<Kind> {
    for (const value of values) if (typeof value === 'string') this.#listed.add(value);
    // A schema is JSON.
    return new Set(values.map((value) => kindOf(value as Json)));
  }

  #follow(reference: string): ReadonlySet<Kind> {
    const known = this.#references.get(reference);
    if (known !== undefined) return known;
    this.#references.set(reference, allKinds);
    const kinds = this.read(resolvePointer(this.#root, reference));
    this.#references.set(reference, kinds);
    return kinds;
  }
}

function toKinds(types: readonly unknown[]): ReadonlySet<Kind> {
  return new Set(
    [...allKinds].filter((kind) => types.includes(kind) || (kind === 'number' && types.includes('integer'))),
  );
}
