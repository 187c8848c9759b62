import { labelText, quoteReason } from '../calls/foreign-text.ts';
import { formatCallLine, formatCount, formatTime, type LineStyle } from '../calls/line.ts';
import { describeReason } from '../plan/node-line.ts';
import { toPrintable } from '../terminal/text.ts';

/** How a node can end that made no call. */
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

/** A record about the run of a plan, with the fields that are shown. Of nodes that made a call the record of its end tells. */
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

/** The beginning of a plan, or a node that ended without a call. */
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
  // One within a call.
  if (depth > 0) return [colors.dim(`  plan of ${nodes}`)];
  return [
    '',
    `${colors.bold('Plan')}  ${formatTime(atMs)}  ${nodes}`,
    colors.dim(`digest ${toPrintable(digest)}`),
    ...(request === undefined ? [] : labelText('Request: ', request, columns)),
  ];
}
