import { expect, test } from 'vitest';
import { commandHalves } from './test-command-lines.ts';
import { dangerousLines } from './test-dangerous-lines.ts';

test('the table has more than 300 lines, none twice', () => {
  expect(dangerousLines.length).toBeGreaterThan(300);
  expect(new Set(dangerousLines.map(({ line }) => line)).size).toBe(dangerousLines.length);
});

test.skipIf(commandHalves() === undefined)(
  'half of the real lines is put aside (skipped where they are missing)',
  () => {
    const { seen = [], aside = [] } = commandHalves() ?? {};
    expect([seen.length, aside.length]).toEqual([268, 268]);
    expect(aside[0]?.command).toMatchInlineSnapshot(`"bun run format:fix"`);
  },
);
