import type { PlanTrace } from '@holdfast/orchestrator';
import { formatCount } from '@holdfast/orchestrator/text';
import { formatTime, type LineStyle, paintState } from '../calls/line.ts';
import { traceSummary, traceTable } from '../drawing/trace-text.ts';
import { formatTable } from '../terminal/table.ts';
import { toPrintable, wrapBlock } from '../terminal/text.ts';

// Longer tables are not readable.
const maxRows = 1000;

/** The nodes of a trace, in plan order; for a large plan only those that are not `ok`. */
export function formatTraceTable(trace: PlanTrace, style: LineStyle): readonly string[] {
  const all = trace.nodes.length;
  const nodes = all <= maxRows ? trace.nodes : trace.nodes.filter(({ kind }) => kind !== 'ok').slice(0, maxRows);
  const { head, rows } = traceTable({ ...trace, nodes });
  const paints = new Map([
    ['node', style.colors.bold],
    ['kind', (text: string) => paintState(text, style.colors)(text)],
    ['took', style.colors.dim],
  ]);
  const left = all - nodes.length;
  const table = formatTable(
    head.map((title) => {
      const paint = paints.get(title);
      return paint === undefined ? { title } : { title, paint };
    }),
    rows,
    style,
  );
  if (left === 0) return table;
  return [
    ...(nodes.length === 0 ? [] : table),
    style.colors.dim(`… and ${formatCount(left, 'more node')}; use \`--json\``),
  ];
}

/** Describes a trace for people: the run, a row for each node, and the summary. */
export function describeTraceFor(trace: PlanTrace, style: LineStyle): readonly string[] {
  const { colors, columns } = style;
  const wrap = (text: string): readonly string[] => wrapBlock(text, columns - 1);
  const { sessionId, startedAtMs, request, digest } = trace;
  return [
    `${colors.bold(`Plan of session ${sessionId}`)}  ${formatTime(startedAtMs)}`,
    ...(request === undefined ? [] : wrap(`Request: ${toPrintable(request)}`)),
    colors.dim(`digest ${digest}`),
    '',
    ...formatTraceTable(trace, style),
    '',
    ...traceSummary(trace).flatMap(wrap),
  ];
}
