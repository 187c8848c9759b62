import { isPlainObject, type Json, type JsonObject } from '@holdfast/core';
import { resolvePointer } from '@holdfast/schema';

/** What a value can be. Integers are numbers. */
export type Kind = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object';

const allKinds: ReadonlySet<Kind> = new Set(['null', 'boolean', 'number', 'string', 'array', 'object']);

export function kindOf(value: Json): Kind {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as Exclude<Kind, 'null' | 'array'>;
}

/** Of which kinds a value of `schema` may be, at most, and the texts that it lists one by one. */
export interface SchemaKinds {
  readonly kinds: ReadonlySet<Kind>;
  readonly listed: readonly string[];
}

export function readKinds(schema: JsonObject): SchemaKinds {
  const listed = new Set<string>();
  const kinds = new KindReader(schema, listed).read(schema);
  return { kinds, listed: [...listed] };
}

class KindReader {
  readonly #root: JsonObject;
  readonly #listed: Set<string>;
  /** A reference that is being followed may be of any kind: it says nothing of itself. */
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
