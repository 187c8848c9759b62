import type { Json, PendingApproval, ToolCallEndEvent } from '@holdfast/core';
import type { TraceEntry } from '@holdfast/core/types';
import type { NodeId, Plan, PlanNode } from '../plan/types.ts';
import { hasEnded, type NodeClosing, type NodeFacts } from './facts.ts';
import type { NodeKind, NodeTrace, PlanStatus, PlanTrace } from './trace.ts';

/** A run of a plan without its nodes. */
export interface TraceHead {
  readonly sessionId: string;
  readonly run: number;
  readonly request: string | undefined;
  readonly plan: Plan;
  readonly digest: string;
  readonly status: PlanStatus | 'running';
  readonly startedAtMs: number;
  readonly endedAtMs: number | undefined;
}

/** Builds the trace of a plan from the facts of its nodes; the result is the same from a run as from its log. `facts`: in plan order. */
export function buildTrace(head: TraceHead, facts: readonly (NodeFacts | undefined)[]): PlanTrace {
  const { plan } = head;
  const final = plan.nodes.findIndex(({ id }) => id === plan.final_output_node);
  return {
    sessionId: head.sessionId,
    run: head.run,
    request: head.request,
    plan,
    digest: head.digest,
    status: head.status,
    nodes: plan.nodes.map((node, position) => traceNode(node, facts[position])),
    output: outputOf(facts[final]),
    pending: pendingOf(facts),
    startedAtMs: head.startedAtMs,
    endedAtMs: head.endedAtMs,
  };
}

function outputOf(final: NodeFacts | undefined): Json | undefined {
  return final?.type === 'tool-call-end' && final.outcome.kind === 'ok' ? final.outcome.value : undefined;
}

function pendingOf(facts: readonly (NodeFacts | undefined)[]): readonly PendingApproval[] {
  const pending: PendingApproval[] = [];
  for (const known of facts) if (known?.type === 'suspended' && !known.answered) pending.push(known.pending);
  return pending;
}

const none: readonly never[] = Object.freeze([]);

export function traceNode(node: PlanNode, facts: NodeFacts | undefined): NodeTrace {
  switch (facts?.type) {
    case 'tool-call-end':
      return traceCall(node, facts);
    case 'plan-node': {
      const { kind, code, reason, message, because, atMs } = facts;
      return { ...traceWaiting(node, kind), code, reason, message, because, endedAtMs: atMs };
    }
    case 'suspended': {
      const { callId, input, asks } = facts.pending;
      const reasons = asks.filter(({ type }) => type === 'ask').map(({ reason = '' }) => reason);
      return { ...traceWaiting(node, 'suspended'), message: reasons.join(' '), callId, input, decisions: asks };
    }
    case 'running':
      return { ...traceWaiting(node, 'running'), callId: facts.callId, startedAtMs: facts.startedAtMs };
    case undefined:
      return traceWaiting(node, 'waiting');
    default:
      return facts satisfies never;
  }
}

function traceCall(node: PlanNode, event: ToolCallEndEvent): NodeTrace {
  const { outcome, startedAtMs, durationMs, waitedMs = 0 } = event;
  return {
    ...traceWaiting(node, outcome.kind),
    code: outcome.code,
    reason: outcome.reason,
    message: outcome.message,
    value: outcome.kind === 'ok' ? outcome.value : null,
    callId: event.callId,
    input: event.input,
    attempts: countAttempts(event),
    retries: event.retries ?? none,
    decisions: event.decisions,
    approval: event.approval,
    startedAtMs,
    endedAtMs: startedAtMs + waitedMs + durationMs,
    durationMs,
  };
}

// All fields in a fixed order: objects of one shape are cheaper.
function traceWaiting(node: PlanNode, kind: NodeKind): NodeTrace {
  return {
    node: node.id,
    tool: node.tool,
    kind,
    code: undefined,
    message: '',
    value: null,
    purpose: purposeOf(node),
    dependsOn: node.depends_on,
    because: none,
    callId: undefined,
    input: undefined,
    attempts: 0,
    retries: none,
    decisions: none,
    approval: undefined,
    startedAtMs: undefined,
    endedAtMs: undefined,
    durationMs: undefined,
  };
}

function purposeOf({ metadata }: PlanNode): string | undefined {
  const { purpose } = metadata;
  return typeof purpose === 'string' ? purpose : undefined;
}

/** Calls that never reached their tool have no input, were denied, or have no tool to run. */
function countAttempts({ input, outcome: { kind, code, attempts } }: ToolCallEndEvent): number {
  if (attempts !== undefined) return attempts;
  return input === undefined || kind === 'denied' || code === 'tool.not_executable' ? 0 : 1;
}

/** The entry of an ended node that tools of later nodes see. */
export function toTraceEntry(node: PlanNode, facts: ToolCallEndEvent | NodeClosing): TraceEntry {
  const { tool, id } = node;
  if (facts.type === 'plan-node') {
    const { kind, code, reason, message } = facts;
    return Object.freeze({ node: id, tool, kind, code, reason, message, value: null });
  }
  const { kind, code, reason, message, value } = facts.outcome;
  return Object.freeze({ node: id, tool, kind, code, reason, message, value: kind === 'ok' ? value : null });
}

/** `facts`: of all nodes, in plan order, once nothing is running. */
export function statusOf(
  plan: Plan,
  facts: readonly (NodeFacts | undefined)[],
  stopped: 'halted' | 'aborted' | undefined,
): PlanStatus {
  if (facts.some((known) => !hasEnded(known))) return 'suspended';
  const failed = new Set<NodeId>();
  plan.nodes.forEach(({ id }, position) => {
    const known = facts[position];
    if (known?.type !== 'tool-call-end' || known.outcome.kind !== 'ok') failed.add(id);
  });
  // The end came after everything had succeeded.
  if (failed.size === 0) return 'succeeded';
  if (stopped === 'aborted') return 'aborted';
  return stopped === 'halted' || failed.has(plan.final_output_node) ? 'failed' : 'partial';
}
