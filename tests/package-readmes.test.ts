import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { findUnkept, readFences, readPromises, runNode, writeFences } from './documents.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const packages = await readdir(join(root, 'packages'));

/** Inside the package, so that a program finds the package itself and what it declares. */
function scratch(name: string): string {
  return join(root, 'packages', name, '.cache');
}

afterAll(() => Promise.all(packages.map((name) => rm(scratch(name), { recursive: true, force: true }))));

test.each(packages)('the README of %s shows a program that runs, and says what it prints', async (name) => {
  const folder = scratch(name);
  const fences = readFences(await readFile(join(root, 'packages', name, 'README.md'), 'utf8'));
  const programs = await writeFences(fences, folder);
  expect(programs).not.toEqual([]);
  for (const path of programs) {
    const { status, output } = await runNode(['--conditions=holdfast-source', path], { cwd: folder });
    const unkept = findUnkept(readPromises(fences.get(path) ?? ''), output);
    expect({ path, status, output, unkept }).toMatchObject({ status: 0, unkept: [] });
  }
});
