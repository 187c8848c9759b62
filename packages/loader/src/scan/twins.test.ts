import { describeCode } from '@holdfast/core/internal';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findFileTwins, findNameTwins } from './twins.ts';

test('thousands of twins are all found, and each message names only a few others', () => {
  const tools = Array.from({ length: 5000 }, (_, index) => ({ file: `f${index}.mjs`, name: 'same' }));
  const found = findNameTwins(tools);
  expect(found.map(({ index }) => index)).toEqual([...tools.keys()]);
  expect(found[0]?.finding.message).toBe(
    '`same` in `f0.mjs` has the same name as `same` in `f1.mjs`, `same` in `f2.mjs`, `same` in `f3.mjs`, `same` in `f4.mjs`, `same` in `f5.mjs` and others: all are refused.',
  );
  expect(found[3]?.finding.message).not.toContain('`f3.mjs`, ');
  expect(findFileTwins(tools.map((_, index) => (index % 2 === 0 ? 'Tool.mjs' : 'tool.mjs')))).toHaveLength(5000);
});

test('property: a name has a finding exactly if another one is similar', () => {
  const name = fc.array(fc.constantFrom('a', 'b', '_', '-', 'l', '1'), { minLength: 1, maxLength: 3 });
  const fold = (text: string): string => text.replace(/[_-]/g, '');
  fc.assert(
    fc.property(
      fc.array(
        name.map((parts) => parts.join('')),
        { maxLength: 12 },
      ),
      (names) => {
        const codes = new Map(
          findNameTwins(names.map((one, index) => ({ file: `${index}`, name: one }))).map(({ index, finding }) => [
            index,
            describeCode(finding),
          ]),
        );
        for (const [index, own] of names.entries()) {
          const others = names.filter((_, other) => other !== index);
          const like = (fit: (text: string) => string): boolean => others.some((other) => fit(other) === fit(own));
          const expected = like((text) => text)
            ? 'tool.invalid: name.duplicate'
            : like(fold)
              ? 'tool.metadata.invalid: name.twin'
              : like((text) => fold(text).replaceAll('1', 'l'))
                ? 'tool.metadata.invalid: name.lookalike'
                : undefined;
          expect(codes.get(index)).toBe(expected);
        }
      },
    ),
    { numRuns: 80 },
  );
});
