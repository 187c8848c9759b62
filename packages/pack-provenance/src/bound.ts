import type { Json, KeyedState, PolicyResult, PreparedCall } from '@holdfast/core';
import { isPlainObject, sha256, toCanonicalJson, toPrintable } from '@holdfast/core/internal';
import { compileSchema } from '@holdfast/schema';
import * as v from 'valibot';
import { follow, type PlannedInputs, type PlannedNode, type PlannedReference } from './planned.ts';

/** A node that was called: fingerprints of what others take from its result. */
export interface CalledNode {
  readonly call: string;
  readonly values: readonly {
    readonly path: string;
    readonly value: string;
    /** Inside of a text, a value stands as it is or as JSON, and takes so many characters. */
    readonly text: string;
    readonly chars: number;
  }[];
}

export const calledSchema: v.GenericSchema<CalledNode> = v.object({
  call: v.string(),
  values: v.array(v.object({ path: v.string(), value: v.string(), text: v.string(), chars: v.number() })),
});

/** The plan's progress, with which a call is compared. */
export interface Bound {
  readonly state: KeyedState<CalledNode>;
  readonly key: string;
  /** True for reading: a node may be called again. */
  readonly repeats: boolean;
}

const maxProblems = 3;

/** The node that the call carries out; else why there is none. */
export function findNode(
  call: PreparedCall,
  nodes: readonly PlannedNode[],
  bound: Bound,
): PlannedNode | { readonly problem: string } {
  const problems: string[] = [];
  for (const node of nodes) {
    const found = findDifference(call, node, bound);
    if (found === undefined) {
      // Not by the id of the call: hosts and models use ids again.
      const called = bound.state.get(node.id);
      if (called === undefined || bound.repeats) return node;
      problems.push(`its node \`${node.id}\` was already called in \`${toPrintable(called.call)}\``);
    } else problems.push(`${found} its node \`${node.id}\``);
  }
  return { problem: problems.length === 0 ? 'the plan has no such call' : problems.slice(0, maxProblems).join('; ') };
}

/** The parts of a node's result that the plan needs. */
export function toCalled(call: PreparedCall, node: PlannedNode, { value }: PolicyResult, key: string): CalledNode {
  const values = node.taken.flatMap((path) => {
    const taken = follow(value, path);
    if (taken === undefined) return [];
    const text = toText(taken);
    const prints = { value: print(toCanonicalJson(taken), key), text: print(text, key), chars: text.length };
    return { path: JSON.stringify(path), ...prints };
  });
  return { call: call.id, values };
}

const missing = Symbol('missing');

/** `undefined` if the input is the node's. */
function findDifference({ tool, input }: PreparedCall, node: PlannedNode, bound: Bound): string | undefined {
  let wrong: string | undefined;
  /** The node's inputs, with the values of references taken from the call. */
  const build = (tree: PlannedInputs, given: unknown, at: string): Json => {
    switch (tree.type) {
      case 'value':
        return tree.value;
      case 'list':
        return tree.items.map((item, index) => build(item, Array.isArray(given) ? given[index] : missing, at));
      case 'object':
        return Object.fromEntries(
          tree.members.map(([name, member]) => {
            const inner = isPlainObject(given) && Object.hasOwn(given, name) ? given[name] : missing;
            return [name, build(member, inner, at === '' ? name : `${at}.${name}`)];
          }),
        );
      case 'reference':
        if (!isTaken(given, tree.reference, bound)) wrong ??= at;
        return given === missing ? null : (given as Json);
      case 'text': {
        const isOnly = tree.keepsType && tree.parts.length === 1;
        const [first] = tree.parts;
        const isRight =
          isOnly && typeof first === 'object' ? isTaken(given, first, bound) : isText(given, tree.parts, bound);
        if (!isRight) wrong ??= at;
        return given === missing ? null : (given as Json);
      }
      default:
        return tree satisfies never;
    }
  };
  const built = build(node.inputs, input, '');
  if (wrong !== undefined) return `\`${wrong}\` is not the value that is referred to in`;
  const read = tool.inputSchema === undefined ? undefined : compileSchema(tool.inputSchema).validate(built);
  if (read !== undefined && !read.ok) return 'its arguments are not those of';
  const planned = read === undefined ? built : (read.value as Json);
  return toCanonicalJson(planned) === toCanonicalJson(input) ? undefined : 'its arguments are not those of';
}

function isTaken(given: unknown, { from, path, default: fallback }: PlannedReference, { state, key }: Bound): boolean {
  if (given === missing) return false;
  const text = toCanonicalJson(given as Json);
  const taken = state.get(String(from))?.values.find((each) => each.path === JSON.stringify(path));
  if (taken === undefined) return fallback !== undefined && text === toCanonicalJson(fallback);
  return taken.value === print(text, key);
}

function isText(given: unknown, parts: readonly (string | PlannedReference)[], { state, key }: Bound): boolean {
  if (typeof given !== 'string') return false;
  let at = 0;
  for (const part of parts) {
    if (typeof part === 'string') {
      if (!given.startsWith(part, at)) return false;
      at += part.length;
      continue;
    }
    const taken = state.get(String(part.from))?.values.find((each) => each.path === JSON.stringify(part.path));
    const text = taken === undefined && part.default !== undefined ? toText(part.default) : undefined;
    const chars = taken?.chars ?? text?.length;
    if (chars === undefined) return false;
    const piece = given.slice(at, at + chars);
    if (taken === undefined ? piece !== text : print(piece, key) !== taken.text) return false;
    at += chars;
  }
  return at === given.length;
}

function toText(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function print(text: string, key: string): string {
  return sha256(`${key}\n${text}`);
}
