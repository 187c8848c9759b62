import type { NodeTrace } from '@holdfast/orchestrator';
import { maxShownResultLines, quoteReason, quoteResult } from '../calls/foreign-text.ts';
import {
  describeDecision,
  formatArguments,
  formatCallLine,
  formatDuration,
  type LineStyle,
  listAttempts,
} from '../calls/line.ts';
import { toPrintable } from '../terminal/text.ts';
import type { NodeProgress, PlanProgress } from './progress.ts';
import { listIds } from './view.ts';

/**
 * What a node that has ended, or waits for a person, has to say: its line, and under it the beginning of `result`, the text that a model
 * would get, or why it did not succeed.
 */
export function formatNodeEnd(node: NodeTrace, style: LineStyle, result = ''): readonly string[] {
  const { kind, code, tool, input, attempts, decisions, approval, durationMs = 0 } = node;
  const outcome = { kind, code, message: node.message, ...(attempts > 1 ? { attempts } : {}) };
  const call = { name: tool, rawArguments: input, decisions, approval, outcome, durationMs };
  const decision = node.callId === undefined ? [] : [describeDecision(call), ...listAttempts(outcome)];
  const line = formatCallLine(
    {
      state: kind,
      name: toPrintable(String(node.node)),
      arguments: `${tool} ${formatArguments(input)}`.trimEnd(),
      decision: decision.filter((text) => text !== '').join(', '),
      durationMs: node.durationMs,
    },
    style,
  );
  const reason = describeReason(node);
  return [line, ...(reason === '' ? quoteResult(result, style, maxShownResultLines) : quoteReason(reason, style))];
}

type Reasoned = Pick<NodeProgress, 'kind' | 'message' | 'code' | 'because'>;

/** Why a node did not succeed, on one line; empty for one that did. */
export function describeReason({ kind, message, code, because }: Reasoned): string {
  if (kind === 'ok' || kind === 'waiting' || kind === 'running') return '';
  if (kind === 'suspended') return 'waits for an answer';
  const said = message.trim() === '' && because.length > 0 ? `because of ${listIds(because, 5)}` : message.trim();
  return toPrintable(`${said}${code === undefined ? '' : ` (${code})`}`.trim());
}

/** What a node is at, or waits for, on one line. */
export function describeNode(node: NodeProgress, progress: PlanProgress, nowMs: number): string {
  if (node.kind === 'running') {
    const { note, noteUntilMs = Number.POSITIVE_INFINITY } = node;
    return nowMs < noteUntilMs ? toPrintable(note) : '';
  }
  if (node.kind !== 'waiting') return describeReason(node);
  const { wait } = node;
  if (wait?.type === 'locks')
    return toPrintable(`waits for the lock${wait.names.length === 1 ? '' : 's'} ${listIds(wait.names, 3)}`);
  if (wait?.type === 'rate') {
    const leftMs = Math.max(0, wait.untilMs - nowMs);
    return toPrintable(`waits for the rate limit of ${node.tool}, ${formatDuration(leftMs)}`);
  }
  const missing = progress.listMissing(node);
  return missing.length === 0 ? 'waits for a place' : `waits for ${listIds(missing, 4)}`;
}
