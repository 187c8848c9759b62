import { existsSync, readdirSync } from 'node:fs';
import * as promises from 'node:fs/promises';
import { link, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { FilesystemReader } from '@holdfast/core';
import { expect, test } from 'vitest';
import { hostFilesystem } from '../node.ts';
import { createProtection } from '../paths/protection.ts';
import { createStagedFilesystem } from '../staging/transaction.ts';
import { createHostBackend } from './backend.ts';
import type { HostOperations } from './folder.ts';
import { makeTestFolder } from './test-folder.ts';

function fold(name: string): string {
  return name.normalize('NFD').toLowerCase();
}

/** The path in the spelling on disk, as a disk finds it that folds letter case and Unicode form. */
function findOnDisk(path: string): string {
  if (path === dirname(path) || existsSync(path)) return path;
  const folder = findOnDisk(dirname(path));
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return join(folder, names.find((name) => fold(name) === fold(basename(path))) ?? basename(path));
}

/** The result of `realpath` on a disk that folds names. */
type Realpath = 'as asked' | 'as on disk';

/**
 * Operations as on a disk that folds names. `realpath` returns the requested spelling, as on Linux, or the spelling on disk, as on macOS.
 */
function foldingOperations(kind: Realpath): HostOperations {
  const folding = <Run extends (...parameters: never[]) => unknown>(run: Run): Run => {
    const wrapped = (...parameters: Parameters<Run>) =>
      run(
        ...(parameters.map((parameter: unknown) =>
          typeof parameter === 'string' && parameter.startsWith('/') ? findOnDisk(parameter) : parameter,
        ) as Parameters<Run>),
      );
    // The same parameters and result as `run`, whose overloads TypeScript cannot carry over.
    return wrapped as unknown as Run;
  };
  const realpath = async (path: string) => {
    const real = await promises.realpath(findOnDisk(path));
    // The target of a link is not the requested path.
    return kind === 'as asked' && fold(real) === fold(path) ? path : real;
  };
  return {
    access: folding(promises.access),
    chmod: folding(promises.chmod),
    link: folding(promises.link),
    lstat: folding(promises.lstat),
    mkdir: folding(promises.mkdir),
    open: folding(promises.open),
    readdir: folding(promises.readdir),
    readlink: folding(promises.readlink),
    realpath: realpath as HostOperations['realpath'],
    rename: folding(promises.rename),
    rmdir: folding(promises.rmdir),
    unlink: folding(promises.unlink),
  };
}

function openFolding(root: string, kind: Realpath) {
  return createStagedFilesystem(createHostBackend(root, foldingOperations(kind), 1000), createProtection([]), 1000);
}

async function walked(reader: FilesystemReader): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { path } of reader.walk()) found.push(path);
  return found;
}

const kinds: readonly Realpath[] = ['as asked', 'as on disk'];

test.each(kinds)(
  'E13: on a disk that folds names, all spellings of a file have the key on disk (realpath %s)',
  async (kind) => {
    await using folder = await makeTestFolder();
    await mkdir(join(folder.path, 'Docs'));
    await writeFile(join(folder.path, 'Docs/Read Me.txt'), 'old');
    await writeFile(join(folder.path, 'Docs/\u00c9t\u00e9'), 'old');
    await symlink('Docs/Read Me.txt', join(folder.path, 'alias'));
    const resource = openFolding(folder.path, kind);
    for (const path of ['Docs/Read Me.txt', 'docs/READ ME.TXT', 'DOCS/read me.txt', './dOCS//Read me.TXT', 'ALIAS']) {
      expect(await resource.readOnly.resolve(path)).toBe('Docs/Read Me.txt');
    }
    for (const path of ['docs/\u00c9T\u00c9', 'docs/e\u0301te\u0301']) {
      expect(await resource.readOnly.resolve(path)).toBe('Docs/\u00c9t\u00e9');
    }
    expect(await resource.readOnly.resolve('docs/New.txt')).toBe('Docs/New.txt');
    const call = resource.begin('c1');
    await call.view.readText('docs/read me.txt');
    await call.view.write('DOCS/READ ME.TXT', 'new');
    expect(call.touched()).toMatchObject({
      reads: [{ key: 'Docs/Read Me.txt' }],
      writes: [{ key: 'Docs/Read Me.txt' }],
    });
    expect(await call.view.readText('docs/Read me.txt')).toBe('new');
    await call.prepare();
    await call.commit();
    expect(await walked(resource.readOnly)).toEqual(['Docs/Read Me.txt', 'Docs/\u00c9t\u00e9']);
    expect(await resource.readOnly.readText('docs/read me.txt')).toBe('new');
  },
);

test.each(kinds)(
  'on a disk that folds names, staged files have one key in the call and in nested ones (realpath %s)',
  async (kind) => {
    await using folder = await makeTestFolder();
    await writeFile(join(folder.path, 'other'), '');
    const resource = openFolding(folder.path, kind);
    const call = resource.begin('c1');
    await call.view.write('New/a.txt', 'first');
    await call.view.write('NEW/A.TXT', 'second');
    await call.view.write('new/B.txt', 'b');
    const nested = call.begin('c2');
    expect(await nested.view.resolve('new/b.TXT')).toBe('New/B.txt');
    await nested.view.remove('new/b.txt');
    await nested.prepare();
    await nested.commit();
    expect(call.touched().writes).toMatchObject([{ key: 'New/a.txt', before: null }]);
    await call.prepare();
    await call.commit();
    expect(await walked(resource.readOnly)).toEqual(['New/a.txt', 'other']);
    expect(await resource.readOnly.readText('new/A.txt')).toBe('second');
  },
);

test('on a disk that folds names, an empty folder is treated like its parent, and the root like its location', async () => {
  await using folder = await makeTestFolder();
  const resource = openFolding(folder.path, 'as asked');
  const call = resource.begin('c1');
  await call.view.makeDirectory('empty');
  await call.view.write('empty/a.txt', '');
  expect(await call.view.resolve('EMPTY/A.txt')).toBe('empty/a.txt');
});

test('on a disk that does not fold names, two spellings are two files', async () => {
  await using folder = await makeTestFolder();
  await writeFile(join(folder.path, 'a.txt'), 'lower');
  const resource = hostFilesystem(folder.path);
  const call = resource.begin('c1');
  await call.view.write('A.TXT', 'upper');
  await call.view.write('b/C', 'upper');
  await call.view.write('b/c', 'lower');
  expect(await call.view.resolve('a.TXT')).toBe('a.TXT');
  await call.prepare();
  await call.commit();
  expect((await readdir(folder.path)).sort()).toEqual(['A.TXT', 'a.txt', 'b']);
  expect(await resource.readOnly.readText('a.txt')).toBe('lower');
  expect(await resource.readOnly.readText('A.TXT')).toBe('upper');
  expect(await resource.readOnly.list('b')).toHaveLength(2);
});

test('two names of one file that differ only in letter case stay separate, and do not indicate a folding disk', async () => {
  await using folder = await makeTestFolder();
  await writeFile(join(folder.path, 'a.txt'), 'one');
  await link(join(folder.path, 'a.txt'), join(folder.path, 'A.TXT'));
  const resource = hostFilesystem(folder.path);
  expect(await resource.readOnly.resolve('a.txt')).toBe('a.txt');
  expect(await resource.readOnly.resolve('A.TXT')).toBe('A.TXT');
  const { view } = resource.begin('c1');
  await view.write('b.txt', '');
  expect(await view.resolve('B.txt')).toBe('B.txt');
});
