import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { findProtectedPaths, openWorkspace, shortenPath } from './folder.ts';

const policyFiles = ['holdfast.policy.json', 'holdfast.policy.yaml', 'holdfast.policy.yml'];
const find = (workspace: string, toolsFolder: string | undefined, ...imported: readonly string[]) =>
  findProtectedPaths(workspace, { toolsFolder, imported });

test('links are resolved before comparing the tools folder with the workspace', async () => {
  await using folder = await createFolder({ 'work/plugins/a.mjs': '', 'elsewhere/a.mjs': '', 'workspace/a.mjs': '' });
  const at = (path: string): string => join(folder.path, path);
  await symlink(at('work'), at('link'));
  const workspace = await openWorkspace('link', folder.path);
  expect(workspace).toBe(at('work'));
  expect(await find(workspace, at('link/plugins'))).toEqual([...policyFiles, 'plugins']);
  expect(await find(workspace, at('elsewhere'))).toEqual([...policyFiles]);
  // Not inside the workspace, although its path has the same prefix.
  expect(await find(workspace, at('workspace'))).toEqual([...policyFiles]);
  expect(await find(workspace, undefined)).toEqual([...policyFiles]);
});

test('code imported from the workspace is protected like its tools folder', async () => {
  await using folder = await createFolder({ 'work/plugins/a.mjs': '', 'work/own/git.ts': '', 'elsewhere/b.ts': '' });
  const at = (path: string): string => join(folder.path, path);
  await symlink(at('work/own'), at('linked'));
  const imported = [at('linked/git.ts'), at('work/own/git.ts'), at('elsewhere/b.ts')];
  expect(await find(at('work'), at('work/plugins'), ...imported)).toEqual([...policyFiles, 'plugins', 'own/git.ts']);
  // A missing path can be created.
  expect(await find(at('work'), undefined, at('linked/deep/gone.ts'))).toEqual([...policyFiles, 'own/deep/gone.ts']);
  await expect(find(at('work'), undefined, at('.'))).rejects.toMatchObject({
    code: 'usage.invalid',
    reason: 'tools_around_workspace',
  });
});

test.each([
  { tools: 'work', why: 'is the workspace' },
  { tools: '.', why: 'holds the workspace' },
  { tools: 'link', why: 'is the workspace through a link' },
])('a tools folder that $why is refused', async ({ tools }) => {
  await using folder = await createFolder({ 'work/a.txt': '' });
  await symlink(join(folder.path, 'work'), join(folder.path, 'link'));
  const workspace = await openWorkspace('work', folder.path);
  await expect(find(workspace, join(folder.path, tools))).rejects.toMatchObject({
    code: 'usage.invalid',
    reason: 'tools_around_workspace',
  });
});

test.each([
  { path: '/a/b/c', short: 'b/c' },
  { path: '/a', short: '/a' },
  { path: '/x/y', short: '/x/y' },
])('$path seen from /a is $short', ({ path, short }) => {
  expect(shortenPath(path, '/a')).toBe(short);
});
