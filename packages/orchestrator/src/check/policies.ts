import type { DraftNode } from '../plan/draft.ts';
import type { NodeId } from '../plan/types.ts';
import { type Report, show } from '../plan/violations.ts';
import { type ForeseeOptions, foreseeCalls } from '../preview/foresee.ts';
import type { ExpectedCall } from '../preview/watch.ts';
import type { PlanGraph } from './graph.ts';
import type { CheckedInputs } from './inputs.ts';
import type { ToolFacts } from './tool-facts.ts';

/** A node that needs approval, as far as is known before the plan runs. */
export interface NodeAsk {
  readonly node: NodeId;
  readonly tool: string;
  /** The reasons of the policies that ask, in order, followed by that of a dangerous tool. */
  readonly reasons: readonly string[];
  readonly dangerous: boolean;
}

/** Nodes with valid tools and inputs that depend only on each other. */
export interface CheckedNodes {
  readonly nodes: readonly DraftNode[];
  readonly graph: PlanGraph;
  readonly used: readonly (ToolFacts | undefined)[];
  readonly inputs: readonly (CheckedInputs | undefined)[];
}

const nobody: readonly NodeAsk[] = Object.freeze([]);

/** Throws for mistakes of the host that can be found without a plan. */
export async function checkPolicyOptions(options: ForeseeOptions): Promise<void> {
  if (options.policies !== undefined) await foreseeCalls([], options);
}

/**
 * Asks the policies about every node. Reports `plan.policy.denied` for a denial that holds in every possible run; returns the nodes that
 * need approval, in plan order.
 */
export async function checkPolicies(
  { nodes, graph, used, inputs }: CheckedNodes,
  options: ForeseeOptions,
  violations: Report,
): Promise<readonly NodeAsk[]> {
  const governed = options.policies !== undefined && options.policies.length > 0;
  if (!governed && !used.some((facts) => facts?.tool.dangerous)) return nobody;
  const order = findOrder(graph);
  const places: number[] = [];
  for (const [place, position] of order.entries()) places[position] = place;
  const calls = order.flatMap((position): ExpectedCall[] => {
    const facts = used[position];
    if (facts === undefined) return [];
    const after = graph.parents[position]?.map((parent) => places[parent] ?? 0) ?? [];
    return [{ tool: facts.tool, after, input: inputs[position]?.input }];
  });
  const foreseen = await foreseeCalls(calls, options);
  return nodes.flatMap(({ id, index, path }, position): NodeAsk[] => {
    const facts = used[position];
    const found = foreseen[places[position] ?? -1];
    if (facts === undefined || found === undefined || id === undefined) return [];
    const { name: tool, dangerous } = facts.tool;
    for (const { policy, reason } of found.denials) {
      const message = `The policy ${show(policy)} denies ${show(tool)} here in every possible run: ${reason}`;
      violations.add('plan.policy.denied', { path, node: id, index }, message);
    }
    return found.asks.length === 0 ? [] : [{ node: id, tool, reasons: found.asks, dangerous }];
  });
}

/** A topological order that otherwise keeps plan order. */
function findOrder({ parents, order = [] }: PlanGraph): readonly number[] {
  const isOrdered = parents.every((before, node) => (before.at(-1) ?? -1) < node);
  return isOrdered ? [...parents.keys()] : order;
}
