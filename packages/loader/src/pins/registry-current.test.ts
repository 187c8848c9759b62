import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createProject, type TestProject, toolFile } from '../test-project.ts';
import { isRegistryCurrent } from './warm-start.ts';

/** Waits until the file system clock has advanced beyond all writes so far. */
async function passTick({ root }: TestProject): Promise<void> {
  const probe = join(root, 'probe');
  await writeFile(probe, '');
  const { ctimeNs } = await stat(probe, { bigint: true });
  for (;;) {
    await writeFile(probe, '');
    if ((await stat(probe, { bigint: true })).ctimeNs > ctimeNs) return;
  }
}

/** True if a load with these options would read no file. */
const isCurrent = ({ plugins, lock }: TestProject, options: { readonly subfolders?: boolean } = {}): Promise<boolean> =>
  isRegistryCurrent(plugins, { lock, ...options });

test('the registry is current from the first locked load until something changes', async () => {
  await using project = await createProject({ 'plugins/greet.mjs': toolFile('greet') });
  expect(await isCurrent(project)).toBe(false);
  await project.accept();
  await passTick(project);
  expect(await isCurrent(project)).toBe(false);
  await project.load();
  expect(await isCurrent(project)).toBe(true);
  expect(await isCurrent(project, { subfolders: true })).toBe(false);

  await project.write('plugins/greet.mjs', toolFile('greet', { body: 'return 2;' }));
  expect(await isCurrent(project)).toBe(false);
  await project.accept();
  await passTick(project);
  await project.load();
  expect(await isCurrent(project)).toBe(true);
});

test('checking it writes nothing', async () => {
  await using project = await createProject({ 'plugins/greet.mjs': toolFile('greet') });
  await project.accept();
  await passTick(project);
  await project.load();
  const path = join(project.root, '.holdfast', 'registry.json');
  await project.write('plugins/greet.mjs', toolFile('greet', { body: 'return 2;' }));
  const [before, { ctimeNs }] = [await readFile(path, 'utf8'), await stat(path, { bigint: true })];
  expect(await isCurrent(project)).toBe(false);
  expect(await readFile(path, 'utf8')).toBe(before);
  expect((await stat(path, { bigint: true })).ctimeNs).toBe(ctimeNs);
});

test('an unusable lock is an error', async () => {
  await using project = await createProject({ 'plugins/greet.mjs': toolFile('greet'), 'holdfast.lock': '{' });
  await expect(isCurrent(project)).rejects.toMatchObject({ code: 'lock.invalid' });
});
