import { toPrintableBlock } from '@holdfast/core/internal';
import { cut, formatCount, formatDuration, toBlock, toLine } from '../plan/text.ts';
import { describeDecision, type NodeReport, type TraceReport } from './report.ts';

const maxOutput = 20_000;
const maxMissing = 50;

/** Writes the report without a model. The result comes last, so that no text of a tool precedes ours. */
export function writeReport(trace: TraceReport, note?: string): string {
  const { request } = trace;
  return [
    ...(request === undefined ? [] : [`Request: ${toLine(request, 2_000)}`]),
    ...statusLines(trace),
    ...questionLines(trace),
    ...(note === undefined ? [] : [note]),
    '',
    ...resultLines(trace),
    '',
  ].join('\n');
}

/** The status and the missing nodes as printable lines; at most fifty nodes. */
export function statusLines({ summary, open, missing, durationMs }: TraceReport): readonly string[] {
  const more = missing.length - maxMissing;
  return [
    `Status: ${summary}${durationMs === undefined ? '' : `, in ${formatDuration(durationMs)}`}.`,
    ...(open === '' ? [] : [open]),
    ...(missing.length === 0 ? [] : ['Missing:', ...missing.slice(0, maxMissing).map(missingLine)]),
    ...(more <= 0 ? [] : [`- and ${formatCount(more, 'more node')}`]),
  ];
}

function missingLine({ name, kind, why, purpose, attempts }: NodeReport): string {
  return [
    // A log written by another program may contain any kind.
    `- ${name} ${toLine(kind, 40)}`,
    attempts > 1 ? ` after ${formatCount(attempts, 'attempt')}` : '',
    why === '' ? '' : `: ${why}`,
    purpose === undefined || purpose === '' ? '' : `; purpose: ${toLine(purpose, 200)}`,
  ].join('');
}

function resultLines({ output, plan }: TraceReport): readonly string[] {
  const name = toLine(String(plan.final_output_node), 80);
  if (output === undefined) return [`There is no result: the final node ${name} returned none.`];
  const { text, leftOut } = cut(toBlock(output), maxOutput);
  const more = leftOut === 0 ? [] : [`(${formatCount(leftOut, 'more character')})`];
  return [`Result, of node ${name}:`, toPrintableBlock(text), ...more];
}

function questionLines({ pending }: TraceReport): readonly string[] {
  return pending
    .slice(0, maxMissing)
    .flatMap(({ callId, name, asks }) => [
      `Question: run call \`${toLine(callId, 200)}\` of \`${toLine(name, 80)}\`?`,
      ...asks.map((decision) => `  ${describeDecision(decision)}`),
    ]);
}
