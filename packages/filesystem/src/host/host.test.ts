import { execFileSync } from 'node:child_process';
import {
  chmod,
  link,
  mkdir,
  readFile,
  readlink,
  rename,
  stat,
  symlink,
  truncate,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import type { Filesystem } from '@holdfast/core';
import { expect, test } from 'vitest';
import { hostFilesystem } from '../node.ts';
import { systemCode } from './errors.ts';
import { makeTestFolder, snapshotTree } from './test-folder.ts';

/** A folder that contains `root` and files outside of it that no tool may reach. */
async function makeWorkspace() {
  const folder = await makeTestFolder();
  const root = join(folder.path, 'work');
  const outside = join(folder.path, 'workspace');
  await mkdir(join(root, 'src'), { recursive: true });
  await mkdir(outside);
  await writeFile(join(root, 'src/a.txt'), 'a');
  await writeFile(join(outside, 'secret.txt'), 'secret');
  return { root, outside, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

test('F36: only the writes of a failing call are undone; ignored files, empty folders, modes and times stay', async () => {
  await using workspace = await makeWorkspace();
  const { root } = workspace;
  await writeFile(join(root, '.gitignore'), '*.log\n');
  await writeFile(join(root, 'build.log'), 'ignored');
  await mkdir(join(root, 'empty'), { mode: 0o700 });
  await chmod(join(root, 'src/a.txt'), 0o755);
  await utimes(join(root, 'src/a.txt'), 1000, 1000);
  const before = snapshotTree(root);

  const call = hostFilesystem(root).begin('c1');
  await call.view.write('src/a.txt', 'changed');
  await call.view.write('made/on/the/way.txt', 'x');
  await call.prepare();
  await call.discard();

  expect(snapshotTree(root)).toEqual(before);
  expect((await stat(join(root, 'src/a.txt'))).mtimeMs).toBe(1_000_000);
});

test('a commit changes only the files that the call wrote', async () => {
  await using workspace = await makeWorkspace();
  const { root } = workspace;
  await writeFile(join(root, '.gitignore'), '*.log\n');
  await writeFile(join(root, 'src/build.log'), 'ignored');
  await mkdir(join(root, 'src/empty'), { mode: 0o700 });
  await chmod(join(root, 'src'), 0o751);
  await utimes(join(root, 'src/build.log'), 1000, 1000);
  const before = snapshotTree(root);
  const call = hostFilesystem(root).begin('c1');
  await call.view.write('src/a.txt', 'new');
  await call.view.write('src/new.txt', 'new');
  await call.prepare();
  await call.commit();
  const content = `file 644 ${Buffer.from('new').toString('base64')}`;
  expect(snapshotTree(root)).toEqual({ ...before, 'src/a.txt': content, 'src/new.txt': content });
  expect((await stat(join(root, 'src/build.log'))).mtimeMs).toBe(1_000_000);
});

test('F24: a call that removes a file, makes a folder and writes two files leaves none of these changes when it fails', async () => {
  await using workspace = await makeWorkspace();
  const { root } = workspace;
  await writeFile(join(root, 'b.txt'), 'b');
  const before = snapshotTree(root);
  const call = hostFilesystem(root).begin('c1');
  await call.view.remove('src/a.txt');
  await call.view.makeDirectory('made');
  await call.view.write('b.txt', 'changed');
  await call.view.write('made/c.txt', 'c');
  await call.discard();
  expect(snapshotTree(root)).toEqual(before);
});

test('a commit keeps the mode of a file and leaves no temporary file', async () => {
  await using workspace = await makeWorkspace();
  const { root } = workspace;
  // Includes bits that the usual umask clears.
  await chmod(join(root, 'src/a.txt'), 0o777);
  const call = hostFilesystem(root).begin('c1');
  await call.view.write('src/a.txt', 'new');
  await call.view.write('b/c.txt', 'c');
  await call.prepare();
  await call.commit();
  const tree = snapshotTree(root);
  expect(Object.keys(tree)).toEqual(['b', 'b/c.txt', 'src', 'src/a.txt']);
  expect(tree['src/a.txt']).toBe(`file 777 ${Buffer.from('new').toString('base64')}`);
});

test('a call that is discarded while it prepares leaves no temporary file', async () => {
  await using workspace = await makeWorkspace();
  const { root } = workspace;
  const before = snapshotTree(root);
  const call = hostFilesystem(root).begin('c1');
  await call.view.write('src/a.txt', 'b');
  const preparing = call.prepare();
  await call.discard();
  expect(snapshotTree(root)).toEqual(before);
  await preparing;
});

test.each([
  { name: 'a file outside', target: '../workspace/secret.txt', path: 'link' },
  { name: 'a folder outside', target: '../workspace', path: 'link/secret.txt' },
  { name: 'a new file under a folder outside (E15)', target: '../workspace', path: 'link/new/deep.txt' },
  { name: 'a place outside that does not exist', target: '../workspace/none.txt', path: 'link' },
  { name: 'a place inside that does not exist', target: 'none.txt', path: 'link' },
  { name: 'itself', target: 'link', path: 'link' },
  { name: 'the parent', target: '..', path: 'link/workspace/secret.txt' },
])('path.invalid: escape: a link to $name', async ({ target, path }) => {
  await using workspace = await makeWorkspace();
  const { root, outside } = workspace;
  await symlink(target, join(root, 'link'));
  const before = snapshotTree(outside);
  const { view } = hostFilesystem(root).begin('c1');
  for (const use of [
    () => view.resolve(path),
    () => view.read(path),
    () => view.stat(path),
    () => view.list(path),
    () => view.write(path, 'x'),
    () => view.remove(path),
    () => view.makeDirectory(path),
  ]) {
    await expect(use()).rejects.toMatchObject({ code: 'path.invalid', reason: 'escape' });
  }
  expect((await view.list('')).map(({ name }) => name)).toEqual(['src']);
  expect(snapshotTree(outside)).toEqual(before);
});

test('C19: a folder whose name starts with the name of the root is outside', async () => {
  await using workspace = await makeWorkspace();
  const { view } = hostFilesystem(workspace.root).begin('c1');
  await expect(view.read('../workspace/secret.txt')).rejects.toMatchObject({ code: 'path.invalid', reason: 'escape' });
});

test('E13: a link inside the root shares the key and the content of its target, and cannot be removed itself', async () => {
  await using workspace = await makeWorkspace();
  const { root } = workspace;
  await symlink('src/a.txt', join(root, 'alias.txt'));
  await symlink('src', join(root, 'sources'));
  const resource = hostFilesystem(root);
  const call = resource.begin('c1');
  expect(await call.view.resolve('alias.txt')).toBe('src/a.txt');
  expect(await call.view.resolve('sources/new/b.txt')).toBe('src/new/b.txt');
  expect(await call.view.list('')).toEqual([
    { path: 'src/a.txt', name: 'alias.txt', type: 'file' },
    { path: 'src', name: 'sources', type: 'directory' },
    { path: 'src', name: 'src', type: 'directory' },
  ]);
  await call.view.write('alias.txt', 'through the link');
  expect(await call.view.readText('sources/a.txt')).toBe('through the link');
  expect(call.touched().writes).toMatchObject([{ key: 'src/a.txt' }]);
  await expect(call.view.remove('alias.txt')).rejects.toMatchObject({ code: 'file.invalid', reason: 'is_link' });
  await call.prepare();
  await call.commit();
  expect(await readlink(join(root, 'alias.txt'))).toBe('src/a.txt');
  expect(await readFile(join(root, 'src/a.txt'), 'utf8')).toBe('through the link');
});

test('a walk visits every file once, despite links to it', async () => {
  await using workspace = await makeWorkspace();
  const { root } = workspace;
  await symlink('a.txt', join(root, 'src/alias.txt'));
  await symlink('..', join(root, 'src/up'));
  const found: string[] = [];
  for await (const { path } of hostFilesystem(root).readOnly.walk()) found.push(path);
  expect(found).toEqual(['src/a.txt']);
});

test('a link disappears from the listing with its target', async () => {
  await using workspace = await makeWorkspace();
  await symlink('src/a.txt', join(workspace.root, 'alias.txt'));
  const { view } = hostFilesystem(workspace.root).begin('c1');
  await view.remove('src/a.txt');
  expect((await view.list('')).map(({ name }) => name)).toEqual(['src']);
});

test('a hard link is a file of its own: writing one name leaves the other', async () => {
  await using workspace = await makeWorkspace();
  const { root } = workspace;
  await link(join(root, 'src/a.txt'), join(root, 'hard.txt'));
  const call = hostFilesystem(root).begin('c1');
  await call.view.write('hard.txt', 'new');
  await call.prepare();
  await call.commit();
  expect(await readFile(join(root, 'src/a.txt'), 'utf8')).toBe('a');
});

test.each([
  { protectedName: 'plugins', options: { protectedPaths: ['plugins'] } },
  { protectedName: '.holdfast', options: {} },
])('path.invalid: protected: the target of the link `$protectedName`', async ({ protectedName, options }) => {
  await using workspace = await makeWorkspace();
  const { root } = workspace;
  await mkdir(join(root, 'real'));
  await symlink('real', join(root, protectedName));
  const { view } = hostFilesystem(root, options).begin('c1');
  await expect(view.write('real/x', '')).rejects.toMatchObject({ code: 'path.invalid', reason: 'protected' });
});

test('path.invalid: protected: a protected name that is a link is protected as a name', async () => {
  await using workspace = await makeWorkspace();
  await symlink('a.txt', join(workspace.root, 'src/holdfast.config.ts'));
  const { view } = hostFilesystem(workspace.root).begin('c1');
  await expect(view.write('src/holdfast.config.ts', '')).rejects.toMatchObject({
    code: 'path.invalid',
    reason: 'protected',
  });
});

test('path.invalid: protected: a link that leads to the logs', async () => {
  await using workspace = await makeWorkspace();
  const { root } = workspace;
  await mkdir(join(root, '.holdfast'));
  await writeFile(join(root, '.holdfast/log.jsonl'), 'log');
  await symlink('.holdfast', join(root, 'logs'));
  await expect(hostFilesystem(root).readOnly.read('logs/log.jsonl')).rejects.toMatchObject({
    code: 'path.invalid',
    reason: 'protected',
  });
});

test('a protected name that leads out of the root is harmless', async () => {
  await using workspace = await makeWorkspace();
  await symlink('../workspace', join(workspace.root, '.holdfast'));
  const { view } = hostFilesystem(workspace.root).begin('c1');
  await view.write('src/a.txt', 'x');
  await expect(view.read('.holdfast/secret.txt')).rejects.toMatchObject({ code: 'path.invalid', reason: 'protected' });
});

test('file.conflict: the file on disk changed after the call first saw it', async () => {
  await using workspace = await makeWorkspace();
  const { root } = workspace;
  const call = hostFilesystem(root).begin('c1');
  await call.view.write('src/a.txt', 'mine');
  await writeFile(join(root, 'src/a.txt'), 'theirs');
  await expect(call.prepare()).rejects.toMatchObject({ code: 'file.conflict' });
  await call.discard();
  expect(await readFile(join(root, 'src/a.txt'), 'utf8')).toBe('theirs');
  expect(Object.keys(snapshotTree(root))).toEqual(['src', 'src/a.txt']);
});

test('file.conflict: a file appeared where the call creates one', async () => {
  await using workspace = await makeWorkspace();
  const call = hostFilesystem(workspace.root).begin('c1');
  await call.view.write('new.txt', 'mine');
  await writeFile(join(workspace.root, 'new.txt'), 'theirs');
  await expect(call.prepare()).rejects.toMatchObject({ code: 'file.conflict' });
});

test.each<{ what: string; path: string; change: (view: Filesystem, path: string) => Promise<void> }>([
  { what: 'replaces', path: 'src/a.txt', change: (view, path) => view.write(path, 'mine') },
  { what: 'creates', path: 'src/new.txt', change: (view, path) => view.write(path, 'mine') },
  { what: 'removes', path: 'src/a.txt', change: (view, path) => view.remove(path) },
])('file.conflict: a file that a call $what changed between its `prepare` and its `commit`', async (row) => {
  await using workspace = await makeWorkspace();
  const { root } = workspace;
  const call = hostFilesystem(root).begin('c1');
  await call.view.write('first.txt', 'mine');
  await row.change(call.view, row.path);
  await call.prepare();
  await writeFile(join(root, row.path), 'theirs');
  await expect(call.commit()).rejects.toMatchObject({ code: 'file.conflict', data: { path: row.path } });
  const tree = snapshotTree(root);
  expect(Object.keys(tree)).toEqual([...new Set(['src', 'src/a.txt', row.path])]);
  expect(await readFile(join(root, row.path), 'utf8')).toBe('theirs');
});

test('two names of one file can be changed in one call', async () => {
  await using workspace = await makeWorkspace();
  const { root } = workspace;
  await link(join(root, 'src/a.txt'), join(root, 'hard.txt'));
  const call = hostFilesystem(root).begin('c1');
  await call.view.write('hard.txt', 'hard');
  await call.view.remove('src/a.txt');
  await call.prepare();
  await call.commit();
  expect(Object.keys(snapshotTree(root))).toEqual(['hard.txt', 'src']);
});

test('a change on disk does not stop a call that wrote nothing', async () => {
  await using workspace = await makeWorkspace();
  const call = hostFilesystem(workspace.root).begin('c1');
  await call.view.read('src/a.txt');
  await writeFile(join(workspace.root, 'src/a.txt'), 'theirs');
  await call.prepare();
  await call.commit();
  expect(call.touched().reads).toHaveLength(1);
});

test.each(['prepare', 'commit'])(
  'C21: a parent that was replaced by a link before %s is not followed',
  async (moment) => {
    await using workspace = await makeWorkspace();
    const { root, outside } = workspace;
    const before = snapshotTree(outside);
    const call = hostFilesystem(root).begin('c1');
    await call.view.write('src/new.txt', 'x');
    if (moment === 'commit') await call.prepare();
    await rename(join(root, 'src'), join(root, 'moved'));
    await symlink('../workspace', join(root, 'src'));
    if (moment === 'prepare')
      await expect(call.prepare()).rejects.toMatchObject({ code: 'path.invalid', reason: 'escape' });
    else await expect(call.commit()).rejects.toMatchObject({ code: 'path.invalid', reason: 'escape' });
    await call.discard();
    expect(snapshotTree(outside)).toEqual(before);
    expect(Object.keys(snapshotTree(root))).toEqual(['moved', 'moved/a.txt', 'src']);
  },
);

test('C21: nothing is written or read outside while a parent is swapped for a link again and again', async () => {
  await using workspace = await makeWorkspace();
  const { root, outside } = workspace;
  await writeFile(join(outside, 'a.txt'), 'secret');
  await symlink('../workspace', join(root, 'evil'));
  const before = snapshotTree(outside);
  let running = true;
  let quietTurns = 20;
  let made = 0;
  // A call that finds no `src` may create one, which then blocks the swap.
  const move = async (from: string, to: string): Promise<void> => {
    for (;;) {
      try {
        return await rename(join(root, from), join(root, to));
      } catch (error) {
        if (!['EISDIR', 'ENOTEMPTY', 'EEXIST'].includes(systemCode(error))) throw error;
      }
      made += 1;
      // Unless the call has already undone it.
      await rename(join(root, to), join(root, `made-${made}`)).catch((error: unknown) => {
        if (systemCode(error) !== 'ENOENT') throw error;
      });
    }
  };
  const swapping = (async () => {
    while (running) {
      await move('src', 'aside');
      await move('evil', 'src');
      await move('src', 'evil');
      await move('aside', 'src');
      // Time without swaps, so that some calls succeed.
      for (let turn = 0; turn < quietTurns; turn += 1) await stat(root);
    }
  })();
  const resource = hostFilesystem(root);
  const texts = new Set<string>();
  let commits = 0;
  for (let round = 0; round < 60 || (commits === 0 && round < 1_000); round += 1) {
    // The time needed depends on the machine.
    if (commits === 0 && round % 30 === 29) quietTurns *= 2;
    const call = resource.begin(`c${round}`);
    try {
      texts.add(await call.view.readText('src/a.txt'));
      await call.view.write('src/a.txt', 'inside');
      await call.prepare();
      await call.commit();
      commits += 1;
    } catch {
      // The call may fail in any way, as long as the outside is unchanged.
      await call.discard();
    }
  }
  running = false;
  await swapping;
  expect(snapshotTree(outside)).toEqual(before);
  expect([...texts]).not.toContain('secret');
  // Some calls must succeed, or the test proves nothing.
  expect(commits).toBeGreaterThan(0);
});

test('file.unreadable: a pipe is not read and does not block', async () => {
  await using workspace = await makeWorkspace();
  execFileSync('mkfifo', [join(workspace.root, 'pipe')]);
  const { readOnly } = hostFilesystem(workspace.root);
  await expect(readOnly.read('pipe')).rejects.toMatchObject({ code: 'file.unreadable' });
  await expect(readOnly.stat('pipe')).rejects.toMatchObject({ code: 'file.unreadable' });
  expect((await readOnly.list('')).map(({ name }) => name)).toEqual(['src']);
});

test('a folder with only hidden files is not empty', async () => {
  await using workspace = await makeWorkspace();
  await mkdir(join(workspace.root, 'folder'));
  await symlink('/nowhere', join(workspace.root, 'folder/link'));
  const { view } = hostFilesystem(workspace.root).begin('c1');
  expect(await view.list('folder')).toEqual([]);
  await expect(view.remove('folder')).rejects.toMatchObject({ code: 'file.invalid', reason: 'not_empty' });
});

test('a name with another Unicode form on disk is found, listed by its key and kept unchanged', async () => {
  await using workspace = await makeWorkspace();
  const { root } = workspace;
  await mkdir(join(root, 'cafe\u0301'));
  await writeFile(join(root, 'cafe\u0301/e\u0301.txt'), 'old');
  const resource = hostFilesystem(root);
  const call = resource.begin('c1');
  expect(await call.view.resolve('caf\u00e9/\u00e9.txt')).toBe('caf\u00e9/\u00e9.txt');
  expect(await call.view.resolve('cafe\u0301/e\u0301.txt')).toBe('caf\u00e9/\u00e9.txt');
  expect((await call.view.list('caf\u00e9')).map(({ path }) => path)).toEqual(['caf\u00e9/\u00e9.txt']);
  expect(await call.view.readText('caf\u00e9/\u00e9.txt')).toBe('old');
  await call.view.write('caf\u00e9/\u00e9.txt', 'new');
  await call.view.write('caf\u00e9/\u00fc.txt', 'new');
  await call.prepare();
  await call.commit();
  expect(Object.keys(snapshotTree(root))).toEqual([
    'cafe\u0301',
    'cafe\u0301/e\u0301.txt',
    'cafe\u0301/\u00fc.txt',
    'src',
    'src/a.txt',
  ]);
  expect(await resource.readOnly.readText('caf\u00e9/\u00e9.txt')).toBe('new');
});

test('names that cannot be written as a path are not listed', async () => {
  await using workspace = await makeWorkspace();
  for (const name of ['a\\b', 'line\nbreak', 'dot.']) await writeFile(join(workspace.root, name), '');
  expect((await hostFilesystem(workspace.root).readOnly.list('')).map(({ name }) => name)).toEqual(['src']);
});

test('a file that is too large to be read has a version that changes with it', async () => {
  await using workspace = await makeWorkspace();
  const path = join(workspace.root, 'large');
  await writeFile(path, 'x'.repeat(20));
  const { readOnly } = hostFilesystem(workspace.root, { maxFileBytes: 10 });
  const before = await readOnly.stat('large');
  expect(before).toMatchObject({ type: 'file', size: 20 });
  await truncate(path, 19);
  expect((await readOnly.stat('large'))?.version).not.toBe(before?.version);
});

test('a file that is too large to be read can be removed and replaced, unless it changed meanwhile', async () => {
  await using workspace = await makeWorkspace();
  const { root } = workspace;
  const resource = hostFilesystem(root, { maxFileBytes: 10 });
  await writeFile(join(root, 'gone'), 'x'.repeat(20));
  await writeFile(join(root, 'new'), 'x'.repeat(20));
  const call = resource.begin('c1');
  await call.view.remove('gone');
  await call.view.write('new', 'small');
  const nested = call.begin('c2');
  await expect(nested.view.read('gone')).rejects.toMatchObject({ code: 'file.missing' });
  expect(await nested.view.readText('new')).toBe('small');
  await call.prepare();
  await call.commit();
  expect(Object.keys(snapshotTree(root))).toEqual(['new', 'src', 'src/a.txt']);
  await writeFile(join(root, 'large'), 'x'.repeat(20));
  const late = resource.begin('c3');
  await late.view.remove('large');
  await writeFile(join(root, 'large'), 'y'.repeat(21));
  await expect(late.prepare()).rejects.toMatchObject({ code: 'file.conflict' });
});

test('path.invalid: a path that only the operating system finds too long', async () => {
  await using workspace = await makeWorkspace();
  const path = Array.from({ length: 20 }, () => 'x'.repeat(203)).join('/');
  await expect(hostFilesystem(workspace.root).readOnly.read(path)).rejects.toMatchObject({ code: 'path.invalid' });
});

test('filesystem.missing: root: the root is missing or a file', async () => {
  await using workspace = await makeWorkspace();
  for (const path of ['none', 'src/a.txt']) {
    expect(() => hostFilesystem(join(workspace.root, path))).toThrow(
      expect.objectContaining({ code: 'filesystem.missing', reason: 'root' }),
    );
  }
});

test('the root itself may be reached through a link', async () => {
  await using workspace = await makeWorkspace();
  const alias = join(workspace.outside, 'alias');
  await symlink(workspace.root, alias);
  const { readOnly } = hostFilesystem(alias);
  expect(await readOnly.readText('src/a.txt')).toBe('a');
  await unlink(alias);
  expect(await readOnly.readText('src/a.txt')).toBe('a');
});
