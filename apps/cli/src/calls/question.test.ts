import { stripVTControlCharacters } from 'node:util';
import type { Json } from '@holdfast/core';
import { expect, test } from 'vitest';
import { createColors } from '../terminal/colors.ts';
import { measureColumns } from '../terminal/text.ts';
import { pendingApproval } from '../testing/test-events.ts';
import { describeQuestion, type Question, type QuestionView } from './question.ts';

const style = { colors: createColors(false), columns: 80 };
const view: QuestionView = { style, maxRows: 16, more: 'choose "Show all".' };

const toQuestion = (changes: Partial<Question>): Question => ({
  ...pendingApproval({ name: 'write_file', dangerous: false }),
  ...changes,
});
const ask = (changes: Partial<Question>) => describeQuestion(toQuestion(changes), view);

test('a multi-line text is shown in full, with visible tabs and carriage returns', () => {
  const input = { path: 'a.go', content: 'func main() {\n\treturn\r\n}\n', more: [1, { deep: 'x\ny' }], none: {} };
  expect(describeQuestion(toQuestion({ input }), { ...view, maxRows: 17 }).lines).toEqual([
    '  asking    write_file',
    '    | {',
    '    |   "path": "a.go",',
    '    |   "content": text of 25 characters,',
    '    |     | func main() {',
    '    |     | →   return\\r',
    '    |     | }',
    '    |     |',
    '    |   "more": [',
    '    |     1,',
    '    |     {',
    '    |       "deep": text of 3 characters',
    '    |         | x',
    '    |         | y',
    '    |     }',
    '    |   ],',
    '    |   "none": {}',
    '    | }',
  ]);
});

test('long arguments are cut in the middle, with the number of missing lines', () => {
  const input = { command: `${'echo fine; '.repeat(500)}rm -rf ~` };
  const { lines, isWhole } = ask({ input });
  expect(isWhole).toBe(false);
  expect(lines).toHaveLength(17);
  expect(lines[11]).toBe('    … 63 more lines of 78: choose "Show all".');
  expect(lines.slice(-3).join('')).toContain('rm -rf');
  const whole = describeQuestion(toQuestion({ input }), { ...view, maxRows: Number.POSITIVE_INFINITY });
  expect(whole.isWhole).toBe(true);
  const shown = whole.lines.map((line) => line.replace(/^ {4}[|:] /, '')).join('');
  expect(shown.replaceAll(/\s/g, '')).toContain(input.command.replaceAll(/\s/g, ''));
});

test('changes are shown with sizes, and a diff for text', () => {
  const diff = '@@ -1,2 +1,2 @@\n-\told\n+\tnew\n same\n';
  const { lines } = ask({
    input: {},
    changes: [
      { path: 'new.md', change: 'created', bytesAfter: 1234 },
      { path: 'src/a.ts', change: 'changed', bytesBefore: 999, bytesAfter: 2_500_000, diff },
      { path: 'image.png', change: 'changed', bytesBefore: 4, bytesAfter: 0 },
      { path: 'notes.txt', change: 'removed', bytesBefore: 300 },
    ],
    asks: [{ policy: 'careful', type: 'ask', reason: 'Files are looked at.' }],
  });
  expect(lines).toEqual([
    '  asking    write_file',
    '    | {}',
    '    + new.md (new, 1.2 kB)',
    '    ~ src/a.ts (+1 -1, 999 B -> 2.5 MB)',
    '    | @@ -1,2 +1,2 @@',
    '    | -→   old',
    '    | +→   new',
    '    |  same',
    '    ~ image.png (not compared, 4 B -> 0 B)',
    '    - notes.txt (removed, 300 B)',
    '    ? Files are looked at. (careful)',
  ]);
});

test('colors do not change the text', () => {
  const diff = '@@ -1 +1 @@\n-old\n+new\n';
  const changes = [{ path: 'a', change: 'changed' as const, bytesBefore: 4, bytesAfter: 4, diff }];
  const question = toQuestion({ input: { command: 'long '.repeat(500) }, changes, dangerous: true });
  const { lines } = describeQuestion(question, { ...view, style: { ...style, colors: createColors(true) } });
  expect(lines.join('\n')).toContain('\x1b[32m+new\x1b[39m');
  expect(lines.map(stripVTControlCharacters)).toEqual(describeQuestion(question, view).lines);
});

test.each<{ preview: Partial<Question>; says: string }>([
  { preview: { changes: [] }, says: '    = No file would change.' },
  { preview: { changesUnknown: '`a` is gone.' }, says: '    = Changes unknown: `a` is gone.' },
])('$says', ({ preview, says }) => {
  expect(ask({ input: {}, ...preview }).lines).toContain(says);
});

const hostile =
  '\x1b[2J\u202egpj\u200b\u{e0041}\ufe0f\u2028\n  asking    ok\n    + safe.txt (new, 1 B)\n\t\t\r    ? Yes. (policy)\ud800';
const forged: Json = { [hostile]: [hostile, `${'x'.repeat(66)}    + safe.txt (new, 1 B)`], wide: '漢'.repeat(3000) };

test.each([120, 80, 40, 20, 10])(
  'in %i columns, hostile text cannot control the terminal or pass for our lines',
  (columns) => {
    for (const maxRows of [16, Number.POSITIVE_INFINITY]) {
      const question: Question = {
        ...pendingApproval({ name: `write_file${hostile}`, input: forged, dangerous: false }),
        asks: [{ policy: hostile, type: 'ask', reason: `${hostile} ${'long '.repeat(500)}` }],
        changes: [
          { path: hostile, change: 'changed', bytesBefore: 1, bytesAfter: 2, diff: `@@ -1 +1 @@\n-${hostile}\n` },
        ],
      };
      const { lines } = describeQuestion(question, { ...view, maxRows, style: { ...style, columns } });
      for (const line of lines) {
        expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|\ufe0f/u);
        expect(line).toMatch(/^(?: {2}asking {4}| {4}[#|:?~…](?: |$))/u);
        if (!line.startsWith('  asking')) expect(measureColumns(line)).toBeLessThanOrEqual(columns);
      }
      expect(lines.filter((line) => line.startsWith('    +'))).toEqual([]);
      expect(lines.filter((line) => line.startsWith('    ~'))).toHaveLength(1);
      expect(lines.filter((line) => line.startsWith('  asking'))).toHaveLength(1);
      if (maxRows === 16) expect(lines.length).toBeLessThan(columns < 40 ? 150 : 60);
    }
  },
);
