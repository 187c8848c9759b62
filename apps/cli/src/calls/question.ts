import type { Json, PendingApproval } from '@holdfast/core';
import { formatCount } from '@holdfast/orchestrator/text';
import { choosePaint } from '../terminal/patch.ts';
import { fitColumns, formatSize, splitColumns, toPrintable, wrapWhole } from '../terminal/text.ts';
import { shownTab } from './foreign-text.ts';
import type { LineStyle } from './line.ts';
import type { CallPreview, StagedChange } from './preview.ts';

/** The subject of a question about a call. */
export type Question = Pick<PendingApproval, 'name' | 'input' | 'dangerous' | 'asks'> & CallPreview;

export interface QuestionView {
  readonly style: LineStyle;
  /** For the arguments and for each diff. Longer ones are cut in the middle. */
  readonly maxRows: number;
  /** How to see the rest: the end of a sentence. */
  readonly more: string;
}

export interface DescribedQuestion {
  readonly lines: readonly string[];
  /** False if anything was cut. */
  readonly isWhole: boolean;
}

/** Describes a question: the tool, its arguments, its changes and why approval is needed. */
export function describeQuestion(
  { name, input, dangerous, asks, ...preview }: Question,
  { style, maxRows, more }: QuestionView,
): DescribedQuestion {
  const { colors, columns } = style;
  let isWhole = true;
  const cut = (rows: readonly string[], limit = maxRows): readonly string[] => {
    if (rows.length > limit) isWhole = false;
    const note = (missing: number) => {
      const text = `${formatCount(missing, 'more line')} of ${rows.length}: ${more}`;
      return quoteLines([{ text, paint: colors.yellow }], { ...style, mark: '…', prose: true });
    };
    return cutMiddle(rows, { maxRows: limit, note });
  };
  const shown = fitColumns(toPrintable(name), Math.max(8, Math.min(columns, 120) - 23));
  const reasons = asks.map(({ policy, reason = 'no reason given' }) => ({ text: `${reason} (${policy})` }));
  const lines = [
    `  ${colors.yellow('asking')}    ${colors.bold(shown)}${dangerous ? colors.red('  dangerous') : ''}`,
    ...(shown === name ? [] : cut(quoteLines([{ text: name }], { ...style, mark: '#' }), 4)),
    ...cut(
      quoteLines(
        listArgumentLines(input).map((text) => ({ text })),
        style,
      ),
    ),
    ...describePreview(preview, style, cut),
    ...cut(quoteLines(reasons, { ...style, mark: '?', prose: true }), Math.ceil(maxRows / 2)),
  ];
  return { lines, isWhole };
}

function describePreview(
  { changes, changesUnknown }: CallPreview,
  style: LineStyle,
  cut: (rows: readonly string[]) => readonly string[],
): readonly string[] {
  const tell = (text: string, mark: string): readonly string[] =>
    cut(quoteLines([{ text }], { ...style, mark, prose: true }));
  if (changesUnknown !== undefined) return tell(`Changes unknown: ${changesUnknown}`, '=');
  if (changes === undefined) return [];
  if (changes.length === 0) return tell('No file would change.', '=');
  const { colors } = style;
  return changes.flatMap((change) => {
    const diff = (change.diff ?? '').split('\n').slice(0, -1);
    const patch = diff.map((text) => ({ text, paint: choosePaint(text, colors) }));
    const [mark, paint] = signs[change.change];
    return [...tell(describeChange(change), colors[paint](mark)), ...cut(quoteLines(patch, style))];
  });
}

const signs = {
  created: ['+', 'green'],
  changed: ['~', 'yellow'],
  removed: ['-', 'red'],
} as const;

/** `src/a.ts (+3 -1, 2.0 kB -> 2.1 kB)`. */
export function describeChange({ path, change, bytesBefore = 0, bytesAfter = 0, diff }: StagedChange): string {
  if (change === 'created') return `${path} (new, ${formatSize(bytesAfter)})`;
  if (change === 'removed') return `${path} (removed, ${formatSize(bytesBefore)})`;
  const count = (sign: string): number => (diff ?? '').split('\n').filter((line) => line.startsWith(sign)).length;
  const lines = diff === undefined ? 'not compared' : `+${count('+')} -${count('-')}`;
  return `${path} (${lines}, ${formatSize(bytesBefore)} -> ${formatSize(bytesAfter)})`;
}

/**
 * A value as indented JSON, with each multi-line text written as lines behind a `|`, so that file contents stay readable. A line
 * of JSON never begins with `|`, so a text cannot pass for a field.
 */
export function listArgumentLines(value: Json): readonly string[] {
  return [...write(value, { indent: '', key: '', end: '' })];
}

interface Place {
  readonly indent: string;
  /** `"key": `, in an object. */
  readonly key: string;
  /** A comma, unless it is the last item. */
  readonly end: string;
}

function* write(value: Json, { indent, key, end }: Place): Generator<string> {
  if (typeof value === 'string' && value.includes('\n')) {
    yield `${indent}${key}text of ${value.length} characters${end}`;
    for (const line of value.split('\n')) yield `${indent}  | ${line}`;
    return;
  }
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) {
    yield `${indent}${key}${JSON.stringify(value)}${end}`;
    return;
  }
  const entries: readonly (readonly [string, Json])[] = Array.isArray(value)
    ? value.map((item: Json) => ['', item])
    : Object.entries(value).map(([name, item]) => [`${JSON.stringify(name)}: `, item]);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  yield `${indent}${key}${open}`;
  for (const [index, [name, item]] of entries.entries()) {
    yield* write(item, { indent: `${indent}  `, key: name, end: index < entries.length - 1 ? ',' : '' });
  }
  yield `${indent}${close}${end}`;
}

/** A line from an untrusted source. */
export interface QuotedLine {
  readonly text: string;
  readonly paint?: (text: string) => string;
}

export interface QuoteStyle extends LineStyle {
  /** Printed before each line. Continued rows have `:` instead. Default `|`. */
  readonly mark?: string;
  /** Breaks lines at blanks. */
  readonly prose?: boolean;
}

// The mark and the blanks around it.
const frameColumns = 7;

/**
 * Quotes untrusted lines whole, each row behind a mark: they cannot control the terminal, hide part of themselves or pass for a
 * line of the program.
 */
function quoteLines(
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

/** The rows if they fit, else the first and last of them around a note about the missing ones. */
function cutMiddle(
  rows: readonly string[],
  { maxRows, note }: { readonly maxRows: number; readonly note: (missing: number) => readonly string[] },
): readonly string[] {
  if (rows.length <= maxRows) return rows;
  const tail = Math.floor(maxRows / 3);
  const head = maxRows - tail - 1;
  return [...rows.slice(0, head), ...note(rows.length - head - tail), ...rows.slice(-tail)];
}
