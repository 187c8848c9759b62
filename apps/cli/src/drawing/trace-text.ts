import { toPrintableBlock } from '@holdfast/core/internal';
import { type PlanTrace, reportTrace, type TraceReport } from '@holdfast/orchestrator';
import { cut, describeDecision, formatCount, formatDuration, toBlock, toLine } from '@holdfast/orchestrator/text';
import { formatTime } from './text.ts';

/** A table whose cells are printable single lines. The last column is free text. */
export interface TextTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** A row per node, in plan order: `node`, `tool`, `kind`, `attempts`, `took`, `why`. */
export function traceTable(trace: PlanTrace): TextTable {
  return {
    head: ['node', 'tool', 'kind', 'attempts', 'took', 'why'],
    rows: reportTrace(trace).nodes.map(({ node, tool, kind, attempts, durationMs, why }) => [
      toLine(String(node), 80),
      toLine(tool, 80),
      // A foreign log may contain any kind.
      toLine(kind, 40),
      attempts === 0 ? '' : String(attempts),
      durationMs === undefined ? '' : formatDuration(durationMs),
      why,
    ]),
  };
}

const maxOutput = 4_000;
const maxMissing = 20;

/**
 * The lines below the table: the status, the output (at most 4,000 characters), missing nodes (at most 20) and pending
 * questions.
 */
export function traceSummary(trace: PlanTrace): readonly string[] {
  const report = reportTrace(trace);
  const { summary, open, durationMs, pending } = report;
  return [
    `${summary}${durationMs === undefined ? '' : `, in ${formatDuration(durationMs)}`}.`,
    ...(open === '' ? [] : [open]),
    ...listOutput(report),
    ...listMissing(report),
    ...pending.flatMap(({ callId, name, asks, expiresAtMs }) => [
      `Question: call \`${toLine(callId, 200)}\` of \`${toLine(name, 80)}\`, until ${formatTime(expiresAtMs)}`,
      ...asks.map((decision) => `  ${describeDecision(decision)}`),
    ]),
  ];
}

function listOutput({ output }: TraceReport): readonly string[] {
  if (output === undefined) return [];
  const { text, leftOut } = cut(toBlock(output), maxOutput);
  const more = leftOut === 0 ? [] : [`  (${formatCount(leftOut, 'more character')})`];
  return [
    'Output:',
    ...toPrintableBlock(text)
      .split('\n')
      .map((line) => `  ${line}`),
    ...more,
  ];
}

function listMissing({ missing }: TraceReport): readonly string[] {
  if (missing.length === 0) return [];
  const shown = missing.slice(0, maxMissing).map(({ name, kind }) => `  ${name} ${toLine(kind, 40)}`);
  const more = missing.length - shown.length;
  return ['Missing:', ...shown, ...(more === 0 ? [] : [`  and ${formatCount(more, 'more node')}`])];
}
