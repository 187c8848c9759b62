import type { PolicyDecision } from '@holdfast/core';
import { describeCode } from '@holdfast/core/internal';
import { formatCount, listIds, toLine } from '../plan/text.ts';
import type { NodeKind, NodeTrace, PlanTrace } from '../trace/trace.ts';

/** A node's trace with texts for people; each added text is one printable line. */
export interface NodeReport extends NodeTrace {
  /** `3 (search_news)` */
  readonly name: string;
  readonly tone: Tone;
  /** The reason why it is not `ok`; for an `ok` node, who approved it. */
  readonly why: string;
}

/** A trace with texts for people. */
export interface TraceReport extends PlanTrace {
  readonly nodes: readonly NodeReport[];
  /** All nodes without a result: those that are not `ok`, including those that have not ended. */
  readonly missing: readonly NodeReport[];
  /** `partial: 5 of 7 nodes succeeded` */
  readonly summary: string;
  /** The reason why the run has not ended; empty if it has. */
  readonly open: string;
  /** The duration of the run so far; absent if its times are not usable. */
  readonly durationMs: number | undefined;
}

/** Builds the data for views of a trace. Cuts only the texts that it adds. */
export function reportTrace(trace: PlanTrace): TraceReport {
  const nodes = trace.nodes.map(
    (node): NodeReport => ({
      ...node,
      name: `${toLine(String(node.node), 80)} (${toLine(node.tool, 80)})`,
      tone: toneOf(node.kind),
      why: whyOf(node),
    }),
  );
  return {
    ...trace,
    nodes,
    missing: missingNodes({ nodes }),
    summary: describeStatus(trace),
    open: describeOpenEnd(trace),
    durationMs: durationOf(trace),
  };
}

/** How a view should present the kind of a node. */
export type Tone = 'ok' | 'bad' | 'doubt' | 'skipped' | 'open';

export function toneOf(kind: NodeKind): Tone {
  switch (kind) {
    case 'ok':
      return 'ok';
    case 'failed':
    case 'invalid':
    case 'denied':
    case 'unknown-tool':
    case 'truncated':
    case 'timed-out':
      return 'bad';
    case 'in-doubt':
      return 'doubt';
    case 'skipped':
    case 'cancelled':
      return 'skipped';
    case 'suspended':
    case 'running':
    case 'waiting':
      return 'open';
    default:
      return kind satisfies never;
  }
}

export function missingNodes<Node extends Pick<NodeTrace, 'kind'>>({
  nodes,
}: {
  readonly nodes: readonly Node[];
}): readonly Node[] {
  return nodes.filter(({ kind }) => kind !== 'ok');
}

const maxReason = 300;

/** The message, the code, and the nodes at fault if the message does not name them. */
function whyOf({ kind, code, reason: finer, message, because, approval }: NodeTrace): string {
  if (kind === 'ok') return describeApproval(approval);
  const reason = toLine(message, maxReason);
  const isNamed = because.length <= 8 && because.every((id) => reason.includes(`\`${id}\``));
  return [
    reason,
    code === undefined ? '' : `(${toLine(describeCode({ code, reason: finer }), 120)})`,
    isNamed ? '' : `because of ${listIds(because)}`,
  ]
    .filter((text) => text !== '')
    .join(' ');
}

/** `approved by NAME`; empty if no approval was needed. */
function describeApproval(approval: NodeTrace['approval']): string {
  if (approval === undefined) return '';
  return `${approval.type === 'approve' ? 'approved' : 'denied'} by ${toLine(approval.by, 100)}`;
}

/** `deny by host/deny-tools: Files are kept.` */
export function describeDecision({ policy, type, observed, reason }: PolicyDecision): string {
  const word = observed === undefined ? type : `would ${observed}`;
  return `${word} by ${toLine(policy, 200)}${reason === undefined ? '' : `: ${toLine(reason, 1_000)}`}`;
}

function describeStatus({ status, nodes }: PlanTrace): string {
  const succeeded = nodes.filter(({ kind }) => kind === 'ok').length;
  return `${toLine(status, 40)}: ${succeeded} of ${formatCount(nodes.length, 'node')} succeeded`;
}

function describeOpenEnd({ status, pending }: PlanTrace): string {
  switch (status) {
    case 'suspended':
      return `Waiting for ${formatCount(pending.length, 'approval')}. Resume the run after answering.`;
    case 'running':
      return 'Its log has no end: it is still running, or its process ended and it can be resumed.';
    default:
      return '';
  }
}

function durationOf({ startedAtMs, endedAtMs }: PlanTrace): number | undefined {
  if (endedAtMs === undefined) return undefined;
  const durationMs = endedAtMs - startedAtMs;
  return Number.isFinite(durationMs) ? Math.max(0, durationMs) : undefined;
}
