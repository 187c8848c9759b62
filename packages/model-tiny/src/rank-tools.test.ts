import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rankTools } from './rank-tools.ts';

interface Case {
  readonly signatures: readonly string[];
  readonly request: string;
  readonly ranked: readonly string[];
}

/** The training is held to the same cases. */
const cases = JSON.parse(
  readFileSync(new URL('../../../training/tests/ranks.json', import.meta.url), 'utf8'),
) as readonly Case[];

test.each(cases)('`$request`', ({ signatures, request, ranked }) => {
  expect(rankTools(signatures, request)).toEqual(ranked);
});

test('every tool occurs once, ranks descend, and ties keep their order', () => {
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom('read the file', 'readFile files', '__proto__', 'İ ß ﬁle', '; 9 stop()'),
  );
  fc.assert(
    fc.property(fc.array(text), text, (signatures, request) => {
      const ranked = rankTools(signatures, request);
      expect(ranked.map((line) => line.slice(2)).toSorted()).toEqual(signatures.toSorted());
      expect(ranked.every((line) => /^[0-9] /.test(line))).toBe(true);
      expect(ranked.map(([rank]) => Number(rank))).toEqual(
        ranked.map(([rank]) => Number(rank)).toSorted((one, other) => other - one),
      );
      const unranked = ranked.filter((line) => line.startsWith('0 ')).map((line) => line.slice(2));
      const given = [...signatures];
      // The rest keeps its order: each is found after the previous one.
      for (const signature of unranked) {
        const at = given.indexOf(signature);
        expect(at).toBeGreaterThanOrEqual(0);
        given.splice(0, at + 1);
      }
    }),
  );
});

test('thousands of tools and a long request are ranked quickly', () => {
  const signatures = Array.from(
    { length: 10_000 },
    (_, index) => `read_${index}(path:string) reads the file and lists records`,
  );
  const request = `Play. ${Array.from({ length: 100_000 }, (_, index) => `read file records ${'x'.repeat(index % 300)}`).join(' ')}`;
  expect(rankTools([...signatures, 'play() plays'], request)[0]).toBe('2 play() plays');
});
