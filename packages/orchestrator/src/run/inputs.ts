import type { Json, JsonObject } from '@holdfast/core';
import { isPlainObject, modelJsonLimits } from '@holdfast/core/internal';
import type { Problem } from '@holdfast/core/types';
import type { InputTree, NodeId, Reference } from '../plan/types.ts';
import { formatPath } from '../plan/value-path.ts';
import type { NodeKind } from '../trace/trace.ts';

/** The end of a node, as seen by the nodes that refer to it. */
export interface SettledNode {
  readonly kind: NodeKind;
  readonly message: string;
  /** Frozen JSON; resolved inputs share it. */
  readonly value: Json;
}

/** The inputs of a node after its dependencies have ended. `because`: the nodes at fault, unique, in input order. */
export type ResolvedInputs =
  | { readonly type: 'resolved'; readonly value: JsonObject }
  /** The call cannot be made: `ref.path.missing`, `plan.dependency.failed`, `arguments.invalid`. */
  | ({ readonly type: 'invalid'; readonly because: readonly NodeId[] } & Problem)
  /** Every reference failed and none has a default. */
  | { readonly type: 'unavailable'; readonly message: string; readonly because: readonly NodeId[] };

interface Resolving {
  readonly settled: (id: NodeId) => SettledNode | undefined;
  /** The first problem found. */
  problem: Problem | undefined;
  /** Nodes that did not provide the value referred to. */
  readonly because: Set<NodeId>;
  /** The number of references that have a value or a default. */
  available: number;
  /** The number of references to nodes that did not succeed. */
  unavailable: number;
  /** The total length of all texts built from references, in characters. */
  length: number;
}

type Found =
  | { readonly type: 'value'; readonly value: Json }
  | { readonly type: 'missing' }
  | { readonly type: 'not-succeeded'; readonly node: SettledNode };

const maxReason = 200;
const neverEnded: SettledNode = { kind: 'waiting', message: 'it has not ended', value: null };

/**
 * Replaces references by results. Results are data: references in them are never resolved. Inputs without references are returned
 * unchanged.
 */
export function resolveInputs(tree: InputTree, settled: (id: NodeId) => SettledNode | undefined): ResolvedInputs {
  // Inputs are an object, and so is their tree.
  if (tree.type === 'value') return { type: 'resolved', value: tree.value as JsonObject };
  const resolving: Resolving = {
    settled,
    problem: undefined,
    because: new Set(),
    available: 0,
    unavailable: 0,
    length: 0,
  };
  const value = resolve(tree, resolving) as JsonObject;
  const { problem, available, unavailable } = resolving;
  const because = Object.freeze([...resolving.because]);
  if (unavailable > 0 && available === 0) {
    const message = `No value is available for this node: ${describeNodes(because)} did not succeed, and no reference has a default.`;
    return { type: 'unavailable', message, because };
  }
  return problem === undefined ? { type: 'resolved', value } : { type: 'invalid', ...problem, because };
}

/** Recursive: the JSON of a plan has at most 64 levels. */
function resolve(tree: InputTree, resolving: Resolving): Json {
  switch (tree.type) {
    case 'value':
      return tree.value;
    case 'reference':
      return resolveReference(tree.reference, resolving);
    case 'text':
      return resolveText(tree.parts, tree.keepsType, resolving);
    case 'list':
      return Object.freeze(tree.items.map((item) => resolve(item, resolving)));
    case 'object':
      return Object.freeze(Object.fromEntries(tree.members.map(([key, inner]) => [key, resolve(inner, resolving)])));
    default:
      return tree satisfies never;
  }
}

function resolveReference(reference: Reference, resolving: Resolving): Json {
  const found = find(reference, resolving);
  if (found.type === 'value') return found.value;
  if (found.type === 'missing') return null;
  const { from } = reference;
  resolving.problem ??= {
    code: 'plan.dependency.failed',
    reason: 'ref',
    message: `The node \`${from}\` has no result: it ${describeEnd(found.node)}. Add a \`default\` to the reference to continue without it.`,
  };
  return null;
}

function resolveText(parts: readonly (string | Reference)[], keepsType: boolean, resolving: Resolving): Json {
  let text = '';
  for (const part of parts) {
    const piece = typeof part === 'string' ? part : resolvePart(part, keepsType, resolving);
    if (typeof piece !== 'string') return piece;
    resolving.length += piece.length;
    // Texts built from texts grow fast. Stop at the limit of a call to save memory.
    if (resolving.length > modelJsonLimits.maxLength) {
      resolving.problem ??= {
        code: 'arguments.invalid',
        reason: 'too_large',
        message: `With their references resolved, the texts of this node exceed ${modelJsonLimits.maxLength} characters. Refer to smaller results.`,
      };
      return null;
    }
    text += piece;
  }
  return text;
}

function resolvePart(reference: Reference, keepsType: boolean, resolving: Resolving): Json {
  const found = find(reference, resolving);
  switch (found.type) {
    case 'missing':
      return '';
    case 'not-succeeded':
      return `[step ${reference.from} ${describeEnd(found.node)}]`;
    case 'value':
      return keepsType || typeof found.value === 'string' ? found.value : JSON.stringify(found.value);
    default:
      return found satisfies never;
  }
}

/** Resolves a reference, with its default as fallback, and counts failures. */
function find({ from, path, default: fallback }: Reference, resolving: Resolving): Found {
  const node = resolving.settled(from) ?? neverEnded;
  const value = node.kind === 'ok' ? follow(node.value, path) : undefined;
  // Null is a valid value.
  const given = value === undefined ? fallback : value;
  if (given !== undefined) {
    resolving.available += 1;
    return { type: 'value', value: given };
  }
  resolving.because.add(from);
  if (node.kind !== 'ok') {
    resolving.unavailable += 1;
    return { type: 'not-succeeded', node };
  }
  // The node has a result, but not of the shape that the plan expects.
  resolving.available += 1;
  resolving.problem ??= {
    code: 'ref.path.missing',
    message: `The result of the node \`${from}\` has no \`${shorten(formatPath(path))}\`. Use an existing path or add a \`default\` to the reference.`,
  };
  return { type: 'missing' };
}

/** `undefined` if the path does not exist. */
function follow(result: Json, path: Reference['path']): Json | undefined {
  let value: Json | undefined = result;
  for (const step of path) {
    if (Array.isArray(value)) value = typeof step === 'number' ? (value as readonly Json[])[step] : undefined;
    else if (isPlainObject(value)) value = Object.hasOwn(value, step) ? (value as JsonObject)[step] : undefined;
    else return undefined;
  }
  return value;
}

/** Continues a sentence that starts with the node's name: `failed: no such city`. */
function describeEnd({ kind, message }: SettledNode): string {
  const reason = shorten(message);
  const how = kind === 'skipped' ? 'skipped' : 'failed';
  return reason === '' ? how : `${how}: ${reason}`;
}

function describeNodes(ids: readonly NodeId[]): string {
  const shown = ids.slice(0, 10).map((id) => `\`${id}\``);
  return ids.length > 10 ? `${shown.join(', ')} and ${ids.length - 10} more` : shown.join(', ');
}

/** Formats an untrusted text as one short line, so that it cannot pass for other text where it is quoted. */
function shorten(text: string): string {
  const line = text
    .slice(0, 2 * maxReason)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\s]+/gu, ' ')
    .trim();
  return line.length <= maxReason ? line : `${line.slice(0, maxReason - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
