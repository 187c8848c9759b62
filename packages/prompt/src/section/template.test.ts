// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are the templates of this package.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fillTemplate, parseTemplate } from './template.ts';

const fill = (source: string): string =>
  fillTemplate(
    parseTemplate(source, { names: ['name', 'max-words', 'b_2'], place: 'section `a`' }),
    (name) => `<${name}>`,
  );

test.each([
  ['', ''],
  ['no placeholder', 'no placeholder'],
  ['Hello $name.', 'Hello <name>.'],
  ['${name}s, ${ name }', '<name>s, <name>'],
  ['${max-words} and $b_2', '<max-words> and <b_2>'],
  ['$$name costs $$5', '$name costs $5'],
  ['$$$name', '$<name>'],
  ['$5, a$ and $-1', '$5, a$ and $-1'],
  ['$name$name', '<name><name>'],
  ['\n  one\n    two\n\n  three\n', 'one\n  two\n\nthree'],
  ['one\n  two', 'one\n  two'],
  ['\t\tone\n\t  two', '\tone\n  two'],
  ['  one\r\n  two\r\n', 'one\ntwo'],
  ['\n   \n\n', ''],
  ['line  \nbreak', 'line  \nbreak'],
])('%j reads %j', (source, text) => {
  expect(fill(source)).toBe(text);
});

test('C03: an indented template', () => {
  const template = `
    Look up \${name}.

      - at most $$5
  `;
  expect(fill(template)).toBe('Look up <name>.\n\n  - at most $5');
});

test('what is put in is not read again', () => {
  const template = parseTemplate('$name', { names: ['name'], place: 'section `a`' });
  expect(fillTemplate(template, () => '$name ${name} $$')).toBe('$name ${name} $$');
});

test.each([
  { source: '$topic', code: 'prompt.invalid', reason: 'placeholder.unknown', placeholder: 'topic' },
  { source: '${nam}', code: 'prompt.invalid', reason: 'placeholder.unknown', placeholder: 'nam' },
  { source: '$names', code: 'prompt.invalid', reason: 'placeholder.unknown', placeholder: 'names' },
  { source: '$constructor', code: 'prompt.invalid', reason: 'placeholder.unknown', placeholder: 'constructor' },
  { source: '${__proto__}', code: 'prompt.invalid', reason: 'placeholder.unknown', placeholder: '__proto__' },
])('$source is $code', ({ source, code, reason, placeholder }) => {
  expect(() => fill(source)).toThrow(
    expect.objectContaining({
      code,
      reason,
      data: { reason, place: 'section `a`', placeholder },
      message: expect.stringContaining('`a`'),
    }),
  );
});

test.each(['${name', '${', '${}', '${ }', 'a ${na\nme}'])('%j is prompt.invalid: placeholder.invalid', (source) => {
  expect(() => fill(source)).toThrow(
    expect.objectContaining({ code: 'prompt.invalid', reason: 'placeholder.invalid' }),
  );
});

test('any text with its dollar signs doubled reads as itself', () => {
  const line = fc.string({ unit: fc.constantFrom('a', '$', '{', '}', ' ', '_', 'é') });
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      // Begins and ends with a line without shared indentation: nothing to remove.
      const text = ['|', ...lines.map((content) => `|${content}`), '|'].join('\n');
      expect(fill(text.replaceAll('$', '$$$$'))).toBe(text);
    }),
  );
});

test('indentation makes no difference', () => {
  const line = fc.string({ unit: fc.constantFrom('a', ' ', '-') });
  fc.assert(
    fc.property(fc.array(line), fc.string({ unit: fc.constantFrom(' ', '\t'), maxLength: 4 }), (lines, indentation) => {
      expect(fill(lines.map((content) => indentation + content).join('\n'))).toBe(fill(lines.join('\n')));
    }),
  );
});

test('line breaks within a text are kept, a million of them too, and those at its ends are not', () => {
  const text = `a${'\n'.repeat(1_000_000)}b`;
  expect(fill(`\n \n${text}\n\t\n\n`)).toBe(text);
  expect(fill('\n \n')).toBe('');
});
