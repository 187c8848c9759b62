import type { NodeTrace, Plan, PlanEvent, PlanTrace } from '@holdfast/orchestrator';
import type { NodeId } from '@holdfast/orchestrator/internal';

/** The trace of a node for tests; by default of a waiting one. */
export function nodeTrace(node: NodeId, changes: Partial<NodeTrace> = {}): NodeTrace {
  return {
    node,
    tool: 'fetch',
    kind: 'waiting',
    code: undefined,
    message: '',
    value: null,
    purpose: undefined,
    dependsOn: [],
    because: [],
    callId: undefined,
    input: undefined,
    attempts: 0,
    retries: [],
    decisions: [],
    approval: undefined,
    startedAtMs: undefined,
    endedAtMs: undefined,
    durationMs: undefined,
    ...changes,
  };
}

/** A node whose call succeeded. */
export function endedNode(node: NodeId, changes: Partial<NodeTrace> = {}): NodeTrace {
  return nodeTrace(node, {
    kind: 'ok',
    callId: `plan_1_${node}`,
    input: {},
    attempts: 1,
    startedAtMs: 0,
    endedAtMs: 100,
    durationMs: 100,
    ...changes,
  });
}

/** The start event of a plan with `nodes`. */
export function planStart(nodes: readonly NodeTrace[], atMs = 0): PlanEvent {
  return { type: 'plan-start', sessionId: 's', run: 1, digest: 'd'.repeat(64), nodes, atMs };
}

/** A plan with the nodes of a trace. */
function toPlan(nodes: readonly NodeTrace[]): Plan {
  return {
    version: 1,
    status: 'success',
    nodes: nodes.map(({ node, tool, dependsOn }) => ({
      id: node,
      tool,
      function: tool,
      inputs: {},
      depends_on: dependsOn,
      retry: 0,
      timeout: 60,
      on_fail: 'halt',
      metadata: {},
    })),
    final_output_node: nodes.at(-1)?.node ?? 0,
  };
}

/** The trace of a plan of `nodes`. */
export function planTrace(nodes: readonly NodeTrace[], changes: Partial<PlanTrace> = {}): PlanTrace {
  return {
    sessionId: 's',
    run: 1,
    request: undefined,
    plan: toPlan(nodes),
    digest: 'd'.repeat(64),
    status: 'succeeded',
    nodes,
    output: undefined,
    pending: [],
    startedAtMs: 0,
    endedAtMs: 1000,
    ...changes,
  };
}
