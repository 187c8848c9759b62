import { describeThrown, isPlainObject } from '@holdfast/core/internal';
import { formatCount } from '@holdfast/orchestrator/text';
import { planSlice, renderPlan } from '@holdfast/planning';
import type { LogRecord } from '@holdfast/session';
import { gutter, labelText, quoteReason } from '../calls/foreign-text.ts';
import { formatArguments, formatCallLine, formatTime, type LineStyle } from '../calls/line.ts';
import { describeReason } from '../plan/node-line.ts';
import { toPrintable, wrapBlock } from '../terminal/text.ts';
import type { ShownRecord } from './records.ts';
import { listReducing, replayLog } from './replay.ts';

/** Outcomes of a node that made no call. */
export const closedKinds = [
  'failed',
  'invalid',
  'denied',
  'unknown-tool',
  'truncated',
  'timed-out',
  'cancelled',
  'in-doubt',
  'skipped',
] as const;
type ClosedKind = (typeof closedKinds)[number];

/** A record of a plan's run, reduced to the fields that are shown. Nodes that made a call are shown by its end record. */
export type ShownPlanRecord =
  | {
      readonly type: 'plan-start';
      readonly document: { readonly nodes: readonly unknown[] };
      readonly digest: string;
      readonly request?: string | undefined;
      readonly atMs: number;
    }
  | { readonly type: 'plan-resume'; readonly atMs: number }
  | {
      readonly type: 'plan-node';
      readonly node: string | number;
      readonly kind: ClosedKind;
      readonly code: string;
      readonly message: string;
      readonly because: readonly (string | number)[];
    }
  | { readonly type: 'plan-end'; readonly status: string; readonly atMs: number };

/** The start of a plan, or a node that ended without a call. */
export function describePlanRecord(
  record: ShownPlanRecord & { readonly type: 'plan-start' | 'plan-node' },
  style: LineStyle,
  depth: number,
): readonly string[] {
  const { colors, columns } = style;
  if (record.type === 'plan-node') {
    const { kind, node } = record;
    const name = toPrintable(String(node));
    const line = formatCallLine({ state: kind, name, arguments: '', decision: '', durationMs: undefined }, style);
    return [line, ...quoteReason(describeReason(record), style)];
  }
  const { atMs, digest, document, request } = record;
  const nodes = formatCount(document.nodes.length, 'node');
  // A plan within a call.
  if (depth > 0) return [colors.dim(`  plan of ${nodes}`)];
  return [
    '',
    `${colors.bold('Plan')}  ${formatTime(atMs)}  ${nodes}`,
    colors.dim(`digest ${toPrintable(digest)}`),
    ...(request === undefined ? [] : labelText('Request: ', request, columns)),
  ];
}

/** The session's plan at the end of its log, after a blank line; empty without a plan. */
export function describePlan(records: readonly LogRecord[], { colors, columns }: LineStyle): readonly string[] {
  // Avoids a replay for the many sessions without a plan.
  if (!listReducing(records).has(planSlice.id)) return [];
  try {
    const { session, missing } = replayLog(records);
    const plan = missing.some(({ id }) => id === planSlice.id) ? null : session.read(planSlice);
    if (plan === null) return [];
    const lines = renderPlan(plan, { color: colors.isColorSupported }).split('\n');
    return ['', ...lines.flatMap((line) => formatStep(line, columns))];
  } catch (thrown) {
    const problem = `Cannot rebuild the plan of the session: ${toPrintable(describeThrown(thrown))}`;
    return ['', ...wrapBlock(problem, columns - 1).map(colors.yellow)];
  }
}

/** A step is model text: continuation rows get the gutter. */
function formatStep(line: string, columns: number): readonly string[] {
  const [first = '', ...rest] = wrapBlock(line, columns - gutter.length - 1);
  return [first, ...rest.map((row) => `  ${gutter}${row.trimStart()}`)];
}

/** A person's answer or resolution, with the name if known. */
export function describeSaid(
  record: ShownRecord & { readonly type: 'approval-answer' | 'call-resolution' },
): readonly string[] {
  const { by } = record;
  if (by === undefined) return [];
  if (record.type === 'call-resolution') {
    const { type, value, message } = record.resolution;
    const what = type === 'done' ? 'done' : 'not done';
    return [
      `marked as ${what} by ${toPrintable(by)}${value === undefined ? '' : `, with ${formatArguments(value)}`}${message === undefined ? '' : `: ${toPrintable(message)}`}`,
    ];
  }
  const { type, grant, reason } = record.answer;
  const what = type === 'approve' ? (grant === true ? 'approved, and granted,' : 'approved') : 'denied';
  return [`${what} by ${toPrintable(by)}${reason === undefined ? '' : `: ${toPrintable(reason)}`}`];
}

/** A grant given or withdrawn by a state change. */
export function describeGrant(change: unknown): readonly string[] {
  if (!isPlainObject(change) || change['slice'] !== 'holdfast/grants') return [];
  const { op, key } = change;
  if (op !== 'upsert' && op !== 'remove') return [];
  const name = toPrintable(String(key));
  return [
    op === 'upsert'
      ? `  ${name} is granted for the session`
      : `  ${name} needs approval again: its grant was withdrawn`,
  ];
}

const problems = {
  'resource-apply-failed': '',
  'resource-recovery-failed': 'could not be recovered: ',
  'resource-discard-failed': 'could not clean up staged changes: ',
  'resource-dispose-failed': 'could not be disposed of: ',
  'close-error': 'Error while closing the session: ',
  'subscriber-error': 'An observer of the session failed: ',
} as const;

/** A problem outside a call's outcome, or with the session. */
export function describeProblem(problem: ShownRecord & { readonly type: keyof typeof problems }): string {
  const resource = 'resource' in problem && problem.resource !== undefined ? `\`${problem.resource}\` ` : '';
  return toPrintable(`${resource}${problems[problem.type]}${problem.message}`);
}
