import type { JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { collectBranches } from '@holdfast/schema/internal';
import { namedValues } from './named-values.ts';
import { readJson } from './pairs.ts';

type Node = Readonly<Record<string, unknown>>;

/** The secret marks of a schema. */
interface Marks {
  readonly root: Node;
  /** Names of properties marked secret anywhere in the schema. */
  readonly names: ReadonlySet<string>;
}

const marksBySchema = new WeakMap<object, Marks | null>();

/** True if a schema marks anything as secret. */
export function marksSecrets(schema: JsonObject): boolean {
  return marksOf(schema) !== null;
}

/**
 * The texts and numbers in `value` that its schema marks secret, by `writeOnly: true` or `format: 'password'`, including everything
 * in a marked list or object. Also reads JSON in text, even if cut off or with duplicate keys. `value` need not fit the schema.
 */
export function secretsIn(schema: JsonObject | undefined, value: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  const marks = schema === undefined ? null : marksOf(schema);
  if (marks === null) return found;
  collect(value, [marks.root], marks.root, found);
  // In invalid JSON, duplicates, or text in place of an object, only the names tell.
  for (const text of textsIn(value)) {
    for (const secret of namedValues(text, marks.names)) found.add(secret);
  }
  return found;
}

function collect(value: unknown, nodes: readonly Node[], root: Node, found: Set<string>): void {
  if (nodes.length === 0 || value === null || value === undefined) return;
  const branches = new Set<Node>();
  for (const node of nodes) collectBranches(node, root, branches);
  if ([...branches].some(isMarked)) {
    addAll(value, found);
    return;
  }
  if (typeof value === 'string') {
    const parsed = readJson(value);
    if (parsed !== undefined) collect(parsed, nodes, root, found);
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collect(item, itemNodes(branches, index), root, found);
  } else if (isPlainObject(value)) {
    for (const [key, inner] of Object.entries(value)) collect(inner, propertyNodes(branches, key), root, found);
  }
}

function isMarked(node: Node): boolean {
  return node['writeOnly'] === true || node['format'] === 'password';
}

function itemNodes(branches: ReadonlySet<Node>, index: number): readonly Node[] {
  return [...branches].flatMap(({ items, prefixItems, additionalItems, unevaluatedItems, contains }) => {
    const fixed: unknown = Array.isArray(prefixItems)
      ? prefixItems[index]
      : Array.isArray(items)
        ? items[index]
        : undefined;
    return [fixed, items, additionalItems, unevaluatedItems, contains].filter(isPlainObject);
  });
}

function propertyNodes(branches: ReadonlySet<Node>, key: string): readonly Node[] {
  return [...branches].flatMap(({ properties, patternProperties, additionalProperties, unevaluatedProperties }) => {
    const own = isPlainObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
    const matched = Object.entries(isPlainObject(patternProperties) ? patternProperties : {})
      .filter(([pattern]) => matches(pattern, key))
      .map(([, node]) => node);
    return [own, ...matched, additionalProperties, unevaluatedProperties].filter(isPlainObject);
  });
}

function matches(pattern: string, key: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(key);
  } catch {
    // A pattern that no validator accepts protects nothing.
    return true;
  }
}

function marksOf(schema: JsonObject): Marks | null {
  let marks = marksBySchema.get(schema);
  if (marks === undefined) {
    const names = new Set<string>();
    marks = survey(schema, schema, names) ? { root: schema, names } : null;
    marksBySchema.set(schema, marks);
  }
  return marks;
}

/** True if anything below `node` is marked; collects the names of marked properties. */
function survey(node: unknown, root: Node, names: Set<string>): boolean {
  if (Array.isArray(node)) return node.map((inner) => survey(inner, root, names)).includes(true);
  if (!isPlainObject(node)) return false;
  let marked = isMarked(node);
  for (const [keyword, inner] of Object.entries(node)) {
    if (keyword === 'properties' && isPlainObject(inner)) {
      for (const [name, property] of Object.entries(inner)) {
        if (!isPlainObject(property)) continue;
        const branches = new Set<Node>();
        collectBranches(property, root, branches);
        if ([...branches].some(isMarked)) names.add(name);
      }
    }
    if (survey(inner, root, names)) marked = true;
  }
  return marked;
}

/** Adds all texts and numbers of a marked value. */
function addAll(value: unknown, found: Set<string>): void {
  if (typeof value === 'string') {
    if (value !== '') found.add(value);
    // Each part of a list or object in text is a secret, too.
    const parsed = readJson(value);
    if (parsed !== undefined) addAll(parsed, found);
  } else if (typeof value === 'number') found.add(String(value));
  else if (Array.isArray(value)) for (const item of value) addAll(item, found);
  else if (isPlainObject(value)) for (const inner of Object.values(value)) addAll(inner, found);
}

/** All texts in `value`, without names. */
export function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isPlainObject(value) ? Object.values(value).flatMap(textsIn) : [];
}
