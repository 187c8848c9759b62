import type { Json, PolicyResult, PreparedCall } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { compileSchema } from '@holdfast/schema';
import { collectBranches } from '@holdfast/schema/internal';
import { matchesOne } from './known.ts';
import type { TrustedField } from './options.ts';

/** A text or number of a result, or a key that is one: `{ "ann@example.com": "may read" }`. */
export interface Leaf {
  /** With dots, without positions in lists: `participants`, `sender.email`. Empty for the result itself. */
  readonly field: string;
  readonly value: string | number;
  /** True if outsiders cannot write it. */
  readonly trusted: boolean;
}

type Node = Readonly<Record<string, unknown>>;

interface Schemas {
  readonly root: Node;
  readonly nodes: readonly Node[];
}

const maxLeaves = 5_000;
const maxDepth = 30;

/**
 * The texts and numbers of a result. `trusted`: the fields that the host declared; `untrusted: true` in the tool's `outputSchema` takes a
 * field out, and facts that say so take out all but the named ones. The message of a tool is untrusted.
 */
export function readLeaves(
  call: PreparedCall,
  { value, message }: PolicyResult,
  trusted: readonly TrustedField[],
): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const bringsForeign = call.facts?.untrusted === true;
  const always = new Set(trusted.filter((each) => typeof each === 'string'));
  const conditional = trusted.filter((each) => typeof each !== 'string');
  /** Fields that are trusted in the record that is read, as its other fields say so. */
  let granted: readonly string[] = [];
  const isTrusted = (field: string): boolean => {
    if (always.has('*') && !bringsForeign) return true;
    for (let at = field; at !== ''; at = parentOf(at)) if (always.has(at) || granted.includes(at)) return true;
    return false;
  };
  const isMet = (where: Readonly<Record<string, readonly string[]>>, field: string, record: Node, marks?: Branches) =>
    Object.entries(where).every(([name, patterns]) => {
      const key = name.slice(name.lastIndexOf('.') + 1);
      if (parentOf(name) !== field || !Object.hasOwn(record, key)) return false;
      const isMarked = marks !== undefined && branchesOf(marks.property(key)).isMarked;
      return !isMarked && matchesOne(record[key], patterns);
    });
  const walk = (inner: unknown, field: string, schemas: Schemas | undefined, depth = 0): void => {
    if (leaves.length >= maxLeaves || depth > maxDepth) return;
    const marks = schemas === undefined ? undefined : branchesOf(schemas);
    if (marks?.isMarked === true) {
      add(leaves, inner, field);
    } else if (Array.isArray(inner)) {
      for (const item of inner) walk(item, field, marks?.items(), depth + 1);
    } else if (isPlainObject(inner)) {
      const outer = granted;
      for (const { fields, where } of conditional)
        if (isMet(where, field, inner, marks)) granted = [...granted, ...fields];
      for (const [key, item] of Object.entries(inner)) {
        if (namesValue(key)) leaves.push({ field, value: key, trusted: isTrusted(field) });
        walk(item, field === '' ? key : `${field}.${key}`, marks?.property(key), depth + 1);
      }
      granted = outer;
    } else if (typeof inner === 'string' || typeof inner === 'number') {
      leaves.push({ field, value: inner, trusted: isTrusted(field) });
    }
  };
  const root = schemaOf(call);
  for (const part of partsOf(value)) walk(part, '', root);
  if (message !== '') leaves.push({ field: 'message', value: message, trusted: false });
  return leaves;
}

function parentOf(field: string): string {
  return field.slice(0, Math.max(0, field.lastIndexOf('.')));
}

/** The value of a result, JSON in a text, and the same in a result of MCP. */
function partsOf(value: Json): readonly unknown[] {
  if (typeof value === 'string') return [readJson(value)];
  if (!isPlainObject(value) || !Array.isArray(value['content'])) return [value];
  const { content, structuredContent } = value;
  if (structuredContent !== undefined) return [structuredContent];
  return content.map((part) =>
    isPlainObject(part) && typeof part['text'] === 'string' ? readJson(part['text']) : part,
  );
}

function readJson(text: string): unknown {
  if (!/^\s*[[{]/u.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Prose in brackets.
    return text;
  }
}

/** Everything in a marked field is untrusted. */
function add(leaves: Leaf[], inner: unknown, field: string): void {
  if (leaves.length >= maxLeaves) return;
  if (typeof inner === 'string' || typeof inner === 'number') leaves.push({ field, value: inner, trusted: false });
  else if (typeof inner === 'object' && inner !== null) {
    for (const [key, item] of Object.entries(inner)) {
      if (namesValue(key)) leaves.push({ field, value: key, trusted: false });
      add(leaves, item, field);
    }
  }
}

/** False for the names of fields, and for positions in lists. */
function namesValue(key: string): boolean {
  return /[@/\\]|\.\p{L}|\d\D*\d/u.test(key) && !/^\d{1,4}$/u.test(key);
}

function schemaOf({ tool }: PreparedCall): Schemas | undefined {
  if (tool.outputSchema === undefined) return undefined;
  // Compiled before the call began.
  const root = compileSchema(tool.outputSchema).jsonSchema;
  return { root, nodes: [root] };
}

interface Branches {
  readonly isMarked: boolean;
  readonly items: () => Schemas;
  readonly property: (key: string) => Schemas;
}

function branchesOf({ root, nodes }: Schemas): Branches {
  const branches = new Set<Node>();
  for (const node of nodes) collectBranches(node, root, branches);
  const all = [...branches];
  const below = (pick: (node: Node) => readonly unknown[]): Schemas => ({
    root,
    nodes: all.flatMap(pick).filter(isPlainObject),
  });
  return {
    isMarked: all.some((node) => node['untrusted'] === true),
    items: () => below(({ items, prefixItems }) => [items, prefixItems].flat()),
    property: (key) =>
      below(({ properties, additionalProperties, patternProperties }) => [
        isPlainObject(properties) && Object.hasOwn(properties, key) ? properties[key] : additionalProperties,
        ...(isPlainObject(patternProperties) ? Object.values(patternProperties) : []),
      ]),
  };
}
