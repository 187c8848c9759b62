import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { apiFolder, describeApis } from './api-report.ts';
import { findCatalogProblems, findDependencyProblems } from './dependencies.ts';
import { findChangesetProblems, findDocumentProblems, findExampleProblems } from './documents.ts';
import { findErrorCodeProblems } from './error-codes.ts';
import { fixture } from './fixture.ts';
import { findDeepImports, findLayerProblems } from './layers.ts';
import { findKeepers } from './memory.ts';
import { findNeutralProblems } from './neutral.ts';
import { findPackageProblems } from './packages.ts';
import { findPhrases } from './phrases.ts';
import { readRepository } from './repository.ts';
import { findCallRoomProblems, findFullRooms, findRoomCircles } from './rooms.ts';
import { findWideRoots } from './roots.ts';
import { findMachinePaths, findSourceProblems } from './text.ts';

const checks = {
  findCatalogProblems,
  findChangesetProblems,
  findDeepImports,
  findDependencyProblems,
  findDocumentProblems,
  findErrorCodeProblems,
  findExampleProblems,
  findFullRooms,
  findCallRoomProblems,
  findKeepers,
  findLayerProblems,
  findMachinePaths,
  findNeutralProblems,
  findPackageProblems,
  findPhrases,
  findRoomCircles,
  findSourceProblems,
  findWideRoots,
};

const repository = await readRepository(fileURLToPath(new URL('../../../', import.meta.url)));
const reports = describeApis(repository);

test('reads the whole repository', () => {
  const folders = repository.members.map(({ folder }) => folder);
  expect(folders).toEqual(expect.arrayContaining(['packages/core', 'apps/cli', 'examples', 'bench', 'tests']));
  expect(repository.files.has('README.md')).toBe(true);
  expect(repository.sources.length).toBeGreaterThan(50);
});

test.each(Object.entries(checks))('%s finds nothing in this repository', (_, find) => {
  expect(find(repository)).toEqual([]);
});

test.each(Object.entries(checks))('%s finds nothing in the valid fixture', (_, find) => {
  expect(find(fixture())).toEqual([]);
});

test.each([...reports])('%s matches the exports of the sources', (path, text) => {
  expect(repository.files.get(path) ?? '', 'run `npm run api` and review what changes').toBe(text);
});

test('no report of a removed package is left', () => {
  const kept = [...repository.files.keys()].filter((path) => path.startsWith(`${apiFolder}/`));
  expect(kept.filter((path) => !reports.has(path))).toEqual([]);
});
