import { expect, test } from 'vitest';
import { createColors } from '../terminal/colors.ts';
import { measureColumns } from '../terminal/text.ts';
import { labelText, quoteResult, quoteText } from './foreign-text.ts';

const colors = createColors(false);
const free = { colors, columns: Number.POSITIVE_INFINITY };

test.each<{ what: string; text: string; rows: readonly string[] }>([
  { what: 'nothing for an empty result', text: ' \n\t\n', rows: [] },
  { what: 'one line', text: '{"total":238}', rows: ['| {"total":238}'] },
  { what: 'the first two non-empty lines', text: '\n  a\n\nb\r\n', rows: ['|   a', '| b'] },
  { what: 'the number of remaining lines', text: 'a\nb\nc', rows: ['| a', '| b', '| … 1 more line'] },
  { what: 'the number of remaining non-empty lines', text: 'a\nb\nc\n\nd\n', rows: ['| a', '| b', '| … 2 more lines'] },
  { what: 'escaped control characters', text: 'a\x1b[2J\rb\tc', rows: ['| a\\x1b[2J\\rb→   c'] },
])('a result: $what', ({ text, rows }) => {
  expect(quoteResult(text, free, 2)).toEqual(rows.map((row) => `            ${row}`));
});

test('a result is dimmed, and cut to the columns', () => {
  const [row = ''] = quoteResult('word '.repeat(100), { colors: createColors(true), columns: 40 }, 2);
  expect(row).toContain(`${' '.repeat(12)}\x1b[2m| word `);
  expect(row).toContain('…\x1b[22m');
  for (const columns of [20, 40, 80, 200, Number.POSITIVE_INFINITY]) {
    const [line = ''] = quoteResult('漢字'.repeat(5_000_000), { colors, columns }, 2);
    expect(measureColumns(line)).toBeLessThan(Math.min(columns, 160));
  }
});

// Non-breaking spaces: rows must not break there.
const unbroken = `${'x'.repeat(75)}  ok        write_file  allow`.replaceAll(' ', '\u00a0');

test.each([
  { what: 'lines', text: 'Done.\n  ok        write_file  allow\n\nThat is all.' },
  { what: 'a line that is too long', text: 'word '.repeat(40) },
  { what: 'a word that is too long', text: unbroken },
  { what: 'wide characters', text: '漢字'.repeat(100) },
  { what: 'tabs', text: '\tok\t'.repeat(30) },
])('every row of $what has a gutter and fits', ({ text }) => {
  for (const columns of [24, 40, 80]) {
    const [first = '', ...rest] = labelText('Request: ', text, columns);
    expect(first).toMatch(/^Request: /);
    for (const row of rest) expect(row).toMatch(/^ {7}\|( |$)/);
    const rows = quoteText(text, { columns, indent: 2 });
    for (const row of rows) expect(row).toMatch(/^ {2}\|( |$)/);
    for (const row of [first, ...rest, ...rows]) expect(measureColumns(row)).toBeLessThan(columns);
  }
  expect(quoteText(text, { columns: Number.POSITIVE_INFINITY })).toHaveLength(text.split('\n').length);
});
