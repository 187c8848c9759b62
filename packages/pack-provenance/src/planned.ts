import type { Json, JsonObject } from '@holdfast/core';
import * as v from 'valibot';

/** A part of another node's result. */
export interface PlannedReference {
  readonly from: number | string;
  readonly path: readonly (string | number)[];
  readonly default?: Json | undefined;
}

/** The inputs of a node, with its references read. */
export type PlannedInputs =
  | { readonly type: 'value'; readonly value: Json }
  | { readonly type: 'reference'; readonly reference: PlannedReference }
  | { readonly type: 'text'; readonly parts: readonly (string | PlannedReference)[]; readonly keepsType: boolean }
  | { readonly type: 'list'; readonly items: readonly PlannedInputs[] }
  | { readonly type: 'object'; readonly members: readonly (readonly [string, PlannedInputs])[] };

/** A plan from `compilePlan`: the nodes of `plan`, and the `inputs` of each, in the same order. */
export interface PlannedCalls {
  readonly plan: { readonly nodes: readonly { readonly id: number | string; readonly tool: string }[] };
  readonly inputs: readonly PlannedInputs[];
}

/** The option `planned`, from a plan of `compilePlan` or `checkPlan`. */
export function toPlanned({ plan, inputs }: PlannedCalls): JsonObject {
  const nodes = plan.nodes.map(({ id, tool }) => ({ id, tool }));
  // Also drops the optional fields that are undefined, which JSON has none of.
  return JSON.parse(JSON.stringify({ plan: { nodes }, inputs })) as JsonObject;
}

const json = v.unknown() as v.GenericSchema<Json>;
const id = v.union([v.number(), v.string()]);
const reference = v.looseObject({
  from: id,
  path: v.array(v.union([v.string(), v.number()])),
  default: v.optional(json),
});
const inputs: v.GenericSchema<PlannedInputs> = v.lazy(() =>
  v.variant('type', [
    v.looseObject({ type: v.literal('value'), value: json }),
    v.looseObject({ type: v.literal('reference'), reference }),
    v.looseObject({
      type: v.literal('text'),
      parts: v.array(v.union([v.string(), reference])),
      keepsType: v.boolean(),
    }),
    v.looseObject({ type: v.literal('list'), items: v.array(inputs) }),
    v.looseObject({ type: v.literal('object'), members: v.array(v.tuple([v.string(), inputs])) }),
  ]),
);

export const plannedSchema: v.GenericSchema<PlannedCalls> = v.pipe(
  v.looseObject({
    plan: v.looseObject({ nodes: v.pipe(v.array(v.looseObject({ id, tool: v.string() })), v.maxLength(10_000)) }),
    inputs: v.array(inputs),
  }),
  v.check(({ plan, inputs }) => plan.nodes.length === inputs.length, 'must have the inputs of each node'),
);

/** A node, and what the others take from its result. */
export interface PlannedNode {
  readonly id: string;
  readonly tool: string;
  readonly inputs: PlannedInputs;
  readonly taken: readonly PlannedReference['path'][];
}

/** The nodes of a plan by tool. */
export function nodesByTool({ plan, inputs }: PlannedCalls): ReadonlyMap<string, readonly PlannedNode[]> {
  const taken = new Map<string, Map<string, PlannedReference['path']>>();
  for (const tree of inputs) {
    for (const { from, path } of referencesOf(tree)) {
      const paths = taken.get(String(from)) ?? new Map<string, PlannedReference['path']>();
      taken.set(String(from), paths.set(JSON.stringify(path), path));
    }
  }
  const byTool = new Map<string, PlannedNode[]>();
  for (const [index, { id: given, tool }] of plan.nodes.entries()) {
    const tree = inputs[index];
    if (tree === undefined) continue;
    const node = { id: String(given), tool, inputs: tree, taken: [...(taken.get(String(given))?.values() ?? [])] };
    byTool.set(tool, [...(byTool.get(tool) ?? []), node]);
  }
  return byTool;
}

function* referencesOf(tree: PlannedInputs): Iterable<PlannedReference> {
  if (tree.type === 'reference') yield tree.reference;
  else if (tree.type === 'text') for (const part of tree.parts) if (typeof part !== 'string') yield part;
  if (tree.type === 'list') for (const item of tree.items) yield* referencesOf(item);
  if (tree.type === 'object') for (const [, member] of tree.members) yield* referencesOf(member);
}

/** The value at a path; `undefined` if there is none. */
export function follow(result: Json, path: PlannedReference['path']): Json | undefined {
  let value: Json | undefined = result;
  for (const step of path) {
    if (Array.isArray(value)) value = typeof step === 'number' ? (value as readonly Json[])[step] : undefined;
    else if (typeof value === 'object' && value !== null)
      value = Object.hasOwn(value, step) ? (value as JsonObject)[step] : undefined;
    else return undefined;
  }
  return value;
}
