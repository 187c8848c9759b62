import { expect, test } from 'vitest';
import { hasMask } from '../internal.ts';

test.each([
  ['[redacted:0123456789ab]', true],
  [{ a: ['x [redacted:0123456789ab] y'] }, true],
  [{ '[redacted:0123456789ab]': 1 }, true],
  ['[redacted:0123456789a]', false],
  ['[redacted:0123456789AB]', false],
  [{ redacted: [null, 1, true, ''] }, false],
])('%j has a mask: %s', (json, has) => {
  expect(hasMask(json)).toBe(has);
});
