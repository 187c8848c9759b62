import { expect, test } from 'vitest';
import { createProject } from '../test-project.ts';
import { compareDefinitions, type FileToImport, readDefinitionLock } from './compare.ts';
import { definitionsOf } from './definitions.ts';
import { makePack, makePlugin } from './test-plugins.ts';

/** Tests for the check of a file before its import. */

const digest = (digit: string): string => digit.repeat(64);
const source = { package: '@acme/git', version: '1.0.0', digest: digest('a') };
const git = definitionsOf(makePlugin(), source);
const packOfGit = definitionsOf(makePack(), source);
const own = { ...definitionsOf(makePlugin(), { digest: digest('b') }), id: 'plugin:own', name: 'own' };

const plugin = (entry: string, from: FileToImport['source']): FileToImport => ({ kind: 'plugin', entry, source: from });

test.each<readonly [string, FileToImport]>([
  ['a package', plugin('@acme/git', source)],
  ['another export of it', plugin('@acme/git#more', source)],
  ['a pack of it', { kind: 'pack', entry: '@acme/git', source }],
  ['a path', plugin('./own.ts', { digest: digest('b') })],
])('%s that is locked may be imported', async (_, file) => {
  await using project = await createProject();
  await compareDefinitions([git, packOfGit, own], project).accept();
  expect(readDefinitionLock(project.lock).findImportProblem(file)).toBeUndefined();
});

test.each<readonly [code: string, says: string, file: FileToImport]>([
  [
    'lock.changed',
    '`@acme/git` differs from the lock (its file, packageVersion 1.0.0 -> 1.1.0), so its code was not run. `holdfast lock --check --accept plugin:git` runs it and shows',
    plugin('@acme/git', { ...source, version: '1.1.0', digest: digest('c') }),
  ],
  ['lock.changed', '(its file)', plugin('@acme/git', { ...source, digest: digest('c') })],
  // The file of another plugin at its own path.
  ['lock.changed', '(its file)', plugin('@acme/git', { ...source, digest: digest('b') })],
  [
    'lock.changed',
    '--accept pack:git-safety',
    { kind: 'pack', entry: '@acme/git', source: { ...source, digest: digest('c') } },
  ],
  ['lock.changed', '`@acme/hg` is not in the lock', plugin('@acme/hg', { ...source, package: '@acme/hg' })],
  ['lock.changed', '`./own.ts` does not match any locked file', plugin('./own.ts', { digest: digest('a') })],
  ['lock.changed', '`./guard.ts`', { kind: 'pack', entry: './guard.ts', source: { digest: digest('b') } }],
  ['lock.changed', '(its file)', plugin('@acme/git', { package: '@acme/git', version: '1.0.0' })],
])('%s: %s', async (code, says, file) => {
  await using project = await createProject();
  await compareDefinitions([git, packOfGit, own], project).accept();
  expect(readDefinitionLock(project.lock).findImportProblem(file)).toMatchObject({
    code,
    message: expect.stringContaining(says),
  });
});

test('a lock without plugins and packs allows any import', async () => {
  await using project = await createProject();
  const file = plugin('@acme/git', source);
  expect(readDefinitionLock(project.lock).findImportProblem(file)).toBeUndefined();
  await compareDefinitions([git], project).accept();
  await compareDefinitions([], project).accept(['plugin:git']);
  // An empty list of plugins counts.
  expect(readDefinitionLock(project.lock).findImportProblem(file)).toMatchObject({
    code: 'lock.changed',
    reason: 'new',
  });
});
