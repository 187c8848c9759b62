import type { PolicyDecision } from '@holdfast/core';
import { formatCount, listIds, toLine } from '../plan/text.ts';
import type { NodeKind, NodeTrace, PlanTrace } from '../trace/trace.ts';

/** What became of a node, with what a person is told of it; all of these texts are printable and of one line. */
export interface NodeReport extends NodeTrace {
  /** `3 (search_news)` */
  readonly name: string;
  readonly tone: Tone;
  /** Why it is not `ok`; of one that is: whose approval it had. */
  readonly why: string;
}

/** A trace with what a person is told of it. */
export interface TraceReport extends PlanTrace {
  readonly nodes: readonly NodeReport[];
  /** Those of which there is no result: all that are not `ok`, also those that have not ended. */
  readonly missing: readonly NodeReport[];
  /** `partial: 5 of 7 nodes succeeded` */
  readonly summary: string;
  /** What it waits for, where it has not come to its end; else empty. */
  readonly open: string;
  /** How long the run took, as far as it came; absent where its times say nothing. */
  readonly durationMs: number | undefined;
}

/** What views of a trace are made of: nothing in it is cut but the texts that it adds. */
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

/** What the kind of a node means to who reads of it. */
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

/** What was said, its code, and because of which nodes where that was not said. */
function whyOf({ kind, code, message, because, approval }: NodeTrace): string {
  if (kind === 'ok') return describeApproval(approval);
  const reason = toLine(message, maxReason);
  const isNamed = because.length <= 8 && because.every((id) => reason.includes(`\`${id}\``));
  return [reason, code === undefined ? '' : `(${toLine(code, 80)})`, isNamed ? '' : `because of ${listIds(because)}`]
    .filter((text) => text !== '')
    .join(' ');
}

/** `approved by NAME`; empty where nobody was asked. */
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
      return `It waits for ${formatCount(pending.length, 'answer')} of a person, and goes on when it is resumed.`;
    case 'running':
      return 'By its log it has not ended: it still runs, or its process has ended and it can be resumed.';
    default:
      return '';
  }
}

function durationOf({ startedAtMs, endedAtMs }: PlanTrace): number | undefined {
  if (endedAtMs === undefined) return undefined;
  const durationMs = endedAtMs - startedAtMs;
  return Number.isFinite(durationMs) ? Math.max(0, durationMs) : undefined;
}
