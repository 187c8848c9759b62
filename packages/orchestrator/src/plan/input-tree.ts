import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { formatTextReference, holdsReference, parseText } from './text-references.ts';
import { adviseOnNumber, type InputTree, isNodeId, nodeIdRule, type Reference } from './types.ts';
import { formatPath, joinKey, parsePath } from './value-path.ts';
import { type Place, type Report, show } from './violations.ts';

/** A reference and its path in the plan. */
export interface FoundReference {
  readonly reference: Reference;
  readonly path: string;
}

/** The parsed inputs of one node. */
export interface ParsedInputs {
  /** The path of the inputs: `nodes[2].inputs`. */
  readonly path: string;
  readonly tree: InputTree;
  readonly references: readonly FoundReference[];
}

/** Takes the place of an invalid reference that has been reported. */
export const brokenTree: InputTree = Object.freeze({ type: 'text', parts: Object.freeze([]), keepsType: false });

/** Finds the references in `inputs`, which must be frozen JSON. Reports `plan.invalid`. */
export function parseInputs(inputs: JsonObject, place: Place, report: Report): ParsedInputs {
  const references: FoundReference[] = [];

  const parse = (value: Json, path: string): InputTree => {
    if (typeof value === 'string') return parseString(value, path);
    if (Array.isArray(value)) {
      const items = (value as readonly Json[]).map((item, index) => parse(item, `${path}[${index}]`));
      return items.every(isLiteral) ? { type: 'value', value } : { type: 'list', items };
    }
    if (!isPlainObject(value)) return { type: 'value', value };
    const object = value as JsonObject;
    if (Object.hasOwn(object, '$from')) return parseReference(object, path);
    const members = Object.entries(object).map(([key, inner]) => [key, parse(inner, joinKey(path, key))] as const);
    return members.every(([, inner]) => isLiteral(inner)) ? { type: 'value', value } : { type: 'object', members };
  };

  const parseString = (value: string, path: string): InputTree => {
    // The fast path: most texts hold no reference.
    if (!value.includes('{{')) return { type: 'value', value };
    const { parts, problems } = parseText(value);
    for (const problem of problems) report.add('ref.invalid', { ...place, path }, problem);
    for (const part of parts) if (typeof part !== 'string') references.push({ reference: part, path });
    if (problems.length > 0) return brokenTree;
    if (parts.every((part) => typeof part === 'string')) return { type: 'value', value };
    return { type: 'text', parts, keepsType: false };
  };

  const parseReference = (object: JsonObject, path: string): InputTree => {
    const reading = readReference(object);
    if (typeof reading === 'string') {
      report.add('ref.invalid', { ...place, path }, reading);
      return brokenTree;
    }
    references.push({ reference: reading, path });
    return { type: 'reference', reference: reading };
  };

  const members = Object.entries(inputs).map(([key, inner]) => [key, parse(inner, joinKey(place.path, key))] as const);
  const tree: InputTree = members.every(([, inner]) => isLiteral(inner))
    ? { type: 'value', value: inputs }
    : { type: 'object', members };
  return { path: place.path, tree, references };
}

/** Converts the tree back to JSON for `parseInputs`, with text references in normal form. */
export function toJson(tree: InputTree): Json {
  switch (tree.type) {
    case 'value':
      return tree.value;
    case 'reference':
      return toReferenceJson(tree.reference);
    case 'text':
      return tree.parts.map((part) => (typeof part === 'string' ? part : formatTextReference(part))).join('');
    case 'list':
      return tree.items.map(toJson);
    case 'object':
      return Object.fromEntries(tree.members.map(([key, inner]) => [key, toJson(inner)]));
    default:
      return tree satisfies never;
  }
}

function isLiteral({ type }: InputTree): boolean {
  return type === 'value';
}

function toReferenceJson({ from, path, default: fallback }: Reference): JsonObject {
  return {
    $from: from,
    ...(path.length === 0 ? {} : { path: formatPath(path) }),
    ...(fallback === undefined ? {} : { default: fallback }),
  };
}

function readReference({ $from: from, path = '', default: fallback, ...others }: JsonObject): Reference | string {
  if (!isNodeId(from)) {
    return `\`$from\` must be the id of a node: ${nodeIdRule}; got ${show(from)}.${adviseOnNumber(from)}`;
  }
  const other = Object.keys(others)[0];
  if (other !== undefined)
    return `Unknown key ${show(other)} in a reference. Known keys: \`$from\`, \`path\`, \`default\`.`;
  if (typeof path !== 'string') return `\`path\` of a reference must be a text such as \`a.b[0]\`, got ${show(path)}.`;
  const reading = parsePath(path);
  if (!reading.ok) return `Invalid \`path\` ${show(path)}: ${reading.problem}.`;
  if (fallback === undefined) return { from, path: reading.path };
  if (holdsReference(fallback)) return 'The `default` of a reference cannot contain references.';
  return { from, path: reading.path, default: fallback };
}
