import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type CurrentTool, readFolderPins } from '../pins/folder.ts';
import { createProject, type TestProject, toolFile } from '../test-project.ts';
import { createWatchCopies } from './copies.ts';

async function readTool({ root, plugins }: TestProject, name = 'a'): Promise<CurrentTool> {
  const { tools } = await readFolderPins({ root, folder: plugins }, {});
  const tool = tools.get(name);
  if (tool === undefined) throw new Error('The test needs a tool.');
  return tool;
}

test('a copy exists from its first use to its last', async () => {
  await using project = await createProject({ 'plugins/a.mjs': toolFile('a') });
  const current = await readTool(project);
  const copies = await createWatchCopies(project.root);
  const { runnable, release } = copies.hold(current);
  const { entry } = runnable.tool;
  const isThere = async (): Promise<boolean> => existsSync(entry);
  const around = async (call: () => Promise<unknown>): Promise<unknown> => runnable.around?.(call);

  expect(existsSync(entry)).toBe(false);
  await runnable.prepare();
  expect(existsSync(entry)).toBe(true);
  // Released during a call, which continues.
  const during = Promise.withResolvers<void>();
  const call = around(async () => {
    await during.promise;
    return isThere();
  });
  release();
  release();
  during.resolve();
  expect(await call).toBe(true);
  // A later call by a holder of the tool: the copy exists during the call.
  expect(await around(isThere)).toBe(true);
  await copies.close();
  expect(existsSync(entry)).toBe(false);
  await expect(around(isThere)).rejects.toMatchObject({ code: 'tool.process.lost', reason: 'closed' });
  await expect(runnable.prepare()).rejects.toMatchObject({ code: 'tool.process.lost', reason: 'closed' });
});

test('a version that returns at once keeps its copy', async () => {
  await using project = await createProject({ 'plugins/a.mjs': toolFile('a'), 'plugins/b.mjs': toolFile('b') });
  const current = await readTool(project);
  const copies = await createWatchCopies(project.root);
  const first = copies.hold(current);
  const { prepare, tool } = first.runnable;
  await prepare();
  first.release();
  const second = copies.hold(current);
  // Queued after the effects of the release.
  await copies.hold(await readTool(project, 'b')).runnable.prepare();
  expect(existsSync(tool.entry)).toBe(true);
  second.release();
  await copies.hold(await readTool(project, 'b')).runnable.prepare();
  expect(existsSync(tool.entry)).toBe(false);
  await copies.close();
});

test('a removed copy is written again from the bytes that were read, whatever the file contains now', async () => {
  await using project = await createProject({ 'plugins/a.mjs': toolFile('a') });
  const current = await readTool(project);
  const copies = await createWatchCopies(project.root);
  const { runnable } = copies.hold(current);
  await runnable.prepare();
  await project.write('plugins/a.mjs', 'other');
  await rm(join(project.root, '.holdfast'), { recursive: true });
  await runnable.prepare();
  expect(existsSync(runnable.tool.entry)).toBe(true);
  expect([...(runnable.tool.files ?? [])]).toEqual([[runnable.tool.entry, runnable.fileDigest]]);
  await copies.close();
});

test('copies that cannot be written fail the call', async () => {
  await using project = await createProject({ 'plugins/a.mjs': toolFile('a') });
  const current = await readTool(project);
  const copies = await createWatchCopies(project.root);
  await project.write('.holdfast', 'no folder');
  const { runnable } = copies.hold(current);
  await expect(runnable.prepare()).rejects.toMatchObject({ code: 'tool.file.import_failed', reason: 'copy' });
  await copies.close();
});
