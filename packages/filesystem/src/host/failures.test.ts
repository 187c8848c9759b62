import { rmSync, symlinkSync } from 'node:fs';
import * as promises from 'node:fs/promises';
import { mkdir, mkdtemp, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createProtection } from '../paths/protection.ts';
import { createStagedFilesystem } from '../staging/transaction.ts';
import { createHostBackend } from './backend.ts';
import type { HostOperations } from './folder.ts';
import { makeTestFolder, snapshotTree } from './test-folder.ts';

type Name = 'access' | 'link' | 'lstat' | 'mkdir' | 'open' | 'readdir' | 'realpath' | 'rename' | 'rmdir' | 'unlink';

function systemError(code: string, path: unknown): Error {
  return Object.assign(new Error(`${code}: refused, '${String(path)}'`), { code });
}

/** The operations of Node.js, with failures for the calls that `fails` selects. */
function failing(fails: (name: Name, path: string) => string | undefined): HostOperations {
  const wrap = <Run extends (...parameters: never[]) => unknown>(name: Name, run: Run): Run => {
    const wrapped = async (...parameters: Parameters<Run>) => {
      const code = fails(name, String(parameters[0]));
      if (code !== undefined) throw systemError(code, parameters[0]);
      return run(...parameters);
    };
    // The same parameters and result as `run`, whose overloads TypeScript cannot carry over.
    return wrapped as unknown as Run;
  };
  return {
    ...promises,
    access: wrap('access', promises.access),
    link: wrap('link', promises.link),
    lstat: wrap('lstat', promises.lstat),
    mkdir: wrap('mkdir', promises.mkdir),
    open: wrap('open', promises.open),
    readdir: wrap('readdir', promises.readdir),
    realpath: wrap('realpath', promises.realpath),
    rename: wrap('rename', promises.rename),
    rmdir: wrap('rmdir', promises.rmdir),
    unlink: wrap('unlink', promises.unlink),
  };
}

function openHost(root: string, operations: HostOperations) {
  return createStagedFilesystem(createHostBackend(root, operations, 1000), createProtection([]), 1000);
}

async function makeTree(root: string): Promise<void> {
  await mkdir(join(root, 'old/deep'), { recursive: true, mode: 0o755 });
  await mkdir(join(root, 'empty'), { mode: 0o711 });
  await writeFile(join(root, 'a.txt'), 'a', { mode: 0o640 });
  await writeFile(join(root, 'b.txt'), 'b', { mode: 0o755 });
  await writeFile(join(root, 'old/c.txt'), 'c');
  await writeFile(join(root, 'old/deep/d.txt'), 'd', { mode: 0o600 });
}

/** Makes changes of every kind in one call. */
async function changeEverything(root: string, operations: HostOperations) {
  const call = openHost(root, operations).begin('c1');
  for (const path of ['old/deep/d.txt', 'old/deep', 'old/c.txt', 'old', 'empty']) await call.view.remove(path);
  await call.view.write('old', 'a file now');
  await call.view.write('a.txt', 'changed');
  await call.view.remove('b.txt');
  await call.view.write('b.txt/inner.txt', 'a folder now');
  await call.view.write('new/folder/e.txt', 'e');
  return call;
}

test('if any step of a commit fails, the tree is unchanged', async () => {
  await using folder = await makeTestFolder();
  const changing: readonly Name[] = ['rename', 'mkdir', 'rmdir'];
  let failures = 0;
  for (let failAt = 0; ; failAt += 1) {
    const root = await mkdtemp(join(folder.path, 'run-'));
    await makeTree(root);
    const before = snapshotTree(root);
    const inode = (await stat(join(root, 'a.txt'))).ino;
    let step = 0;
    let failed = false;
    const operations = failing((name, path) => {
      if (!changing.includes(name) || path.endsWith('.journal')) return undefined;
      failed ||= step === failAt;
      return step++ === failAt ? 'EIO' : undefined;
    });
    const call = await changeEverything(root, operations);
    await call.prepare();
    const result = await Promise.resolve(call.commit()).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!failed) break;
    failures += 1;
    expect(result).toMatchObject({ code: 'file.write_failed' });
    expect(snapshotTree(root)).toEqual(before);
    expect((await stat(join(root, 'a.txt'))).ino).toBe(inode);
    await call.discard();
  }
  // 3 files and 3 folders removed, 3 folders created, 4 files put in place.
  expect(failures).toBe(13);
});

test('a commit works where the file system has no hard links', async () => {
  await using folder = await makeTestFolder();
  await makeTree(folder.path);
  const before = snapshotTree(folder.path);
  let renames = 0;
  let failAt = 4;
  const operations = failing((name) => {
    if (name === 'link') return 'EPERM';
    return name === 'rename' && renames++ === failAt ? 'EIO' : undefined;
  });
  const first = await changeEverything(folder.path, operations);
  await first.prepare();
  await expect(first.commit()).rejects.toMatchObject({ code: 'file.write_failed' });
  expect(snapshotTree(folder.path)).toEqual(before);

  failAt = -1;
  const second = await changeEverything(folder.path, operations);
  await second.prepare();
  await second.commit();
  expect(Object.keys(snapshotTree(folder.path))).toEqual([
    'a.txt',
    'b.txt',
    'b.txt/inner.txt',
    'new',
    'new/folder',
    'new/folder/e.txt',
    'old',
  ]);
});

test.each([
  { name: 'the undo fails', links: true, workingRenames: 1 },
  { name: 'a file that was moved aside cannot be moved back', links: false, workingRenames: 1 },
])('file.undo_failed: $name, and the content is kept under its temporary name', async ({ links, workingRenames }) => {
  await using folder = await makeTestFolder();
  await writeFile(join(folder.path, 'a.txt'), 'precious');
  await writeFile(join(folder.path, 'b.txt'), 'b');
  let renames = 0;
  const operations = failing((name) => {
    if (name === 'link' && !links) return 'EPERM';
    return name === 'rename' && ++renames > workingRenames ? 'EIO' : undefined;
  });
  const call = openHost(folder.path, operations).begin('c1');
  await call.view.write('a.txt', 'new');
  await call.view.write('b.txt', 'new');
  await call.prepare();
  await expect(call.commit()).rejects.toMatchObject({ code: 'file.undo_failed' });
  const tree = snapshotTree(folder.path);
  const kept = Object.keys(tree).filter((name) => /^\.holdfast-[\w-]+-0-old\.tmp$/u.test(name));
  expect(kept.map((name) => tree[name])).toEqual([`file 644 ${Buffer.from('precious').toString('base64')}`]);
});

test('file.undo_failed: nothing is lost if the folder is removed during a commit', async () => {
  await using folder = await makeTestFolder();
  await mkdir(join(folder.path, 'a'));
  await writeFile(join(folder.path, 'a/precious.txt'), 'precious');
  await writeFile(join(folder.path, 'b.txt'), 'b');
  let renames = 0;
  const operations: HostOperations = {
    ...promises,
    async rename(from, to) {
      renames += 1;
      if (renames === 1) return promises.rename(from, to);
      await promises.rename(join(folder.path, 'a'), join(folder.path, 'moved'));
      throw systemError('EIO', from);
    },
  };
  const call = openHost(folder.path, operations).begin('c1');
  await call.view.write('a/precious.txt', 'new');
  await call.view.write('b.txt', 'new');
  await call.prepare();
  await expect(call.commit()).rejects.toMatchObject({ code: 'file.undo_failed' });
  const contents = Object.values(snapshotTree(join(folder.path, 'moved')));
  expect(contents).toContain(`file 644 ${Buffer.from('precious').toString('base64')}`);
});

test('file.write_failed: cleanup: a completed commit reports that it cannot clean up', async () => {
  await using folder = await makeTestFolder();
  await writeFile(join(folder.path, 'a.txt'), 'old');
  const call = openHost(
    folder.path,
    failing((name) => (name === 'unlink' ? 'EIO' : undefined)),
  ).begin('c1');
  await call.view.write('a.txt', 'new');
  await call.prepare();
  await expect(call.commit()).rejects.toMatchObject({ code: 'file.write_failed', reason: 'cleanup' });
  expect(await promises.readFile(join(folder.path, 'a.txt'), 'utf8')).toBe('new');
});

test.each<{
  readonly name: Name;
  readonly system: string;
  readonly code: string;
  readonly reason?: string;
  readonly text: string;
}>([
  { name: 'open', system: 'EACCES', code: 'file.unreadable', text: 'permission denied (EACCES)' },
  { name: 'open', system: 'EMFILE', code: 'file.unreadable', text: 'too many files are open (EMFILE)' },
  { name: 'open', system: 'EIO', code: 'file.unreadable', text: 'the operating system refused (EIO)' },
  { name: 'open', system: 'ELOOP', code: 'path.invalid', reason: 'escape', text: 'link' },
  { name: 'realpath', system: 'EACCES', code: 'file.unreadable', text: 'permission denied (EACCES)' },
])('$code when $name answers $system to a read', async ({ name, system, code, reason, text }) => {
  await using folder = await makeTestFolder();
  await writeFile(join(folder.path, 'a.txt'), '');
  const { readOnly } = openHost(
    folder.path,
    failing((other) => (other === name ? system : undefined)),
  );
  const error = await readOnly.read('a.txt').then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ code, reason });
  expect(String(error)).toContain(text);
  expect(String(error)).toContain('`a.txt`');
  expect(String(error)).not.toContain(folder.path);
  expect(error).toHaveProperty('cause');
});

test.each(['ENOSPC', 'EROFS', 'EACCES', 'EDQUOT', 'EFBIG'])(
  'file.write_failed when the disk answers %s',
  async (system) => {
    await using folder = await makeTestFolder();
    let writing = false;
    const call = openHost(
      folder.path,
      failing((name, path) => (writing && name === 'open' && path.endsWith('.tmp') ? system : undefined)),
    ).begin('c1');
    await call.view.write('new/a.txt', '');
    writing = true;
    const error = await Promise.resolve(call.prepare()).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'file.write_failed', data: { path: 'new/a.txt', systemCode: system } });
    expect(String(error)).not.toContain(folder.path);
    await call.discard();
    expect(snapshotTree(folder.path)).toEqual({});
  },
);

test('file.write_failed: a read-only file is neither written nor removed', async () => {
  await using folder = await makeTestFolder();
  await writeFile(join(folder.path, 'a.txt'), 'a', { mode: 0o444 });
  // Root may write any file, so the error is simulated.
  const resource = openHost(
    folder.path,
    failing((name) => (name === 'access' ? 'EACCES' : undefined)),
  );
  for (const change of ['write', 'remove'] as const) {
    const call = resource.begin('c1');
    await call.view[change]('a.txt', 'b');
    await expect(call.prepare()).rejects.toMatchObject({ code: 'file.write_failed' });
    await call.discard();
  }
});

test('C21: does not follow a link that replaces a file just before it is opened', async () => {
  await using folder = await makeTestFolder();
  const root = join(folder.path, 'work');
  await mkdir(root);
  await writeFile(join(folder.path, 'secret.txt'), 'secret');
  await writeFile(join(root, 'a.txt'), 'a');
  const operations = failing((name, path) => {
    if (name === 'open' && path.endsWith('/a.txt')) {
      rmSync(join(root, 'a.txt'));
      symlinkSync('../secret.txt', join(root, 'a.txt'));
    }
    return undefined;
  });
  await expect(openHost(root, operations).readOnly.read('a.txt')).rejects.toMatchObject({
    code: 'path.invalid',
    reason: 'escape',
  });
});

test.each(['may', 'EPERM', 'EIO'])('a replaced file keeps its owner (may change owners: %s)', async (answer) => {
  await using folder = await makeTestFolder();
  await writeFile(join(folder.path, 'a.txt'), 'old');
  const given: unknown[] = [];
  const operations: HostOperations = {
    ...promises,
    async open(path, flags, mode) {
      const handle = await promises.open(path, flags, mode);
      if (flags !== 'wx') return handle;
      // As if the program ran as another user.
      const stats = await handle.stat();
      return Object.assign(handle, {
        stat: async () => Object.assign(stats, { uid: stats.uid + 1 }),
        async chown(...owner: readonly number[]) {
          given.push(owner);
          if (answer !== 'may') throw systemError(answer, path);
        },
      });
    },
  };
  const { uid, gid } = await stat(join(folder.path, 'a.txt'));
  const call = openHost(folder.path, operations).begin('c1');
  await call.view.write('a.txt', 'new');
  await call.view.write('new.txt', 'new');
  if (answer === 'EIO') await expect(call.prepare()).rejects.toMatchObject({ code: 'file.write_failed' });
  else {
    await call.prepare();
    await call.commit();
  }
  expect(given).toEqual([[uid, gid]]);
  expect(Object.keys(snapshotTree(folder.path))).toEqual(answer === 'EIO' ? ['a.txt'] : ['a.txt', 'new.txt']);
});

test('a folder that another program creates between `prepare` and `commit` stays', async () => {
  await using folder = await makeTestFolder();
  const call = openHost(
    folder.path,
    failing((name, path) => (name === 'rename' && path.endsWith('.tmp') ? 'EIO' : undefined)),
  ).begin('c1');
  await call.view.write('shared/mine/a.txt', '');
  await call.prepare();
  await mkdir(join(folder.path, 'shared'));
  await expect(call.commit()).rejects.toMatchObject({ code: 'file.write_failed' });
  expect(Object.keys(snapshotTree(folder.path))).toEqual(['shared']);
});
