import { isPlainObject } from '@holdfast/core/internal';
import { maxIssues } from './bounded-issues.ts';
import type { SchemaIssue } from './compiled.ts';

export type Node = Readonly<Record<string, unknown>>;

/** The schemas that apply to one place, and their shape, computed on first use. */
export interface Place {
  readonly nodes: readonly Node[];
  shape: Shape | undefined;
}

/** The keys and checks that the schemas of one place declare together. */
export interface Shape {
  /** Nothing below has keys to check. */
  readonly leaf: boolean;
  /** Lists are rejected. */
  readonly objectsOnly: boolean;
  /** Items of a list must be unique. */
  readonly unique: boolean;
  /** Any key is allowed. */
  readonly open: boolean;
  readonly keys: ReadonlyMap<string, Place>;
  readonly patterns: readonly { readonly pattern: RegExp; readonly node: Node }[];
  /** For the values of keys that are not declared by name. */
  readonly rest: Place;
  readonly items: Place;
  readonly prefix: readonly Place[];
  /** Required keys that every object inherits from its prototype. */
  readonly inherited: readonly string[];
}

/** The inputs of a search for undeclared keys. */
interface Search {
  readonly root: Node;
  /** Keys that the validator silently drops from open objects: they are rejected. */
  readonly dropped?: ReadonlySet<string>;
  /** Also lists arrays with equal items under `uniqueItems`. */
  readonly hasEqualItems?: ItemsTest | undefined;
}

interface Searching extends Search {
  readonly issues: SchemaIssue[];
}

/**
 * Lists keys which no branch of a JSON Schema declares. An object schema is closed unless it sets `additionalProperties` (or
 * `unevaluatedProperties`) to something other than false. Under `allOf`, `anyOf`, `oneOf`, `$ref`, `if`, `then`, `else` and
 * `dependentSchemas` a key is declared if any branch declares it. `start`: the place of `root`, kept for all values.
 *
 * Also lists required keys that are only inherited, which many validators accept. Stops at `maxIssues`.
 */
export function findUndeclared(value: unknown, start: Place, search: Search): readonly SchemaIssue[] {
  const searching: Searching = { ...search, issues: [] };
  walk(value, start, '', searching);
  return searching.issues;
}

function walk(value: unknown, place: Place, path: string, searching: Searching): void {
  const { root, issues, hasEqualItems } = searching;
  if (typeof value !== 'object' || value === null || place.nodes.length === 0 || issues.length >= maxIssues) return;
  place.shape ??= readShape(place.nodes, root);
  const { shape } = place;
  if (Array.isArray(value)) {
    // Validators that only check `typeof value === 'object'` accept a list.
    if (shape.objectsOnly) issues.push({ path, message: 'Must be an object, got a list.' });
    if (shape.unique && hasEqualItems?.(value) === true) issues.push({ path, message: 'Contains equal items.' });
    if (shape.leaf) return;
    for (let index = 0; index < value.length; index += 1) {
      walk(value[index], shape.prefix[index] ?? shape.items, `${path}[${index}]`, searching);
    }
  } else if (!shape.leaf && isPlainObject(value)) {
    walkObject(value, shape, path, searching);
  }
}

function walkObject(value: Node, shape: Shape, path: string, searching: Searching): void {
  const { issues, dropped } = searching;
  for (const key of shape.inherited) {
    if (!Object.hasOwn(value, key)) issues.push({ path: join(path, key), message: 'Required, but missing.' });
  }
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    let place = shape.keys.get(key);
    if (shape.patterns.length > 0) {
      const matched = shape.patterns.filter(({ pattern }) => pattern.test(key)).map(({ node }) => node);
      if (matched.length > 0) place = placeOf([...(place?.nodes ?? []), ...matched]);
    }
    if (place === undefined && (!shape.open || dropped?.has(key) === true))
      issues.push({ path: join(path, key), message: 'Unknown key.' });
    const inner = value[key];
    if (typeof inner === 'object') walk(inner, place ?? shape.rest, join(path, key), searching);
  }
}

type ItemsTest = (items: readonly unknown[]) => boolean;

export function placeOf(nodes: readonly Node[]): Place {
  return { nodes, shape: undefined };
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

export function readShape(nodes: readonly Node[], root: Node): Shape {
  const branches = new Set<Node>();
  for (const node of nodes) collectBranches(node, root, branches);

  const keys = new Map<string, Node[]>();
  const patterns: { pattern: RegExp; node: Node }[] = [];
  const rest: Node[] = [];
  const items: Node[] = [];
  const prefix: Node[] = [];
  const inherited: string[] = [];
  let open = false;
  let unique = false;
  let describesObject = false;
  for (const branch of branches) {
    const { properties, patternProperties, type, required } = branch;
    if (type === 'object' || (Array.isArray(type) && type.includes('object')) || isPlainObject(properties)) {
      describesObject = true;
    }
    if (isPlainObject(properties)) {
      for (const [key, node] of Object.entries(properties)) {
        const known = keys.get(key) ?? [];
        if (isPlainObject(node)) known.push(node);
        keys.set(key, known);
      }
    }
    if (isPlainObject(patternProperties)) {
      describesObject = true;
      for (const [source, node] of Object.entries(patternProperties)) {
        patterns.push({ pattern: new RegExp(source, 'u'), node: isPlainObject(node) ? node : {} });
      }
    }
    for (const keyword of ['additionalProperties', 'unevaluatedProperties']) {
      const value = branch[keyword];
      if (value === undefined) continue;
      describesObject = true;
      if (value !== false) open = true;
      if (isPlainObject(value)) rest.push(value);
    }
    if (branch['uniqueItems'] === true) unique = true;
    for (const list of [branch['prefixItems'], branch['items']]) {
      // One by one: there may be more than a call can take as arguments.
      if (Array.isArray(list)) for (const node of list) if (isPlainObject(node)) prefix.push(node);
    }
    if (isPlainObject(branch['items'])) items.push(branch['items']);
    if (Array.isArray(required)) {
      inherited.push(...required.filter((key): key is string => typeof key === 'string' && key in Object.prototype));
    }
  }
  return {
    objectsOnly: nodes.every(({ type }) => type === 'object'),
    leaf: !describesObject && items.length === 0 && prefix.length === 0,
    unique,
    open: open || !describesObject,
    keys: new Map([...keys].map(([key, list]) => [key, placeOf(list)])),
    patterns,
    rest: placeOf(rest),
    items: placeOf(items),
    prefix: prefix.map((node) => placeOf([node])),
    inherited,
  };
}

/** Adds the schemas that apply to the same value as `node`: combined, conditional or referenced. */
export function collectBranches(node: Node, root: Node, branches: Set<Node>): void {
  if (branches.has(node)) return;
  branches.add(node);
  for (const keyword of ['allOf', 'anyOf', 'oneOf']) {
    const list = node[keyword];
    if (Array.isArray(list)) for (const branch of list.filter(isPlainObject)) collectBranches(branch, root, branches);
  }
  for (const keyword of ['if', 'then', 'else']) {
    const branch = node[keyword];
    if (isPlainObject(branch)) collectBranches(branch, root, branches);
  }
  // `dependencies` is the older form of both; a list in it names keys that another key requires.
  for (const keyword of ['dependentSchemas', 'dependencies']) {
    const dependent = node[keyword];
    if (!isPlainObject(dependent)) continue;
    for (const branch of Object.values(dependent).filter(isPlainObject)) collectBranches(branch, root, branches);
  }
  if (typeof node['$ref'] === 'string') {
    const target = resolvePointer(root, node['$ref']);
    if (isPlainObject(target)) collectBranches(target, root, branches);
  }
}

/** Resolves a local reference (`#`, `#/$defs/x`) in `root`; `undefined` if it does not exist. */
export function resolvePointer(root: Node, reference: string): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return undefined;
  let current: unknown = root;
  for (const part of reference.slice(2).split('/')) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Readonly<Record<string, unknown>>)[key];
  }
  return current;
}
