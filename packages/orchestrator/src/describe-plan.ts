import type { JsonObject } from '@holdfast/core';
import type { Plan } from './plan.ts';
import { formatCount, listIds, toLine } from './report-text.ts';

/** A table whose cells are printable and of one line each. The last column is free text. */
export interface TextTable {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const maxName = 80;
const maxText = 300;

/** A row for each node, in plan order: `node`, `tool`, `needs`, `on fail`, `retry`, `timeout`, `purpose`. */
export function planTable(plan: Plan): TextTable {
  return {
    head: ['node', 'tool', 'needs', 'on fail', 'retry', 'timeout', 'purpose'],
    rows: plan.nodes.map(({ id, tool, depends_on: needs, on_fail: onFail, retry, timeout, metadata }) => [
      toLine(String(id), maxName),
      toLine(tool, maxName),
      listIds(needs),
      onFail,
      retry === 0 ? '' : String(retry),
      `${timeout} s`,
      toLine(purposeOf(metadata) ?? '', maxText),
    ]),
  };
}

/** `metadata.purpose`, where it is a text. */
export function purposeOf(metadata: JsonObject): string | undefined {
  const purpose = Object.hasOwn(metadata, 'purpose') ? metadata['purpose'] : undefined;
  return typeof purpose === 'string' ? purpose : undefined;
}

/** The plan as plain text: a table of its nodes, and whose result is the plan's. Nothing in it is obeyed by a terminal. */
export function describePlan(plan: Plan): string {
  return [
    ...formatTable(planTable(plan)),
    '',
    `${formatCount(plan.nodes.length, 'node')}; the result is that of ${toLine(String(plan.final_output_node), maxName)}.`,
    '',
  ].join('\n');
}

/** Columns of one width, two blanks between them; one without a cell is left out. */
export function formatTable({ head, rows }: TextTable): readonly string[] {
  const widths = head.map(() => 0);
  for (const row of rows)
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  const columns = head.flatMap((title, index) => {
    const width = widths[index] ?? 0;
    return width === 0 ? [] : [{ index, width: Math.max(width, title.length) }];
  });
  return [head, ...rows].map((row) =>
    columns
      .map(({ index, width }) => (row[index] ?? '').padEnd(width))
      .join('  ')
      .trimEnd(),
  );
}
