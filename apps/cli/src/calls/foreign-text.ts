import {
  fitColumns,
  isWider,
  splitColumns,
  toPrintable,
  toPrintableBlock,
  wrapBlock,
  wrapColumns,
} from '../terminal/text.ts';
import type { LineStyle } from './line.ts';

/** Marks each row that a model or a tool wrote. The program's own rows never begin with it. */
export const gutter = '| ';

/** A raw tab could pass the end of the row, and the text after it would start in front of the gutter. */
export const shownTab = '→   ';

/** The rows of a result shown under its call during a run. */
export const maxShownResultLines = 2;

// Without a terminal there is no width to fit.
const maxColumns = 160;
// More than fits on any line.
const maxLineCharacters = 4000;

export interface TextPlace {
  readonly columns: number;
  /** Columns in front of the gutter. Default 0. */
  readonly indent?: number;
  readonly paint?: (text: string) => string;
}

/** Quotes text of a model or a tool: each row gets the gutter, so that none can pass for a row of the program. */
export function quoteText(text: string, { columns, indent = 0, paint = (row) => row }: TextPlace): readonly string[] {
  return toRows(text, columns - indent).map((row) => ' '.repeat(indent) + paint(`${gutter}${row}`.trimEnd()));
}

/** Like `quoteText`, with `label`, written by the program, in place of the first gutter. */
export function labelText(label: string, text: string, columns: number): readonly string[] {
  const indent = Math.max(0, label.length - gutter.length);
  const [first = '', ...rest] = toRows(text, columns - indent);
  return [label + first, ...rest.map((row) => `${' '.repeat(indent)}${gutter}${row}`.trimEnd())];
}

/** The first `maxLines` non-empty lines of a result, each cut to one row, under the line of their call. */
export function quoteResult(text: string, { colors, columns }: LineStyle, maxLines: number): readonly string[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const indent = detailIndent(columns);
  const room = Math.min(columns, maxColumns) - indent - gutter.length - 1;
  const shown = lines.slice(0, maxLines).map((line) => {
    const head = line.trimEnd().slice(0, maxLineCharacters).toWellFormed().replaceAll('\t', shownTab);
    return fitColumns(toPrintable(head), room);
  });
  const more = lines.length - shown.length;
  const rows = more === 0 ? shown : [...shown, `… ${more} more line${more === 1 ? '' : 's'}`];
  return rows.map((row) => ' '.repeat(indent) + colors.dim(gutter + row));
}

/** Why a call or node failed, under its line. */
export function quoteReason(reason: string, { colors, columns }: LineStyle): readonly string[] {
  const text = toPrintable(reason);
  const indent = detailIndent(columns);
  const free = columns === Number.POSITIVE_INFINITY;
  const rows = free ? [text] : wrapColumns(text, columns - indent - gutter.length - 1, 3);
  return rows.map((row) => ' '.repeat(indent) + colors.dim(gutter + row));
}

/** Indentation of the rows under a call line: below the tool's name, if there is room. */
function detailIndent(columns: number): number {
  return columns < 40 ? 4 : 12;
}

/** Rows that fit behind a gutter, with the last column free. Breaks at blanks if possible. */
function toRows(text: string, columns: number): readonly string[] {
  const width = Math.max(2, columns - gutter.length - 1);
  const block = toPrintableBlock(text).replaceAll('\t', shownTab);
  return wrapBlock(block, width).flatMap((row) => (isWider(row, width) ? splitColumns(row, width) : [row]));
}
