import { execFileSync } from 'node:child_process';
import { chmod, link, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeCode } from '@holdfast/core/internal';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readContained } from './contained.ts';

let around: string;
let root: string;

beforeEach(async () => {
  around = await mkdtemp(join(tmpdir(), 'holdfast-modules-'));
  root = join(around, 'modules');
  await mkdir(join(root, 'deep/er'), { recursive: true });
  await writeFile(join(around, 'secret.json'), 'secret');
  await writeFile(join(root, 'a.json'), 'a');
  await writeFile(join(root, 'deep/er/b.json'), 'b');
});

afterEach(() => rm(around, { recursive: true }));

const refused = { code: 'modules.invalid', reason: 'path' };
const unreadable = { code: 'modules.invalid', reason: 'unreadable' };

test('reads files in the folder; missing files are undefined', async () => {
  expect(await readContained(root, 'a.json')).toEqual({ text: 'a', realPath: 'a.json' });
  expect(await readContained(root, 'deep/er/b.json')).toEqual({ text: 'b', realPath: 'deep/er/b.json' });
  expect(await readContained(root, 'gone.json')).toBeUndefined();
  expect(await readContained(root, 'gone/gone.json')).toBeUndefined();
  expect(await readContained(root, 'a.json/gone.json')).toBeUndefined();
  expect(await readContained(join(around, 'gone'), 'a.json')).toBeUndefined();
});

test.each([
  '../secret.json',
  'deep/../../secret.json',
  '/etc/passwd',
  'C:\\a.json',
  'file:///etc/passwd',
  'a.json\0',
  '',
])('the path %j is rejected before anything is opened', async (path) => {
  await expect(readContained(root, path)).rejects.toMatchObject(refused);
});

test('links are judged by their target', async () => {
  await symlink('../secret.json', join(root, 'out.json'));
  await symlink(join(around, 'secret.json'), join(root, 'out-absolute.json'));
  await symlink('..', join(root, 'deep/up'));
  await symlink('../..', join(root, 'deep/out'));
  await symlink('deep/er/b.json', join(root, 'in.json'));
  await symlink('circle', join(root, 'circle'));
  await symlink('nowhere', join(root, 'nowhere.json'));
  await symlink('modules', join(around, 'link'));
  for (const path of ['out.json', 'out-absolute.json', 'deep/out/secret.json', 'circle', 'circle/a.json']) {
    await expect(readContained(root, path), path).rejects.toMatchObject(refused);
  }
  expect(await readContained(root, 'in.json')).toEqual({ text: 'b', realPath: 'deep/er/b.json' });
  expect(await readContained(root, 'deep/up/a.json')).toEqual({ text: 'a', realPath: 'a.json' });
  expect(await readContained(root, 'nowhere.json')).toBeUndefined();
  expect(await readContained(join(around, 'link'), 'a.json')).toEqual({ text: 'a', realPath: 'a.json' });
});

test('a sibling folder with the root as name prefix is outside', async () => {
  await mkdir(join(around, 'modules-of-others'));
  await writeFile(join(around, 'modules-of-others/x.json'), 'x');
  await symlink('../modules-of-others/x.json', join(root, 'x.json'));
  await expect(readContained(root, 'x.json')).rejects.toMatchObject(refused);
});

test('only regular files; a FIFO does not block', async () => {
  execFileSync('mkfifo', [join(root, 'fifo')]);
  await expect(readContained(root, 'fifo')).rejects.toMatchObject(unreadable);
  await expect(readContained(root, 'deep')).rejects.toMatchObject(unreadable);
  await symlink('/dev/zero', join(root, 'zero'));
  await expect(readContained(root, 'zero')).rejects.toMatchObject(refused);
});

test.runIf(process.platform !== 'win32' && process.getuid?.() !== 0)('unreadable files', async () => {
  await chmod(join(root, 'a.json'), 0);
  await expect(readContained(root, 'a.json')).rejects.toMatchObject({
    ...unreadable,
    message: expect.stringContaining('EACCES'),
  });
});

test('sizes and encodings', async () => {
  const limit = 8 * 1024 * 1024;
  await writeFile(join(root, 'full'), Buffer.alloc(limit, 'x'));
  await writeFile(join(root, 'more'), Buffer.alloc(limit + 1, 'x'));
  await writeFile(join(root, 'latin'), Buffer.from([0x22, 0xe9, 0x22]));
  await writeFile(join(root, 'utf16'), Buffer.from('\uFEFF{}', 'utf16le'));
  await writeFile(join(root, 'mark'), '\uFEFF{}');
  await writeFile(join(root, 'empty'), '');
  expect((await readContained(root, 'full'))?.text).toHaveLength(limit);
  await expect(readContained(root, 'more')).rejects.toMatchObject({ code: 'modules.invalid', reason: 'too_large' });
  await expect(readContained(root, 'latin')).rejects.toMatchObject(unreadable);
  await expect(readContained(root, 'utf16')).rejects.toMatchObject(unreadable);
  // The hash covers the bytes, including the mark.
  expect((await readContained(root, 'mark'))?.text).toBe('\uFEFF{}');
  expect((await readContained(root, 'empty'))?.text).toBe('');
});

test('hard links count as files of the folder', async () => {
  await link(join(root, 'a.json'), join(root, 'hard.json'));
  expect((await readContained(root, 'hard.json'))?.text).toBe('a');
});

// Only Linux has handles with paths.
test.runIf(process.platform === 'linux')('never reads a file that is swapped in through a link', async () => {
  await symlink('../secret.json', join(root, 'evil'));
  await mkdir(join(around, 'outside'));
  await writeFile(join(around, 'outside/b.json'), 'secret');
  await symlink('../../outside', join(root, 'deep/evil'));
  let isOver = false;
  const swap = async (): Promise<void> => {
    while (!isOver) {
      // Swaps a file and a folder for links and back.
      await rename(join(root, 'a.json'), join(root, 'aside'));
      await rename(join(root, 'evil'), join(root, 'a.json'));
      await rename(join(root, 'deep/er'), join(root, 'deep/aside'));
      await rename(join(root, 'deep/evil'), join(root, 'deep/er'));
      await rename(join(root, 'a.json'), join(root, 'evil'));
      await rename(join(root, 'aside'), join(root, 'a.json'));
      await rename(join(root, 'deep/er'), join(root, 'deep/evil'));
      await rename(join(root, 'deep/aside'), join(root, 'deep/er'));
    }
  };
  const swapping = swap();
  const seen = new Map<string, number>();
  const read = async (path: string): Promise<void> => {
    const found = await readContained(root, path).then(
      (file) => file?.text ?? 'missing',
      (thrown: { code: string }) => describeCode(thrown),
    );
    seen.set(found, (seen.get(found) ?? 0) + 1);
  };
  for (let round = 0; round < 1500; round += 1) await Promise.all([read('a.json'), read('deep/er/b.json')]);
  isOver = true;
  await swapping;
  expect(seen.get('secret')).toBeUndefined();
  // Reads and swaps actually overlapped.
  expect(seen.get('a')).toBeGreaterThan(0);
  expect(seen.get('modules.invalid: path')).toBeGreaterThan(0);
});
