import type { PendingApproval } from '@holdfast/core';
import { formatSize } from '../terminal/bytes.ts';
import { choosePaint } from '../terminal/patch.ts';
import { fitColumns, toPrintable } from '../terminal/text.ts';
import { listArgumentLines } from './arguments.ts';
import { formatCount, type LineStyle } from './line.ts';
import type { CallPreview, StagedChange } from './preview.ts';
import { cutMiddle, quoteLines } from './quote.ts';

/** What is asked about a call. */
export type Question = Pick<PendingApproval, 'name' | 'input' | 'dangerous' | 'asks'> & CallPreview;

export interface QuestionView {
  readonly style: LineStyle;
  /** Of the arguments, and of each diff. Longer ones are cut in the middle. */
  readonly maxRows: number;
  /** How the rest is seen: the end of a sentence. */
  readonly more: string;
}

export interface DescribedQuestion {
  readonly lines: readonly string[];
  /** False when something was cut. */
  readonly isWhole: boolean;
}

/** What a person has to know for the answer: the tool, its arguments, what it would change, why it is asked about. */
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
  if (changesUnknown !== undefined) return tell(`What it would change is not known: ${changesUnknown}`, '=');
  if (changes === undefined) return [];
  if (changes.length === 0) return tell('It would change no file.', '=');
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
function describeChange({ path, change, bytesBefore = 0, bytesAfter = 0, diff }: StagedChange): string {
  if (change === 'created') return `${path} (new, ${formatSize(bytesAfter)})`;
  if (change === 'removed') return `${path} (removed, ${formatSize(bytesBefore)})`;
  const count = (sign: string): number => (diff ?? '').split('\n').filter((line) => line.startsWith(sign)).length;
  const lines = diff === undefined ? 'not compared' : `+${count('+')} -${count('-')}`;
  return `${path} (${lines}, ${formatSize(bytesBefore)} -> ${formatSize(bytesAfter)})`;
}
