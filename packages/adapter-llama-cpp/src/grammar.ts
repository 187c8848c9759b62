import { isPlainObject, type JsonObject } from '@holdfast/core';

/** A keyword that a grammar does not hold; what a model writes is held against the original schema by whoever asked. */
export interface LoweredKeyword {
  /** JSON Pointer to the schema in which it stands. */
  readonly path: string;
  readonly keyword: string;
}

/** What a schema says that the grammar does not hold. */
export interface LoweredSchema {
  /** The tools whose calls it is about; absent for the schema of a request's `output`. */
  readonly tools?: readonly string[] | undefined;
  readonly lowered: readonly LoweredKeyword[];
}

export interface Grammar {
  /** GBNF, llama.cpp's grammar language. */
  readonly text: string;
  readonly lowered: readonly LoweredKeyword[];
}

/**
 * A grammar of the JSON that one of `schemas` allows: without spaces, properties in their order, optional ones present or not, and
 * none that is not declared where some are. Whatever it generates is JSON of the declared shape; the keywords that it does not
 * hold are in `lowered`.
 *
 * Source: grammars/README.md of llama.cpp.
 */
export function toGrammar(schemas: readonly JsonObject[]): Grammar {
  const writer = new GrammarWriter();
  const roots = schemas.map((schema) => new SchemaRules(writer, schema).ruleOf(schema, '', 0));
  return { text: writer.toText(roots), lowered: writer.lowered };
}

/** Levels of a schema that refers to itself; below, any JSON is taken. */
const maxDepth = 64;
/** Longer repetitions make the grammar slow; from here on, the length is for the call path to judge. */
const maxRepeat = 2000;

const basics: ReadonlyMap<string, string> = new Map([
  ['string', String.raw`"\"" char* "\""`],
  ['char', String.raw`[^"\\\x00-\x1F\x7F] | "\\" (["\\/bfnrt] | "u" unit)`],
  // No half of a pair: it would be no text.
  ['unit', '([0-9abcefABCEF] hex hex hex | [dD] [0-7] hex hex)'],
  ['hex', '[0-9a-fA-F]'],
  ['integer', '"-"? natural'],
  // At most 16 digits: more would not be the number that was written.
  ['natural', '"0" | [1-9] [0-9]{0,14}'],
  ['number', 'integer ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?'],
  ['boolean', '"true" | "false"'],
  ['null', '"null"'],
  ['value', 'string | number | boolean | null | object | array'],
  ['object', '"{" (string ":" value ("," string ":" value)*)? "}"'],
  ['array', '"[" (value ("," value)*)? "]"'],
]);

class GrammarWriter {
  readonly #rules: string[] = [];
  readonly lowered: LoweredKeyword[] = [];

  /** The name of a new rule; its text may need other rules, itself among them. */
  add(toText: (name: string) => string): string {
    const name = `r${this.#rules.length}`;
    const index = this.#rules.push('') - 1;
    this.#rules[index] = `${name} ::= ${toText(name)}`;
    return name;
  }

  toText(roots: readonly string[]): string {
    const own = [...basics].map(([name, text]) => `${name} ::= ${text}`);
    return [`root ::= ${roots.join(' | ')}`, ...this.#rules, ...own, ''].join('\n');
  }
}

const held: ReadonlySet<string> = new Set([
  ...['type', 'const', 'enum', 'properties', 'required', 'additionalProperties', 'items', 'prefixItems', 'minItems'],
  ...['maxItems', 'minLength', 'maxLength', 'anyOf', 'oneOf', 'allOf', '$ref', '$defs', 'definitions', 'nullable'],
  // Say nothing about what is allowed.
  ...[
    'title',
    'description',
    'default',
    'examples',
    '$schema',
    '$id',
    '$comment',
    'deprecated',
    'readOnly',
    'writeOnly',
  ],
]);

type Schema = Readonly<Record<string, unknown>>;

/** The rules of one schema and of what it refers to. */
class SchemaRules {
  readonly #writer: GrammarWriter;
  readonly #root: Schema;
  readonly #references = new Map<string, string>();

  constructor(writer: GrammarWriter, root: Schema) {
    this.#writer = writer;
    this.#root = root;
  }

  ruleOf(schema: unknown, path: string, depth: number): string {
    if (schema === false) return this.#never(path, 'false');
    if (!isPlainObject(schema) || depth > maxDepth) return 'value';
    for (const keyword of Object.keys(schema)) {
      if (!held.has(keyword)) this.#writer.lowered.push({ path, keyword });
    }
    const deeper = depth + 1;
    if (Object.hasOwn(schema, 'const')) return toLiteral(schema['const']);
    const values = schema['enum'];
    if (Array.isArray(values)) {
      return values.length === 0 ? this.#never(path, 'enum') : `(${values.map(toLiteral).join(' | ')})`;
    }
    const reference = schema['$ref'];
    if (typeof reference === 'string') return this.#referenceOf(reference, path, deeper);
    const all = schema['allOf'];
    if (Array.isArray(all)) return this.ruleOf(mergeAll(schema, all), path, deeper);
    for (const keyword of ['anyOf', 'oneOf']) {
      const branches = schema[keyword];
      if (Array.isArray(branches)) return this.#oneOf(schema, { keyword, branches }, { path, depth: deeper });
    }
    const types = typesOf(schema);
    return `(${types.map((type) => this.#typed(type, schema, path, deeper)).join(' | ')})`;
  }

  #typed(type: string, schema: Schema, path: string, depth: number): string {
    if (type === 'object') return this.#object(schema, path, depth);
    if (type === 'array') return this.#array(schema, path, depth);
    if (type !== 'string') return basics.has(type) ? type : 'value';
    const least = countOf(schema['minLength']) ?? 0;
    const most = countOf(schema['maxLength']);
    if (least === 0 && most === undefined) return 'string';
    return String.raw`"\"" char${this.#repeat(least, most, { path, keyword: 'maxLength' })} "\""`;
  }

  #object(schema: Schema, path: string, depth: number): string {
    const properties = Object.entries(isPlainObject(schema['properties']) ? schema['properties'] : {});
    const others = schema['additionalProperties'];
    if (properties.length === 0) {
      if (others === false) return '"{}"';
      if (!isPlainObject(others)) return 'object';
      const value = this.#named(others, `${path}/additionalProperties`, depth);
      return `"{" (string ":" ${value} ("," string ":" ${value})*)? "}"`;
    }
    const required = Array.isArray(schema['required']) ? schema['required'] : [];
    const entries = properties.map(([name, property]) => ({
      rule: `${toLiteral(name)} ":" ${this.ruleOf(property, `${path}/properties/${toStep(name)}`, depth)}`,
      isRequired: required.includes(name),
    }));
    return `"{" ${this.#entries(entries, 0, true)} "}"`;
  }

  /** What may follow from the entry `index` on; a rule for each entry and whether a comma has to come before it. */
  #entries(entries: readonly Entry[], index: number, isFirst: boolean): string {
    // Built from the end, so that each rule is made once.
    let first = '""';
    let later = '""';
    for (const { rule, isRequired } of entries.slice(index).reverse()) {
      const [afterFirst, afterLater] = [first, later];
      later = this.#writer.add(() => `"," ${rule} ${afterLater}${isRequired ? '' : ` | ${afterLater}`}`);
      first = this.#writer.add(() => `${rule} ${afterLater}${isRequired ? '' : ` | ${afterFirst}`}`);
    }
    return isFirst ? first : later;
  }

  #array(schema: Schema, path: string, depth: number): string {
    const leading = Array.isArray(schema['prefixItems']) ? schema['prefixItems'] : [];
    if (leading.length > 0) {
      const items = leading.map((item, index) => this.ruleOf(item, `${path}/prefixItems/${index}`, depth));
      return `"[" ${items.join(' "," ')} "]"`;
    }
    const item = this.#named(schema['items'], `${path}/items`, depth);
    const least = countOf(schema['minItems']) ?? 0;
    const most = countOf(schema['maxItems']);
    if (most === 0) return '"[]"';
    const rest = this.#repeat(Math.max(0, least - 1), most === undefined ? undefined : most - 1, {
      path,
      keyword: 'maxItems',
    });
    const filled = `${item} ("," ${item})${rest}`;
    return `"[" ${least === 0 ? `(${filled})?` : filled} "]"`;
  }

  /** For what is repeated: llama.cpp counts what is in a repetition, and takes only so much. */
  #named(schema: unknown, path: string, depth: number): string {
    const rule = this.ruleOf(schema, path, depth);
    return /^\w+$/.test(rule) ? rule : this.#writer.add(() => rule);
  }

  #oneOf(
    schema: Schema,
    { keyword, branches }: { readonly keyword: string; readonly branches: readonly unknown[] },
    { path, depth }: { readonly path: string; readonly depth: number },
  ): string {
    const { [keyword]: _branches, ...beside } = schema;
    if (branches.length === 0) return this.#never(path, keyword);
    const rules = branches
      .map((branch, index) => ({ branch: mergeAll(beside, [branch]), at: `${path}/${keyword}/${index}` }))
      .map(({ branch, at }) => this.ruleOf(branch, at, depth));
    return `(${rules.join(' | ')})`;
  }

  #referenceOf(reference: string, path: string, depth: number): string {
    const known = this.#references.get(reference);
    if (known !== undefined) return known;
    const target = resolve(reference, this.#root);
    if (target === undefined) {
      this.#writer.lowered.push({ path, keyword: '$ref' });
      return 'value';
    }
    return this.#writer.add((name) => {
      this.#references.set(reference, name);
      return this.ruleOf(target, reference.replace(/^#/, ''), depth);
    });
  }

  #repeat(least: number, most: number | undefined, lowered: LoweredKeyword): string {
    if (least > maxRepeat || (most ?? 0) > maxRepeat) {
      this.#writer.lowered.push(lowered);
      return `{${Math.min(least, maxRepeat)},}`;
    }
    return `{${least},${most === undefined ? '' : Math.max(least, most)}}`;
  }

  /** Nothing fits; the nearest that can be written is `null`, which the original refuses. */
  #never(path: string, keyword: string): string {
    this.#writer.lowered.push({ path, keyword });
    return 'null';
  }
}

interface Entry {
  readonly rule: string;
  readonly isRequired: boolean;
}

const allTypes = ['object', 'array', 'string', 'number', 'boolean', 'null'];

function typesOf(schema: Schema): readonly string[] {
  const declared = schema['type'];
  const types = Array.isArray(declared) ? declared.filter((type) => typeof type === 'string') : [declared];
  const named = types.filter((type): type is string => typeof type === 'string');
  const guessed = ['properties', 'additionalProperties'].some((keyword) => Object.hasOwn(schema, keyword))
    ? ['object']
    : ['items', 'prefixItems'].some((keyword) => Object.hasOwn(schema, keyword))
      ? ['array']
      : allTypes;
  const found = named.length > 0 ? named : guessed;
  return schema['nullable'] === true && !found.includes('null') ? [...found, 'null'] : found;
}

/** One schema that says what all of them say, as far as objects go: properties and what is required together. */
function mergeAll(schema: Schema, branches: readonly unknown[]): Schema {
  const { allOf: _all, ...base } = schema;
  const all = [base, ...branches.filter(isPlainObject)];
  const properties = all.flatMap(({ properties: some }) => (isPlainObject(some) ? Object.entries(some) : []));
  const required = all.flatMap(({ required: some }) => (Array.isArray(some) ? some : []));
  return {
    ...Object.fromEntries(all.flatMap((one) => Object.entries(one))),
    ...(properties.length > 0 ? { properties: Object.fromEntries(properties) } : {}),
    ...(required.length > 0 ? { required } : {}),
  };
}

function resolve(reference: string, root: Schema): unknown {
  if (!reference.startsWith('#')) return undefined;
  let target: unknown = root;
  for (const step of reference.slice(1).split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (!isPlainObject(target) || !Object.hasOwn(target, key)) return undefined;
    target = target[key];
  }
  return target;
}

/** The JSON of a value as a literal of the grammar. */
function toLiteral(value: unknown): string {
  const json = JSON.stringify(value ?? null);
  return `"${json.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
}

/** A step of a JSON Pointer. */
function toStep(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1');
}
