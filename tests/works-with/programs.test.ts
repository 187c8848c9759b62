import { expect, test } from 'vitest';
import { programNames, runProgram } from './programs/all.ts';

test.each(programNames)('the program of %s, from the sources', async (name) => {
  expect(await runProgram(name)).toBe('ok');
});
