import type { NodeTrace } from '@holdfast/orchestrator';
import type { NodeId, NodeKind } from '@holdfast/orchestrator/internal';
import { formatCount } from '@holdfast/orchestrator/text';
import { maxShownResultLines, quoteReason, quoteResult } from '../calls/foreign-text.ts';
import {
  describeDecision,
  formatArguments,
  formatCallLine,
  formatLate,
  type LineStyle,
  listAttempts,
  listKind,
} from '../calls/line.ts';
import { createOpenCalls } from '../calls/open.ts';
import { formatOpenCalls, type Telling } from '../run/view.ts';
import { fitColumns, toPrintable } from '../terminal/text.ts';
import { listIds } from './view.ts';

/**
 * A node that has ended or is suspended: its line, and under it the beginning of `result` (the text for a model) or the reason of its
 * failure.
 */
function formatNodeEnd(node: NodeTrace, style: LineStyle, result = ''): readonly string[] {
  const { kind, code, reason: finer, tool, input, attempts, decisions, approval, durationMs = 0 } = node;
  const outcome = { kind, code, reason: finer, message: node.message, ...(attempts > 1 ? { attempts } : {}) };
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

type Reasoned = Pick<NodeTrace, 'kind' | 'message' | 'code' | 'reason' | 'because'>;

/** Why a node did not succeed, on one line; empty if it did. */
export function describeReason({ kind, message, because, ...finer }: Reasoned): string {
  if (kind === 'ok' || kind === 'waiting' || kind === 'running') return '';
  if (kind === 'suspended') return 'waiting for an answer';
  const said = message.trim() === '' && because.length > 0 ? `because of ${listIds(because, 5)}` : message.trim();
  return toPrintable(`${said}${listKind(finer)}`.trim());
}

/**
 * The live view of a plan: a line for each ended node with the beginning of its result, below it the running nodes and the number of
 * ended ones.
 */
export function createPlanTelling(style: LineStyle): Telling {
  const calls = createOpenCalls();
  const names = new Map<string, string>();
  // Results of ended calls, until their nodes end.
  const results = new Map<string, string>();
  let count = 0;
  const ended = new Set<NodeId>();
  const settle = (node: NodeTrace): void => {
    if (!openKinds.has(node.kind)) ended.add(node.node);
  };
  return {
    take(event) {
      // A call of the plan is shown under the name of its node.
      const isNode = event.type === 'tool-call-start' && event.parentId === undefined;
      const given = isNode ? `${event.name} ${formatArguments(event.rawArguments)}` : '';
      calls.apply(isNode ? { ...event, name: names.get(event.callId) ?? event.name, rawArguments: given } : event);
      if (event.type === 'plan-start' || event.type === 'plan-resume') {
        count = event.nodes.length;
        for (const node of event.nodes) settle(node);
      } else if (event.type === 'node-start') {
        names.set(event.callId, String(event.node));
      } else if (event.type === 'tool-call-end' && event.parentId === undefined && event.outcome.kind === 'ok') {
        results.set(event.callId, event.outcome.text);
      } else if (event.type === 'tool-call-late') {
        return [formatLate(event, style)];
      } else if (event.type === 'node-end') {
        settle(event.node);
        const { callId = '' } = event.node;
        const result = results.get(callId);
        results.delete(callId);
        return formatNodeEnd(event.node, style, result);
      }
      return [];
    },
    rest: () => [],
    open: (nowMs) => [
      ...formatOpenCalls(calls.list(), style, nowMs),
      ...(count === 0 ? [] : [style.colors.dim(fitColumns(describeEnded(ended.size, count), style.columns - 1))]),
    ],
  };
}

function describeEnded(ended: number, count: number): string {
  return `  ${ended.toLocaleString('en-GB')} of ${formatCount(count, 'node')} ended`;
}

const openKinds: ReadonlySet<NodeKind> = new Set(['waiting', 'running', 'suspended']);
