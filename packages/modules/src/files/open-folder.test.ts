import { readdirSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isInside, openFolder } from './contained.ts';
import { takeLock } from './save.ts';

let around: string;

beforeEach(async () => {
  around = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-open-')));
});

afterEach(async () => {
  await rm(around, { recursive: true });
});

const handles = '/proc/self/fd';
/** The open handles of this process within the folder of the test. */
async function listOpen(): Promise<readonly string[]> {
  const found = await Promise.all(
    readdirSync(handles).map((name) => realpath(join(handles, name)).catch(() => 'gone by now')),
  );
  return found.filter((path) => isInside(around, path));
}

test.each([
  { root: '/a/b', path: '/a/b', is: true },
  { root: '/a/b', path: '/a/b/c', is: true },
  { root: '/a/b', path: '/a/b/..c', is: true },
  { root: '/a/b', path: '/a', is: false },
  { root: '/a/b', path: '/a/bc', is: false },
  { root: '/a/b', path: '/', is: false },
])('$path is inside $root: $is', ({ root, path, is }) => {
  expect(isInside(root, path)).toBe(is);
});

test.skipIf(process.platform !== 'linux')('no folders are left open, even if one is rejected', async () => {
  const root = join(around, 'modules');
  await mkdir(join(around, 'out'));
  await mkdir(root);
  {
    await using folder = await openFolder(root, ['a', 'b', 'c']);
    expect(await listOpen()).toEqual([await realpath(folder.path)]);
  }
  expect(await listOpen()).toEqual([]);
  await symlink(join(around, 'out'), join(root, 'a/b/link'));
  await expect(openFolder(root, ['a', 'b', 'link'])).rejects.toMatchObject({ code: 'modules.invalid', reason: 'path' });
  await writeFile(join(root, 'file'), '');
  await expect(openFolder(root, ['file'])).rejects.toMatchObject({ code: 'ENOTDIR' });
  expect(await listOpen()).toEqual([]);
});

test('a broken lock file is reported immediately', async () => {
  const path = join(around, 'lock');
  await writeFile(path, 'not a lock\n'.repeat(1_000));
  await expect(takeLock(path, { waitMs: 3_600_000 })).rejects.toMatchObject({
    code: 'modules.file_failed',
    reason: 'unwritable',
  });
  if (process.platform === 'linux') expect(await listOpen()).toEqual([]);
});
