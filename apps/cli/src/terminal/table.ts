import type { Colors } from './colors.ts';
import { measureColumns, toPrintable, wrapBlock, wrapColumns } from './text.ts';

export interface TableColumn {
  readonly title: string;
  /** How its cells are shown. Default: unchanged. */
  readonly paint?: (text: string) => string;
}

export interface TableStyle {
  readonly colors: Colors;
  /** The line width. */
  readonly columns: number;
}

/** Cells by column. The last cell may have several texts, each on its own line. */
export type TableRow = readonly (string | readonly string[])[];

const minLastColumns = 16;
const maxColumns = 140;

/** Formats a table with a wrapped last column; on a narrow terminal, the cells of a row are stacked. */
export function formatTable(
  head: readonly TableColumn[],
  rows: readonly TableRow[],
  { colors, columns }: TableStyle,
): readonly string[] {
  const cells = rows.map((row) => row.map((cell) => (typeof cell === 'string' ? [cell] : cell).map(toPrintable)));
  const others = head.slice(0, -1).map(({ title }, index) => {
    return 2 + Math.max(title.length, ...cells.map((row) => measureColumns(row[index]?.[0] ?? '')));
  });
  const room = Math.min(columns, maxColumns) - others.reduce((sum, width) => sum + width, 1);
  if (room < minLastColumns) return toEntries(head, cells, { colors, columns });
  const widths = others.map((width) => width - 2);
  return [head.map(({ title }) => [title]), ...cells].flatMap((row, index) => {
    const last = row.at(-1)?.flatMap((text) => wrapColumns(text, room, Number.POSITIVE_INFINITY)) ?? [];
    const isHead = index === 0;
    return (last.length === 0 ? [''] : last).map((text, line) => {
      const first = widths.map((width, column) => {
        const [cell = ''] = line === 0 ? (row[column] ?? []) : [];
        const paint = isHead ? colors.bold : (head[column]?.paint ?? plain);
        return `${cell === '' ? '' : paint(cell)}${' '.repeat(width - measureColumns(cell))}`;
      });
      return [...first, isHead ? colors.bold(text) : text].join('  ').trimEnd();
    });
  });
}

const plain = (text: string): string => text;

/** Stacks the cells of each row. */
function toEntries(
  head: readonly TableColumn[],
  cells: readonly (readonly (readonly string[])[])[],
  { colors, columns }: TableStyle,
): readonly string[] {
  return cells.flatMap((row) => {
    const between = row
      .slice(1, -1)
      .flatMap(([cell = ''], index) => (cell === '' ? [] : [`${head[index + 1]?.title ?? ''}: ${cell}`]));
    return [
      colors.bold(row[0]?.[0] ?? ''),
      ...(between.length === 0 ? [] : wrapBlock(`  ${between.join(', ')}`, columns - 1)),
      ...(row.at(-1) ?? []).flatMap((text) => wrapBlock(`  ${text}`, columns - 1)),
    ];
  });
}
