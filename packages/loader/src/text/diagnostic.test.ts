import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Diagnostic, formatDiagnostic, toDiagnostic } from './diagnostic.ts';

const diagnostic: Diagnostic = {
  severity: 'error',
  code: 'tool.schema.vague',
  file: 'x.mjs',
  line: 3,
  column: 15,
  message: '`parameters` says nothing.',
  hint: 'Describe them.',
};

test('a diagnostic prints as place, severity, code and message, with the hint below', () => {
  expect(formatDiagnostic(diagnostic, { folder: 'plugins/' })).toBe(
    'plugins/x.mjs:3:15 error tool.schema.vague  `parameters` says nothing.\n  hint: Describe them.',
  );
  expect(formatDiagnostic(diagnostic)).toMatch(/^x\.mjs:3:15 error /);
});

test('no invisible character reaches a terminal', () => {
  const evil = '\u001b[2J\u202e\u200b\u{e0041}\ud800';
  const made = toDiagnostic({ code: 'c', message: `a ${evil}\nb`, hint: evil }, { file: `${evil}.mjs` });
  const text = formatDiagnostic(made);
  expect(text.replace('\n', '')).toMatch(/^[\x20-\x7e]*$/);
  expect(made.message).toBe('a \\u{1b}[2J\\u{202e}\\u{200b}\\u{e0041}\\u{d800} b');
});

test('a message has a bounded length', () => {
  const { message } = toDiagnostic({ code: 'c', message: 'x'.repeat(100_000), hint: '' }, { file: 'x.mjs' });
  expect(message).toHaveLength(500);
});

test.each([
  { source: 'a\nbc', offset: 3, line: 2, column: 2 },
  { source: 'a\r\nbc', offset: 3, line: 2, column: 1 },
  { source: 'a\rb', offset: 2, line: 2, column: 1 },
  { source: '😀x', offset: 2, line: 1, column: 3 },
  { source: 'a\n', offset: 9, line: 2, column: 1 },
])('offset $offset of $source is line $line, column $column', ({ source, offset, line, column }) => {
  expect(toDiagnostic({ code: 'c', message: '', hint: '' }, { file: 'x', source, offset })).toMatchObject({
    line,
    column,
  });
});

test('property: lines end as in an editor', () => {
  const source = fc
    .array(fc.constantFrom('a', '\n', '\r', '\r\n', '\u2028'), { maxLength: 12 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(source, fc.nat({ max: 30 }), (text, offset) => {
      const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
      const made = toDiagnostic({ code: 'c', message: '', hint: '' }, { file: 'x', source: text, offset });
      expect(made).toMatchObject({ line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 });
    }),
  );
});
