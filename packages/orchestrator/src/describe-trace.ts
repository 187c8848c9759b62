import { toPrintableBlock } from '@holdfast/core';
import { formatTable, type TextTable } from './describe-plan.ts';
import {
  describeDecision,
  describeOpenEnd,
  describeStatus,
  durationOf,
  kindOf,
  missingNodes,
  nameOf,
  whyOf,
} from './report-facts.ts';
import { cut, formatCount, formatDuration, formatTime, toBlock, toLine } from './report-text.ts';
import type { PlanTrace } from './trace.ts';

/** A row for each node, in plan order: `node`, `tool`, `kind`, `attempts`, `took`, `why`. */
export function traceTable(trace: PlanTrace): TextTable {
  return {
    head: ['node', 'tool', 'kind', 'attempts', 'took', 'why'],
    rows: trace.nodes.map((node) => [
      toLine(String(node.node), 80),
      toLine(node.tool, 80),
      kindOf(node),
      node.attempts === 0 ? '' : String(node.attempts),
      node.durationMs === undefined ? '' : formatDuration(node.durationMs),
      whyOf(node),
    ]),
  };
}

const maxOutput = 4_000;
const maxMissing = 20;

/**
 * What stands under the table, as printable lines: the status, the output (of a long one the first 4,000 characters), what is missing
 * (of many the first 20), and the questions that wait for a person.
 */
export function traceSummary(trace: PlanTrace): readonly string[] {
  const durationMs = durationOf(trace);
  const open = describeOpenEnd(trace);
  return [
    `${describeStatus(trace)}${durationMs === undefined ? '' : `, in ${formatDuration(durationMs)}`}.`,
    ...(open === '' ? [] : [open]),
    ...listOutput(trace),
    ...listMissing(trace),
    ...trace.pending.flatMap(({ callId, name, asks, expiresAtMs }) => [
      `Question: call \`${toLine(callId, 200)}\` of \`${toLine(name, 80)}\`, until ${formatTime(expiresAtMs)}`,
      ...asks.map((decision) => `  ${describeDecision(decision)}`),
    ]),
  ];
}

function listOutput({ output }: PlanTrace): readonly string[] {
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

function listMissing(trace: PlanTrace): readonly string[] {
  const missing = missingNodes(trace);
  if (missing.length === 0) return [];
  const shown = missing.slice(0, maxMissing).map((node) => `  ${nameOf(node)} ${kindOf(node)}`);
  const more = missing.length - shown.length;
  return ['Missing:', ...shown, ...(more === 0 ? [] : [`  and ${formatCount(more, 'more node')}`])];
}

/** The trace as plain text for people and logs: what was asked for, a table of the nodes, and `traceSummary`. */
export function describeTrace(trace: PlanTrace): string {
  return [
    `Run ${trace.run} of session ${toLine(trace.sessionId, 200)}, begun ${formatTime(trace.startedAtMs)}`,
    ...(trace.request === undefined ? [] : [`Request: ${toLine(trace.request, 2_000)}`]),
    `Plan: ${toLine(trace.digest, 100)}`,
    '',
    ...formatTable(traceTable(trace)),
    '',
    ...traceSummary(trace),
    '',
  ].join('\n');
}
