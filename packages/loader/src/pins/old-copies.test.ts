import { mkdir, readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callTool, createProject, type TestProject, toolFile } from '../test-project.ts';
import { createPinnedCopies, keepCopiesMs } from './copies.ts';

const folderOf = ({ root }: TestProject): string => join(root, '.holdfast/tools');
const longAgo = new Date(Date.now() - keepCopiesMs - 60_000);

/** Two versions of a tool, the second locked; their copies, the older one first. */
async function createCopies(): Promise<{ readonly project: TestProject; readonly copies: readonly string[] }> {
  const project = await createProject({ 'plugins/x.mjs': toolFile('x') });
  await project.accept();
  const first = await readdir(folderOf(project));
  await project.write('plugins/x.mjs', toolFile('x', { body: 'return 2;' }));
  await project.accept();
  const both = await readdir(folderOf(project));
  return { project, copies: [...first, ...both.filter((name) => !first.includes(name))] };
}

async function age(project: TestProject, ...names: readonly string[]): Promise<void> {
  for (const name of names) await utimes(join(folderOf(project), name), longAgo, longAgo);
}

test('a copy outside the lock is kept for some time, and removed on a later lock', async () => {
  const { project, copies } = await createCopies();
  await using _ = project;
  const [old = '', now = ''] = copies;
  await project.accept();
  expect((await readdir(folderOf(project))).sort()).toEqual([old, now].sort());
  await age(project, old, now);
  await project.accept();
  expect(await readdir(folderOf(project))).toEqual([now]);
});

test('running a tool from a copy counts as use', async () => {
  const { project, copies } = await createCopies();
  await using _ = project;
  const { tools } = await project.load();
  await age(project, ...copies);
  await project.write('plugins/x.mjs', toolFile('x', { body: 'return 3;' }));
  expect(await callTool(tools[0])).toBe(2);
  await project.accept();
  expect(await readdir(folderOf(project))).toContain(copies[1]);
  expect(await readdir(folderOf(project))).not.toContain(copies[0]);
});

test('leftovers of processes are removed, other entries are not', async () => {
  const { project, copies } = await createCopies();
  await using _ = project;
  const others = ['.new-1-a', '.old-2-b', 'mine', 'a'.repeat(63), '.x'];
  for (const name of others) await mkdir(join(folderOf(project), name, 'deep'), { recursive: true });
  await project.write(`.holdfast/tools/${'b'.repeat(64)}`, 'a file');
  await project.write('elsewhere/x', '');
  await project.link(`.holdfast/tools/${'c'.repeat(64)}`, '../../elsewhere');
  await age(project, ...others, ...copies);
  await createPinnedCopies(project.root).removeOld(new Set(copies), Date.now() - keepCopiesMs);
  expect((await readdir(folderOf(project))).sort()).toEqual(
    [...copies, 'mine', '.x', 'a'.repeat(63), 'b'.repeat(64), 'c'.repeat(64)].sort(),
  );
  expect(await readdir(join(project.root, 'elsewhere'))).toEqual(['x']);
});

test('copies behind a link are not touched, and missing ones are ignored', async () => {
  const { project, copies } = await createCopies();
  await using _ = project;
  await age(project, ...copies);
  const removeAll = ({ root }: TestProject): Promise<void> => createPinnedCopies(root).removeOld(new Set(), Date.now());
  await using other = await createProject();
  await removeAll(other);
  await other.link('.holdfast', join(project.root, '.holdfast'));
  await removeAll(other);
  expect((await readdir(folderOf(project))).length).toBe(2);
  await removeAll(project);
  expect(await readdir(folderOf(project))).toEqual([]);
});
