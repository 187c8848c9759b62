import { deepFreeze, type JsonObject } from '@holdfast/core';
import { type DraftPlan, readDraft } from './draft.ts';
import { toJson } from './input-tree.ts';
import type { NodeId, Plan, PlanNode, PlanViolation } from './types.ts';
import { createReport } from './violations.ts';

/** What came of reading. Lists are in the order of the plan. */
export type PlanReading =
  | { readonly type: 'plan'; readonly plan: Plan; readonly warnings: readonly PlanViolation[] }
  /** The plan is one that says why there is none. */
  | { readonly type: 'declined'; readonly error: string }
  | {
      readonly type: 'invalid';
      readonly violations: readonly PlanViolation[];
      readonly warnings: readonly PlanViolation[];
    };

/**
 * Reads a plan from JSON text or a value and gives it in its normal form. Only the form is
 * checked: whether the plan makes sense, and fits any tools, says `checkPlan`, which reads by itself.
 */
export function readPlan(source: unknown): PlanReading {
  const reports = { violations: createReport(), warnings: createReport() };
  const reading = readDraft(source, reports);
  if (reading.type === 'declined') return Object.freeze({ type: 'declined', error: reading.error });
  const [violations, warnings] = [reports.violations.list(), reports.warnings.list()];
  const plan = violations.length > 0 || reading.type !== 'plan' ? undefined : toPlan(reading.plan);
  if (plan === undefined) return Object.freeze({ type: 'invalid', violations, warnings });
  return deepFreeze({ type: 'plan', plan, warnings });
}

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
