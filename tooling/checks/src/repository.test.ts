import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { findCatalogProblems, findDependencyProblems } from './dependencies.ts';
import { findChangesetProblems, findDocumentProblems, findExampleProblems } from './documents.ts';
import { fixture } from './fixture.ts';
import { findDeepImports, findLayerProblems } from './layers.ts';
import { findNeutralProblems } from './neutral.ts';
import { findPackageProblems } from './packages.ts';
import { readRepository } from './repository.ts';
import { findMachinePaths, findSourceProblems } from './text.ts';

const checks = {
  findCatalogProblems,
  findChangesetProblems,
  findDeepImports,
  findDependencyProblems,
  findDocumentProblems,
  findExampleProblems,
  findLayerProblems,
  findMachinePaths,
  findNeutralProblems,
  findPackageProblems,
  findSourceProblems,
};

const repository = await readRepository(fileURLToPath(new URL('../../../', import.meta.url)));

test('the whole repository was read', () => {
  const folders = repository.members.map(({ folder }) => folder);
  expect(folders).toEqual(expect.arrayContaining(['packages/core', 'apps/cli', 'examples', 'bench', 'tests']));
  expect(repository.files.has('README.md')).toBe(true);
  expect(repository.sources.length).toBeGreaterThan(50);
});

test.each(Object.entries(checks))('%s finds nothing in this repository', (_, find) => {
  expect(find(repository)).toEqual([]);
});

test.each(Object.entries(checks))('%s finds nothing in the sound fixture', (_, find) => {
  expect(find(fixture())).toEqual([]);
});
