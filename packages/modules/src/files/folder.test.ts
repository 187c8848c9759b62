import { watch as watchPath } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FolderEvents } from '@holdfast/session/watch';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFollowedFiles, folderModules, watchFolder } from './folder.ts';
import type { ModuleSourceWatch } from './source.ts';

let around: string;
let root: string;
const open: ModuleSourceWatch[] = [];

beforeEach(async () => {
  around = await mkdtemp(join(tmpdir(), 'holdfast-watch-'));
  root = join(around, 'modules');
});

afterEach(async () => {
  for (const one of open.splice(0)) one.close();
  await rm(around, { recursive: true });
});

const any = '(any)';

/** Collects reported changes, and waits for more. */
function listen() {
  const told: string[] = [];
  const waiting = new Set<() => void>();
  return {
    told,
    changed(path: string | undefined): void {
      told.push(path ?? any);
      for (const check of [...waiting]) check();
    },
    /** Resolves when one of `paths` has been reported since the last call, and clears the reports. */
    async next(...paths: readonly string[]): Promise<readonly string[]> {
      await new Promise<void>((resolve) => {
        const check = (): void => {
          if (!told.some((one) => paths.includes(one))) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      });
      return told.splice(0);
    },
  };
}

async function start(files: Readonly<Record<string, string>>) {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const source = folderModules(root);
  for (const path of Object.keys(files)) await source.read(path);
  const listener = listen();
  open.push(await source.watch(listener.changed));
  return { source, ...listener };
}

test('reports written files, in the folder and below', async () => {
  const { next } = await start({ 'manifest.json': '1', 'a/b/m.json': '1' });
  await writeFile(join(root, 'manifest.json'), '2');
  expect(new Set(await next('manifest.json'))).toEqual(new Set(['manifest.json']));
  await writeFile(join(root, 'a/b/m.json'), '2');
  expect(await next('a/b/m.json')).toContain('a/b/m.json');
});

test('an editor that writes a copy and renames it is reported as a change of the file', async () => {
  const { next } = await start({ 'manifest.json': '1', 'm.json': '1' });
  await writeFile(join(root, '.m.json.swp'), '2');
  await rename(join(root, '.m.json.swp'), join(root, 'm.json'));
  expect(new Set(await next('m.json'))).toEqual(new Set(['m.json']));
  await writeFile(join(root, 'm.json'), '3');
  await next('m.json');
  await unlink(join(root, 'm.json'));
  await next('m.json');
  await writeFile(join(root, 'm.json'), '4');
  await next('m.json');
});

test('files that were never requested are not reported', async () => {
  const { next } = await start({ 'manifest.json': '1' });
  await writeFile(join(root, 'notes.txt'), '');
  await mkdir(join(root, 'other'));
  await writeFile(join(root, 'manifest.json'), '2');
  expect(new Set(await next('manifest.json'))).toEqual(new Set(['manifest.json']));
});

test('reports a file, with its folders, that was requested before it existed', async () => {
  const { source, next } = await start({ 'manifest.json': '1' });
  expect(await source.read('later/deep/m.json')).toBeUndefined();
  await next(any);
  await mkdir(join(root, 'later/deep'), { recursive: true });
  await next(any);
  await writeFile(join(root, 'later/deep/m.json'), '1');
  await next('later/deep/m.json', any);
  expect(await source.read('later/deep/m.json')).toBe('1');
});

test('watches a folder that does not exist yet, nor its parent', async () => {
  root = join(around, 'x/y/modules');
  const source = folderModules(root);
  await source.read('manifest.json');
  const { changed, next } = listen();
  open.push(await source.watch(changed));
  await mkdir(root, { recursive: true });
  await next(any);
  await writeFile(join(root, 'manifest.json'), '1');
  await next('manifest.json', any);
  // Also when all of it is removed and created again.
  await rm(join(around, 'x'), { recursive: true });
  await next(any);
  await mkdir(root, { recursive: true });
  await writeFile(join(root, 'manifest.json'), '2');
  do await next(any, 'manifest.json');
  while ((await source.read('manifest.json')) === undefined);
  await writeFile(join(root, 'manifest.json'), '3');
  await next('manifest.json', any);
  expect(await source.read('manifest.json')).toBe('3');
});

test('follows a folder that is moved away and back, and one that replaces it', async () => {
  const { source, next } = await start({ 'manifest.json': '1', 'deep/m.json': '1' });
  await rename(root, join(around, 'aside'));
  await next(any);
  await rename(join(around, 'aside'), root);
  await next(any);
  await writeFile(join(root, 'deep/m.json'), '2');
  await next('deep/m.json', any);

  await mkdir(join(around, 'new/deep'), { recursive: true });
  await writeFile(join(around, 'new/deep/m.json'), '1');
  await rename(root, join(around, 'old'));
  await rename(join(around, 'new'), root);
  await next(any);
  await writeFile(join(root, 'deep/m.json'), '3');
  await next('deep/m.json', any);
  expect(await source.read('deep/m.json')).toBe('3');
});

test('follows a replaced subfolder', async () => {
  const { source, next } = await start({ 'manifest.json': '1', 'deep/m.json': '1' });
  await mkdir(join(root, 'new'));
  await writeFile(join(root, 'new/m.json'), '2');
  await rename(join(root, 'deep'), join(root, 'old'));
  await rename(join(root, 'new'), join(root, 'deep'));
  await next(any);
  await writeFile(join(root, 'deep/m.json'), '3');
  await next('deep/m.json', any);
  expect(await source.read('deep/m.json')).toBe('3');
});

test('reports linked files when the file is written or the common link is replaced', async () => {
  await mkdir(join(root, '..v1'), { recursive: true });
  await writeFile(join(root, '..v1/manifest.json'), '1');
  await symlink('..v1', join(root, '..data'));
  await symlink('..data/manifest.json', join(root, 'manifest.json'));
  const source = folderModules(root);
  expect(await source.read('manifest.json')).toBe('1');
  const { changed, next } = listen();
  open.push(await source.watch(changed));
  await writeFile(join(root, '..v1/manifest.json'), '2');
  await next('manifest.json');
  await mkdir(join(root, '..v2'));
  await writeFile(join(root, '..v2/manifest.json'), '3');
  await symlink('..v2', join(root, '..tmp'));
  await rename(join(root, '..tmp'), join(root, '..data'));
  await next(any);
  expect(await source.read('manifest.json')).toBe('3');
});

test('follows a root that is a link when its target changes', async () => {
  await mkdir(join(around, 'one'));
  await mkdir(join(around, 'two'));
  await symlink('one', root);
  const { source, next } = await start({ 'manifest.json': '1' });
  await symlink('two', join(around, 'link'));
  await rename(join(around, 'link'), root);
  await next(any);
  await writeFile(join(around, 'two/manifest.json'), '2');
  await next('manifest.json', any);
  expect(await source.read('manifest.json')).toBe('2');
});

test('reports nothing after closing', async () => {
  const { told } = await start({ 'manifest.json': '1' });
  for (const one of open.splice(0)) one.close();
  const other = await start({ 'manifest.json': '2' });
  await writeFile(join(root, 'manifest.json'), '3');
  await other.next('manifest.json');
  expect(told).toEqual([]);
});

test('a rejected path is not followed', async () => {
  const { source, told, next } = await start({ 'manifest.json': '1' });
  await expect(source.read('../../x')).rejects.toMatchObject({ code: 'modules.invalid', reason: 'path' });
  await writeFile(join(around, 'x'), '');
  await writeFile(join(root, 'manifest.json'), '2');
  expect(new Set(await next('manifest.json'))).toEqual(new Set(['manifest.json']));
  expect(told).toEqual([]);
});

test('leaves nothing open if the system allows no more watches', async () => {
  await mkdir(root);
  const opened = new Set<FolderEvents>();
  let hasOpened = false;
  const watching = watchFolder(root, {
    followed: createFollowedFiles(),
    changed: () => undefined,
    watchFolder(path, listener) {
      hasOpened ||= opened.size > 0;
      if (path === around) throw new Error('no more watches');
      const events = watchPath(path, listener);
      const own: FolderEvents = {
        on: (_, told) => events.on('error', told),
        close() {
          opened.delete(own);
          events.close();
        },
      };
      opened.add(own);
      return own;
    },
  });
  await expect(watching).rejects.toMatchObject({
    code: 'modules.file_failed',
    reason: 'watch',
    message: expect.stringContaining('no more watches'),
  });
  expect([hasOpened, opened.size]).toEqual([true, 0]);
});
