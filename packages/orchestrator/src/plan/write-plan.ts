import type { JsonObject } from '@holdfast/core';
import { toJson } from './input-tree.ts';
import type { NodeId, Plan, PlanNode } from './types.ts';
import type { DraftPlan } from './draft.ts';

/** The normal form of what was read; `undefined` where something of it could not be read. `functionOf`: what a tool's function is. */
export function toPlan(
  { nodes, final }: DraftPlan,
  functionOf: (tool: string) => string | undefined = () => undefined,
): Plan | undefined {
  const positions = new Map<NodeId, number>();
  for (const [position, { id }] of nodes.entries()) if (id !== undefined) positions.set(id, position);
  const written: PlanNode[] = [];
  for (const { id, tool, functionName, inputs, retry, timeout, onFail, metadata, ...node } of nodes) {
    if (id === undefined || tool === undefined || inputs === undefined) return undefined;
    const name = functionName ?? functionOf(tool);
    written.push({
      id,
      tool,
      ...(name === undefined ? {} : { function: name }),
      // A tree of an object is one.
      inputs: toJson(inputs.tree) as JsonObject,
      depends_on: sortIds(
        [...node.dependencies.map((found) => found.id), ...inputs.references.map(({ reference }) => reference.from)],
        positions,
      ),
      retry,
      timeout,
      on_fail: onFail,
      metadata,
    });
  }
  return final === undefined ? undefined : { version: 1, status: 'success', nodes: written, final_output_node: final };
}

/** Each once, in the order of their nodes; ids of no node stay behind. */
function sortIds(ids: readonly NodeId[], positions: ReadonlyMap<NodeId, number>): readonly NodeId[] {
  const placeOf = (id: NodeId): number => positions.get(id) ?? positions.size;
  return [...new Set(ids)].sort((left, right) => placeOf(left) - placeOf(right));
}
