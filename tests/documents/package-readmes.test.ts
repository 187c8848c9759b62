import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { readFences, readPromises, runPrograms, writeFences } from './documents.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const packages = await readdir(join(root, 'packages'));

/** Inside the package, so that a program finds the package itself and its dependencies. */
function scratch(name: string): string {
  return join(root, 'packages', name, '.cache');
}

afterAll(() => Promise.all(packages.map((name) => rm(scratch(name), { recursive: true, force: true }))));

test('the README of each package has a program that runs and prints the shown output', async () => {
  const programs = await Promise.all(
    packages.map(async (name) => {
      const folder = scratch(name);
      const fences = readFences(await readFile(join(root, 'packages', name, 'README.md'), 'utf8'));
      const paths = await writeFences(fences, folder);
      return paths.map((path) => ({ folder, path, promises: readPromises(fences.get(path) ?? '') }));
    }),
  );
  expect(packages.filter((_name, index) => programs[index]?.length === 0)).toEqual([]);
  expect(await runPrograms(programs.flat())).toEqual([]);
});
