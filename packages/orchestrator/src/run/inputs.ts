import { isPlainObject, type Json, type JsonObject, modelJsonLimits } from '@holdfast/core';
import type { InputTree, NodeId, Reference } from '../plan/types.ts';
import { formatPath } from '../plan/value-path.ts';
import type { NodeKind } from '../trace/trace.ts';

/** How a node ended, as far as those that refer to it need to know. */
export interface SettledNode {
  readonly kind: NodeKind;
  readonly message: string;
  /** Frozen JSON; what is resolved shares it. */
  readonly value: Json;
}

/** Inputs of one node when all it refers to has ended. `because`: the nodes at fault, each once, in the order of the inputs. */
export type ResolvedInputs =
  | { readonly type: 'resolved'; readonly value: JsonObject }
  /** The call cannot be made as the plan says: `ref.path.missing`, `ref.step.failed`, `arguments.too_large`. */
  | { readonly type: 'invalid'; readonly code: string; readonly message: string; readonly because: readonly NodeId[] }
  /** It would be made of nothing but what other nodes did not give. */
  | { readonly type: 'unavailable'; readonly message: string; readonly because: readonly NodeId[] };

type Problem = Pick<Extract<ResolvedInputs, { readonly type: 'invalid' }>, 'code' | 'message'>;

interface Resolving {
  readonly settled: (id: NodeId) => SettledNode | undefined;
  /** The first thing that is wrong. */
  problem: Problem | undefined;
  /** Nodes that did not give what they were asked for. */
  readonly because: Set<NodeId>;
  /** References that stand for a value, their default included. */
  available: number;
  /** Those to nodes that did not succeed. */
  unavailable: number;
  /** Characters of all texts that were put together. */
  length: number;
}

type Found =
  | { readonly type: 'value'; readonly value: Json }
  | { readonly type: 'missing' }
  | { readonly type: 'not-succeeded'; readonly node: SettledNode };

const maxReason = 200;
const neverEnded: SettledNode = { kind: 'waiting', message: 'it has not ended', value: null };

/**
 * Puts results in the place of references. What a node returned is data: it is never read for references. Inputs that refer to nothing
 * are given back as they are.
 */
export function resolveInputs(tree: InputTree, settled: (id: NodeId) => SettledNode | undefined): ResolvedInputs {
  // Inputs are an object, in the plan as in its tree.
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
    const message = `Nothing that this node refers to is there: ${describeNodes(because)} did not succeed, and no reference has a default.`;
    return { type: 'unavailable', message, because };
  }
  return problem === undefined ? { type: 'resolved', value } : { type: 'invalid', ...problem, because };
}

/** As deep as the plan's JSON, which has at most 64 levels. */
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
    code: 'ref.step.failed',
    message: `The node \`${from}\` has no result to refer to: it ${describeEnd(found.node)}. Give the reference a \`default\` to go on without.`,
  };
  return null;
}

function resolveText(parts: readonly (string | Reference)[], keepsType: boolean, resolving: Resolving): Json {
  let text = '';
  for (const part of parts) {
    const piece = typeof part === 'string' ? part : resolvePart(part, keepsType, resolving);
    if (typeof piece !== 'string') return piece;
    resolving.length += piece.length;
    // Texts made of texts grow fast: no call takes more, and the memory is not spent on it.
    if (resolving.length > modelJsonLimits.maxLength) {
      resolving.problem ??= {
        code: 'arguments.too_large',
        message: `With the results that they refer to, the texts of this node are longer than ${modelJsonLimits.maxLength} characters. Refer to less.`,
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

/** What the reference stands for, its default included; keeps account of what it does not. */
function find({ from, path, default: fallback }: Reference, resolving: Resolving): Found {
  const node = resolving.settled(from) ?? neverEnded;
  const value = node.kind === 'ok' ? follow(node.value, path) : undefined;
  // Null is a value, too.
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
  // The node has a result; only it is another one than the plan has thought of.
  resolving.available += 1;
  resolving.problem ??= {
    code: 'ref.path.missing',
    message: `The result of the node \`${from}\` has nothing at \`${shorten(formatPath(path))}\`. Take a path that is in it, or give the reference a \`default\`.`,
  };
  return { type: 'missing' };
}

/** `undefined` where the path leads nowhere. */
function follow(result: Json, path: Reference['path']): Json | undefined {
  let value: Json | undefined = result;
  for (const step of path) {
    if (Array.isArray(value)) value = typeof step === 'number' ? (value as readonly Json[])[step] : undefined;
    else if (isPlainObject(value)) value = Object.hasOwn(value, step) ? (value as JsonObject)[step] : undefined;
    else return undefined;
  }
  return value;
}

/** Goes on from the name of a node: `failed: no such city`. */
function describeEnd({ kind, message }: SettledNode): string {
  const reason = shorten(message);
  const how = kind === 'skipped' ? 'skipped' : 'failed';
  return reason === '' ? how : `${how}: ${reason}`;
}

function describeNodes(ids: readonly NodeId[]): string {
  const shown = ids.slice(0, 10).map((id) => `\`${id}\``);
  return ids.length > 10 ? `${shown.join(', ')} and ${ids.length - 10} more` : shown.join(', ');
}

/** One short line, whatever a tool has said: no more than its reason can stand where it is quoted. */
function shorten(text: string): string {
  const line = text
    .slice(0, 2 * maxReason)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\s]+/gu, ' ')
    .trim();
  return line.length <= maxReason ? line : `${line.slice(0, maxReason - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
