import type { PolicyDecision } from '@holdfast/core';
import { formatCount, listIds, toLine } from './report-text.ts';
import type { NodeKind, NodeTrace, PlanTrace } from './trace.ts';

/** How a node is coloured, by what its kind means to who reads the report. */
export type Tone = 'ok' | 'bad' | 'doubt' | 'skipped' | 'open';

export const tones: readonly Tone[] = ['ok', 'bad', 'doubt', 'skipped', 'open'];

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

/** The kind as a text: a log that something else has written may have any. */
export function kindOf({ kind }: Pick<NodeTrace, 'kind'>): string {
  return toLine(kind, 40);
}

/** The nodes of which there is no result: all that are not `ok`, in plan order. Those that have not ended are among them. */
export function missingNodes(trace: PlanTrace): readonly NodeTrace[] {
  return trace.nodes.filter(({ kind }) => kind !== 'ok');
}

const maxReason = 300;

/** Why a node is not `ok`, on one line: what was said, its code, and because of which nodes where that was not said. Of one that is: whose approval it had. */
export function whyOf({ kind, code, message, because, approval }: NodeTrace): string {
  if (kind === 'ok') return describeApproval(approval);
  const reason = toLine(message, maxReason);
  const isNamed = because.length <= 8 && because.every((id) => reason.includes(`\`${id}\``));
  return [reason, code === undefined ? '' : `(${toLine(code, 80)})`, isNamed ? '' : `because of ${listIds(because)}`]
    .filter((text) => text !== '')
    .join(' ');
}

/** `approved by NAME`; empty where nobody was asked. */
export function describeApproval(approval: NodeTrace['approval']): string {
  if (approval === undefined) return '';
  return `${approval.type === 'approve' ? 'approved' : 'denied'} by ${toLine(approval.by, 100)}`;
}

/** `deny by host/deny-tools: Files are kept.` */
export function describeDecision({ policy, type, observed, reason }: PolicyDecision): string {
  const word = observed === undefined ? type : `would ${observed}`;
  return `${word} by ${toLine(policy, 200)}${reason === undefined ? '' : `: ${toLine(reason, 1_000)}`}`;
}

/** `partial: 5 of 7 nodes succeeded` */
export function describeStatus({ status, nodes }: PlanTrace): string {
  const succeeded = nodes.filter(({ kind }) => kind === 'ok').length;
  return `${toLine(status, 40)}: ${succeeded} of ${formatCount(nodes.length, 'node')} succeeded`;
}

/** What a person is to know of a run that has not come to its end; empty where it has. */
export function describeOpenEnd({ status, pending }: PlanTrace): string {
  switch (status) {
    case 'suspended':
      return `It waits for ${formatCount(pending.length, 'answer')} of a person, and goes on when it is resumed.`;
    case 'running':
      return 'By its log it has not ended: it still runs, or its process has ended and it can be resumed.';
    default:
      return '';
  }
}

/** `3 (search_news)` */
export function nameOf({ node, tool }: Pick<NodeTrace, 'node' | 'tool'>): string {
  return `${toLine(String(node), 80)} (${toLine(tool, 80)})`;
}

/** How long the run took, as far as it came; absent where its times say nothing. */
export function durationOf({ startedAtMs, endedAtMs }: PlanTrace): number | undefined {
  if (endedAtMs === undefined) return undefined;
  const durationMs = endedAtMs - startedAtMs;
  return Number.isFinite(durationMs) ? Math.max(0, durationMs) : undefined;
}
