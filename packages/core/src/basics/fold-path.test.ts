import { expect, test } from 'vitest';
import { foldPath } from './fold-path.ts';

test('plain ASCII is folded as any other text', () => {
  const ascii = Array.from({ length: 95 }, (_, index) => String.fromCharCode(0x20 + index)).join('');
  // The added letter takes the long way.
  expect(foldPath(`${ascii}Ä`)).toBe(`${foldPath(ascii)}ä`);
  expect(foldPath('/Work/.ENV')).toBe('/work/.env');
});

test.each([
  ['/w/.e\u200Bnv', '/w/.env'],
  ['/w/.ENV\u00AD', '/w/.env'],
  ['/w/\uFF0Eenv', '/w/.env'],
  ['/w/\u212Aey', '/w/key'],
  ['/w/stra\u00DFe', '/w/strasse'],
])('%j is folded to %j', (path, folded) => {
  expect(foldPath(path)).toBe(folded);
});
