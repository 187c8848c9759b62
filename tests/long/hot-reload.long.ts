import { afterEach, expect, test } from 'vitest';
import { checkFolder, cleanUp } from '../modules/test-module-folder.ts';
import { amount } from './amount.ts';

afterEach(cleanUp);

const rounds = amount(100);

test.each([11, 12])(`${rounds} rounds of edits in a watched folder of modules, seed %i`, async (seed) => {
  const startedAtMs = Date.now();
  expect(await checkFolder(rounds, seed)).toBeGreaterThan(rounds);
  console.log(`seed ${seed}: ${rounds} rounds of 20 edits in ${Math.round((Date.now() - startedAtMs) / 1000)} s`);
});
