import { splitColumns, toPrintable, wrapWhole } from '../terminal/text.ts';
import { shownTab } from './foreign-text.ts';
import type { LineStyle } from './line.ts';

/** A line that somebody else wrote, and how it is painted. */
export interface QuotedLine {
  readonly text: string;
  readonly paint?: (text: string) => string;
}

export interface QuoteStyle extends LineStyle {
  /** In front of each line. One that continues on the next row has `:` there. Default `|`. */
  readonly mark?: string;
  /** Breaks lines at blanks. */
  readonly prose?: boolean;
}

// Of the mark and what stands around it.
const frameColumns = 7;

/**
 * Lines that others wrote, whole, each row behind a mark: none of them can act on the terminal, hide a part of itself or pass for a
 * line of the program.
 */
export function quoteLines(
  lines: readonly QuotedLine[],
  { colors, columns, mark = '|', prose = false }: QuoteStyle,
): readonly string[] {
  const width = Math.max(2, Math.min(columns, 120) - frameColumns);
  const split = prose ? wrapWhole : splitColumns;
  return lines.flatMap(({ text, paint = (piece) => piece }) =>
    split(toPrintable(text.replaceAll('\t', shownTab)), width).map((piece, index) =>
      `    ${colors.dim(index === 0 ? mark : ':')} ${paint(piece)}`.trimEnd(),
    ),
  );
}

/** Rows that fit, else the first and the last of them, with what `note` says about the missing ones between. */
export function cutMiddle(
  rows: readonly string[],
  { maxRows, note }: { readonly maxRows: number; readonly note: (missing: number) => readonly string[] },
): readonly string[] {
  if (rows.length <= maxRows) return rows;
  const tail = Math.floor(maxRows / 3);
  const head = maxRows - tail - 1;
  return [...rows.slice(0, head), ...note(rows.length - head - tail), ...rows.slice(-tail)];
}
