import type { JsonObject } from '@holdfast/core';
import { deepFreeze } from '@holdfast/core/internal';
import { type DraftPlan, readDraft } from './draft.ts';
import { toJson } from './input-tree.ts';
import type { NodeId, Plan, PlanNode, PlanViolation } from './types.ts';
import { createReport } from './violations.ts';

/** The result of reading. Lists are in plan order. */
export type PlanReading =
  | { readonly type: 'plan'; readonly plan: Plan; readonly warnings: readonly PlanViolation[] }
  /** The source is a plan that declines the request. */
  | { readonly type: 'declined'; readonly error: string }
  | {
      readonly type: 'invalid';
      readonly violations: readonly PlanViolation[];
      readonly warnings: readonly PlanViolation[];
    };

/**
 * Reads a plan from JSON text or a value and returns its normal form. Checks only the format; `checkPlan` reads the plan itself and also
 * checks that it makes sense and fits the tools.
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

/** The normal form of a draft; `undefined` if a part could not be read. `functionOf`: the function of a tool. */
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
      // The tree of an object is an object.
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

/** Removes duplicates and sorts by node; unknown ids come last. */
function sortIds(ids: readonly NodeId[], positions: ReadonlyMap<NodeId, number>): readonly NodeId[] {
  const placeOf = (id: NodeId): number => positions.get(id) ?? positions.size;
  return [...new Set(ids)].sort((left, right) => placeOf(left) - placeOf(right));
}
