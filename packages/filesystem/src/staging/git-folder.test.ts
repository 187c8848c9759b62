import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Filesystem } from '@holdfast/core';
import { expect, test } from 'vitest';
import { makeTestFolder } from '../host/test-folder.ts';
import { memoryFilesystem } from '../memory/memory.ts';
import { hostFilesystem } from '../node.ts';

const files = {
  '.git/config': '[core]\n',
  '.git/hooks/pre-commit': 'exit 0\n',
  'worktree/.git': 'gitdir: ../.bare/worktrees/worktree\n',
  'worktree/a.txt': 'a',
  'vendor/part/.git': 'gitdir: ../../.git/modules/part\n',
  '.bare/HEAD': 'ref: refs/heads/main\n',
  '.bare/config': '[core]\n',
  '.bare/objects/info/packs': '',
  '.bare/refs/heads/main': '',
  'linked/HEAD': 'ref: refs/heads/main\n',
  'linked/commondir': '../.bare\n',
  'free.txt': 'free',
};

/** The same files in memory and on the host, where `store` is a link to `.git` and `work` a link to `worktree`. */
async function eachFilesystem(use: (view: () => Filesystem, on: 'memory' | 'host') => Promise<void>): Promise<void> {
  const memory = memoryFilesystem(files);
  await use(() => memory.begin('c1').view, 'memory');
  await using folder = await makeTestFolder();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder.path, path)), { recursive: true });
    await writeFile(join(folder.path, path), text);
  }
  await symlink('.git', join(folder.path, 'store'));
  await symlink('worktree', join(folder.path, 'work'));
  const host = hostFilesystem(folder.path);
  await use(() => host.begin('c1').view, 'host');
}

const changes = {
  write: (view: Filesystem, path: string) => view.write(path, 'x'),
  delete: (view: Filesystem, path: string) => view.remove(path),
  'make a folder': (view: Filesystem, path: string) => view.makeDirectory(path),
};

test('nothing below `.git` is changed, in any spelling', async () => {
  const paths = [
    ...['.git', '.git/config', '.git/hooks/pre-commit', '.git/hooks/new', './.git/../.git/x', '/.git/config'],
    ...[
      '.GIT/config',
      '.Git/hooks/new',
      '.gi\u0442/../.git/x',
      '.g\u200cit/config',
      '.git\ufeff/config',
      '\u2024git/x',
    ],
    ...['worktree/.git', 'worktree/.git/x', 'vendor/part/.git', 'deep/in/.git/config', '.git/modules/part/config'],
    ...['GIT~1/config', 'git~2', '.git::$INDEX_ALLOCATION/config', '.git .::$DATA', 'new/.GIT'],
  ];
  await eachFilesystem(async (view) => {
    for (const path of paths) {
      for (const [what, change] of Object.entries(changes)) {
        await expect(change(view(), path), `${what} ${path}`).rejects.toMatchObject({
          code: 'path.invalid',
          reason: 'protected',
        });
      }
    }
    for (const path of ['.git.', '.git ', '.git./config', '.git. . /config']) {
      await expect(view().write(path, 'x'), path).rejects.toMatchObject({ code: 'path.invalid' });
    }
  });
});

test('nor through a link', async () => {
  await eachFilesystem(async (view, on) => {
    if (on === 'memory') return;
    for (const path of ['store/config', 'store/hooks/new', 'work/.git', 'work/.git/x', 'STORE/../store/config']) {
      for (const change of Object.values(changes)) {
        await expect(change(view(), path), path).rejects.toMatchObject({ code: 'path.invalid', reason: 'protected' });
      }
    }
    await view().write('work/a.txt', 'x');
  });
});

test('nor a repository under another name', async () => {
  await eachFilesystem(async (view) => {
    for (const path of ['.bare/config', '.bare/hooks/x', '.bare/worktrees/a/config', '.bare/HEAD', 'linked/config']) {
      for (const change of Object.values(changes)) {
        await expect(change(view(), path), path).rejects.toMatchObject({ code: 'path.invalid', reason: 'protected' });
      }
    }
  });
});

test.each([
  { parts: ['new/objects/a', 'new/refs/heads/a'], last: 'new/HEAD' },
  { parts: ['new/HEAD', 'new/refs/heads/a'], last: 'new/objects/a' },
  { parts: ['new/HEAD', 'new/Objects/a', 'new/objects/a'], last: 'new/refs/heads/a' },
  { parts: ['new/HEAD'], last: 'new/commondir' },
  { parts: ['objects/a', 'refs/a'], last: 'HEAD' },
])('a repository cannot be made piece by piece: $last after $parts', async ({ parts, last }) => {
  await eachFilesystem(async (view) => {
    const one = view();
    for (const part of parts) await one.write(part, 'x');
    await expect(one.write(last, 'x')).rejects.toMatchObject({ code: 'path.invalid', reason: 'protected' });
  });
});

test('reading is allowed, and similar names are not affected', async () => {
  await eachFilesystem(async (view) => {
    expect(await view().readText('.git/config')).toBe('[core]\n');
    expect(await view().readText('worktree/.git')).toContain('gitdir');
    expect((await view().list('.git')).map(({ name }) => name)).toEqual(['config', 'hooks']);
    for (const path of ['.gitignore', '.github/x', 'git/config', 'my.git/config', '.gita', 'docs/HEAD', 'refs/a']) {
      await view().write(path, 'x');
    }
  });
});
