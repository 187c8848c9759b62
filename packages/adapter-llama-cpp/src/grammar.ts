import type { JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { basics, GrammarWriter } from './grammar-writer.ts';
import { type QuotedValues, quotedValues } from './quoted-values.ts';
import {
  countOf,
  held,
  isCircular,
  mergeAll,
  resolve,
  type Schema,
  silent,
  toLiteral,
  toStep,
  typeOf,
  typesOf,
} from './schema-parts.ts';

/** A keyword that a grammar does not enforce; the caller validates against the original schema. */
export interface LoweredKeyword {
  /** JSON Pointer to the schema with the keyword. */
  readonly path: string;
  readonly keyword: string;
}

/** The keywords of a schema that the grammar does not enforce. */
export interface LoweredSchema {
  /** The tools concerned; absent for the schema of a request's `output`. */
  readonly tools?: readonly string[] | undefined;
  readonly lowered: readonly LoweredKeyword[];
}

export interface Grammar {
  /** GBNF, llama.cpp's grammar language. */
  readonly text: string;
  readonly lowered: readonly LoweredKeyword[];
}

/**
 * Compiles a grammar for JSON that matches one of `schemas`: no spaces, properties in schema order, optional ones
 * present or not; undeclared properties only where none are declared. Generated JSON has the declared shape; `lowered`
 * lists the keywords that are not enforced. With `quoted`, strings and numbers are limited to those in the texts:
 * without a match, an optional property is left out and a required one is unlimited.
 *
 * Source: grammars/README.md of llama.cpp.
 */
export function toGrammar(schemas: readonly JsonObject[], quoted?: readonly string[]): Grammar {
  const writer = new GrammarWriter();
  const values = quoted === undefined ? undefined : quotedValues(writer, quoted);
  const roots = schemas.map((schema) => new SchemaRules(writer, schema, values).ruleOf(schema, '', 0));
  return { text: writer.toText(roots), lowered: writer.lowered };
}

/** Levels of a recursive schema; below, any JSON is allowed. */
const maxDepth = 64;
/**
 * Per schema, roughly in characters. llama.cpp parses a grammar synchronously and tries all choices for each token; the
 * call path validates the rest.
 */
const maxSize = 32_768;
/** Longer repetitions make the grammar slow; the call path validates larger lengths. */
const maxRepeat = 2000;

/** The rules of one schema and of its references. */
class SchemaRules {
  readonly #writer: GrammarWriter;
  readonly #root: Schema;
  readonly #quoted: QuotedValues | undefined;
  readonly #references = new Map<string, string>();
  readonly #circles = new Map<string, boolean>();
  readonly #strings = new Map<string, string>();
  #room = maxSize;

  constructor(writer: GrammarWriter, root: Schema, quoted: QuotedValues | undefined) {
    this.#writer = writer;
    this.#root = root;
    this.#quoted = quoted;
  }

  ruleOf(schema: unknown, path: string, depth: number): string {
    if (schema === false) return this.#never(path, 'false');
    if (!isPlainObject(schema)) return 'value';
    this.#room -= leastSize;
    if (depth > maxDepth || this.#room < 0) return this.#anything(schema, path);
    for (const keyword of Object.keys(schema)) {
      if (!held.has(keyword)) this.#writer.lowered.push({ path, keyword });
    }
    const deeper = depth + 1;
    if (Object.hasOwn(schema, 'const')) return this.#choice([schema['const']], { path, keyword: 'const' });
    const values = schema['enum'];
    if (Array.isArray(values)) return this.#choice(values, { path, keyword: 'enum' });
    const reference = schema['$ref'];
    if (typeof reference === 'string') return this.#referenceOf(reference, schema, { path, depth: deeper });
    const all = schema['allOf'];
    if (Array.isArray(all)) {
      // The last `$ref` wins.
      if (all.filter((one) => isPlainObject(one) && Object.hasOwn(one, '$ref')).length > 1)
        this.#writer.lowered.push({ path, keyword: 'allOf' });
      return this.ruleOf(mergeAll(schema, all), path, deeper);
    }
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
    if (type === 'integer' || type === 'number') return this.#quoted?.numberRule(type) ?? type;
    if (type !== 'string') return basics.has(type) ? type : 'value';
    const least = countOf(schema['minLength']) ?? 0;
    const most = countOf(schema['maxLength']);
    const quoted = this.#quoted?.textRule(least, most);
    if (quoted !== undefined) {
      if (!quoted.holdsLength) this.#writer.lowered.push({ path, keyword: 'maxLength' });
      return quoted.rule;
    }
    if (least === 0 && most === undefined) return 'string';
    const known = this.#strings.get(`${least},${most}`);
    if (known !== undefined) return known;
    const count = this.#writer.lowered.length;
    const repeat = this.#repeat(least, most, { path, keyword: 'maxLength' });
    const rule = this.#writer.add(() => String.raw`"\"" char${repeat} "\""`);
    // A lowered keyword must be reported on each use.
    if (this.#writer.lowered.length === count) this.#strings.set(`${least},${most}`, rule);
    return rule;
  }

  /** One of the values; if there are too many, a value of their types. */
  #choice(values: readonly unknown[], lowered: LoweredKeyword): string {
    if (values.length === 0) return this.#never(lowered.path, lowered.keyword);
    const literals = values.map(toLiteral);
    const size = literals.reduce((sum, literal) => sum + literal.length, 0);
    if (size <= this.#room) {
      this.#room -= size;
      return `(${literals.join(' | ')})`;
    }
    this.#writer.lowered.push(lowered);
    return `(${[...new Set(values.map(typeOf))].join(' | ')})`;
  }

  #object(schema: Schema, path: string, depth: number): string {
    const declared = isPlainObject(schema['properties']) ? schema['properties'] : {};
    const others = schema['additionalProperties'];
    const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
    const undeclared = [...required].filter((name) => typeof name === 'string' && !Object.hasOwn(declared, name));
    if (others === false && undeclared.length > 0) this.#writer.lowered.push({ path, keyword: 'required' });
    const properties = [
      ...Object.entries(declared),
      ...(others === false ? [] : undeclared.map((name) => [name, others] as const)),
    ];
    if (properties.length === 0) {
      if (others === false) return '"{}"';
      if (!isPlainObject(others)) return 'object';
      const value = this.#named(others, `${path}/additionalProperties`, depth);
      return `"{" (string ":" ${value} ("," string ":" ${value})*)? "}"`;
    }
    const size = properties.reduce((sum, [name]) => sum + name.length + leastSize, 0);
    if (size > this.#room) {
      this.#writer.lowered.push({ path, keyword: 'properties' });
      return 'object';
    }
    const entries = properties
      .filter(([name, property]) => required.has(name) || this.#quoted?.lacks(property) !== true)
      .map(([name, property]) => ({
        rule: `${toLiteral(name)} ":" ${this.#named(property, `${path}/properties/${toStep(name)}`, depth)}`,
        isRequired: required.has(name),
      }));
    return `"{" ${this.#entries(entries, 0, true)} "}"`;
  }

  /** The text that may follow from entry `index` on; one rule per entry, with and without a leading comma. */
  #entries(entries: readonly Entry[], index: number, isFirst: boolean): string {
    // Built from the end, so that each rule is created once.
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

  /** Names a text that is used repeatedly: llama.cpp limits the size of a repetition. */
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
    const rules = branches.map((branch, index) => {
      const at = `${path}/${keyword}/${index}`;
      return this.#room < 0 ? this.#anything(schema, at) : this.ruleOf(mergeAll(beside, [branch]), at, depth);
    });
    return `(${rules.join(' | ')})`;
  }

  #referenceOf(
    reference: string,
    schema: Schema,
    { path, depth }: { readonly path: string; readonly depth: number },
  ): string {
    const target = resolve(reference, this.#root);
    for (const keyword of Object.keys(schema)) {
      const isSaid = keyword === '$ref' || silent.has(keyword) || !held.has(keyword);
      const isSame = isPlainObject(target) && Object.hasOwn(target, keyword) && target[keyword] === schema[keyword];
      if (!isSaid && !isSame) this.#writer.lowered.push({ path, keyword });
    }
    const known = this.#references.get(reference);
    if (known !== undefined) return known;
    if (target === undefined || this.#isCircle(reference)) {
      this.#writer.lowered.push({ path, keyword: '$ref' });
      return 'value';
    }
    return this.#writer.add((name) => {
      this.#references.set(reference, name);
      return this.ruleOf(target, reference.replace(/^#/, ''), depth);
    });
  }

  #isCircle(reference: string): boolean {
    const known = this.#circles.get(reference);
    if (known !== undefined) return known;
    const found = isCircular(reference, this.#root);
    this.#circles.set(reference, found);
    return found;
  }

  #repeat(least: number, most: number | undefined, lowered: LoweredKeyword): string {
    const count = Math.max(least, most ?? 0);
    if (count > Math.min(maxRepeat, this.#room)) {
      this.#writer.lowered.push(lowered);
      const kept = Math.max(0, Math.min(least, maxRepeat, this.#room));
      this.#room -= kept;
      return `{${kept},}`;
    }
    this.#room -= count;
    return `{${least},${most === undefined ? '' : Math.max(least, most)}}`;
  }

  #anything(schema: Schema, path: string): string {
    for (const keyword of Object.keys(schema)) this.#writer.lowered.push({ path, keyword });
    return 'value';
  }

  /** No value is valid. The closest valid grammar is `null`, which the original schema rejects. */
  #never(path: string, keyword: string): string {
    this.#writer.lowered.push({ path, keyword });
    return 'null';
  }
}

/** The size of an empty schema, and of a property without its name. */
const leastSize = 16;

interface Entry {
  readonly rule: string;
  readonly isRequired: boolean;
}
