import { type PlanTrace, traceSummary, traceTable } from '@holdfast/orchestrator';
import { formatTime, type LineStyle, paintState } from './call-line.ts';
import { formatTable } from './table.ts';
import { toPrintable, wrapBlock } from './terminal-text.ts';

/** The nodes of a trace, in plan order. */
export function formatTraceTable(trace: PlanTrace, style: LineStyle): readonly string[] {
  const { head, rows } = traceTable(trace);
  const paints = new Map([
    ['node', style.colors.bold],
    ['kind', (text: string) => paintState(text, style.colors)(text)],
    ['took', style.colors.dim],
  ]);
  return formatTable(
    head.map((title) => {
      const paint = paints.get(title);
      return paint === undefined ? { title } : { title, paint };
    }),
    rows,
    style,
  );
}

/** A trace for people: which run it was, a row for each node, and what came of it. */
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
