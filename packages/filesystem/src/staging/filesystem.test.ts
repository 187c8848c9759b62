import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Filesystem, FilesystemReader, StagedResource } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { makeTestFolder } from '../host/test-folder.ts';
import { memoryFilesystem } from '../memory/memory.ts';
import { hostFilesystem } from '../node.ts';
import type { FilesystemOptions } from './options.ts';

type Files = Readonly<Record<string, string | Uint8Array>>;
type Resource = StagedResource<Filesystem, FilesystemReader>;
type Use = (resource: Resource) => Promise<void>;

const kinds: readonly {
  name: string;
  withFiles(files: Files, use: Use, options?: FilesystemOptions): Promise<void>;
}[] = [
  { name: 'memory', withFiles: async (files, use, options) => use(memoryFilesystem(files, options)) },
  {
    name: 'host',
    async withFiles(files, use, options) {
      await using folder = await makeTestFolder();
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(join(folder.path, path)), { recursive: true });
        await writeFile(join(folder.path, path), content);
      }
      await use(hostFilesystem(folder.path, options));
    },
  },
];

async function paths(reader: FilesystemReader, folder?: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { path } of reader.walk(folder)) found.push(path);
  return found;
}

describe.each(kinds)('the $name filesystem', ({ withFiles }) => {
  test('shows staged writes to the same call only, until they are committed', () =>
    withFiles({ 'a.txt': 'old' }, async (resource) => {
      const call = resource.begin('c1');
      await call.view.write('./a.txt', 'new');
      await call.view.write('docs/deep/b.txt', 'b');
      expect(await call.view.readText('a.txt')).toBe('new');
      expect(await call.view.stat('docs')).toMatchObject({ type: 'directory', size: 0 });
      expect(await paths(call.view)).toEqual(['a.txt', 'docs/deep/b.txt']);
      expect(await resource.readOnly.readText('a.txt')).toBe('old');
      expect(await paths(resource.readOnly)).toEqual(['a.txt']);
      await call.prepare();
      expect(await paths(resource.readOnly)).toEqual(['a.txt']);
      await call.commit();
      expect(await resource.readOnly.readText('/a.txt')).toBe('new');
      expect(await paths(resource.readOnly)).toEqual(['a.txt', 'docs/deep/b.txt']);
    }));

  test.each(['before', 'after'])('leaves everything as it was when it is discarded %s `prepare`', (moment) =>
    withFiles({ 'a.txt': 'old', 'b/c.txt': 'c' }, async (resource) => {
      const call = resource.begin('c1');
      await call.view.write('a.txt', 'new');
      await call.view.remove('b/c.txt');
      await call.view.remove('b');
      await call.view.makeDirectory('d/e');
      if (moment === 'after') await call.prepare();
      await call.discard();
      await call.discard();
      expect(await paths(resource.readOnly)).toEqual(['a.txt', 'b/c.txt']);
      expect(await resource.readOnly.readText('a.txt')).toBe('old');
      expect(await resource.readOnly.stat('d')).toBeUndefined();
    }),
  );

  test('turns a file into a folder and a folder into a file in one call', () =>
    withFiles({ a: 'file', 'b/c': 'c' }, async (resource) => {
      const call = resource.begin('c1');
      await call.view.remove('a');
      await call.view.write('a/inner', 'inner');
      await call.view.remove('b/c');
      await call.view.remove('b');
      await call.view.write('b', 'file');
      expect(await call.view.list('')).toMatchObject([
        { name: 'a', type: 'directory' },
        { name: 'b', type: 'file' },
      ]);
      await call.prepare();
      await call.commit();
      expect(await paths(resource.readOnly)).toEqual(['a/inner', 'b']);
    }));

  test('lists in name order and walks in path order without `.git` and `node_modules`', () =>
    withFiles(
      { 'a/x': '', 'a.txt': '', 'a-b': '', '.git/config': '', 'n/node_modules/m/i.js': '', 'n/z': '', '.env': '' },
      async (resource) => {
        expect(await resource.readOnly.list('.')).toEqual([
          { path: '.env', name: '.env', type: 'file' },
          { path: '.git', name: '.git', type: 'directory' },
          { path: 'a', name: 'a', type: 'directory' },
          { path: 'a-b', name: 'a-b', type: 'file' },
          { path: 'a.txt', name: 'a.txt', type: 'file' },
          { path: 'n', name: 'n', type: 'directory' },
        ]);
        expect(await paths(resource.readOnly)).toEqual(['.env', 'a-b', 'a.txt', 'a/x', 'n/z']);
        expect(await paths(resource.readOnly, 'n')).toEqual(['n/z']);
        expect(await paths(resource.readOnly, 'a/x')).toEqual(['a/x']);
        expect(await paths(resource.readOnly, 'n/node_modules')).toEqual(['n/node_modules/m/i.js']);
      },
    ));

  test.each<{ readonly reason?: string; readonly code: string; readonly run: (view: Filesystem) => Promise<unknown> }>([
    { code: 'file.missing', run: (view) => view.read('none') },
    { code: 'file.missing', run: (view) => view.read('a.txt/none') },
    { code: 'file.missing', run: (view) => view.list('none') },
    { code: 'file.missing', run: (view) => view.list('a.txt/none/x') },
    { code: 'file.missing', run: (view) => view.remove('a.txt/none') },
    { code: 'file.missing', run: (view) => paths(view, 'none') },
    { code: 'file.missing', run: (view) => view.remove('none') },
    { code: 'file.invalid', reason: 'is_directory', run: (view) => view.read('folder') },
    { code: 'file.invalid', reason: 'is_directory', run: (view) => view.read('') },
    { code: 'file.invalid', reason: 'is_directory', run: (view) => view.write('folder', '') },
    { code: 'file.invalid', reason: 'is_directory', run: (view) => view.write('/', '') },
    { code: 'file.invalid', reason: 'not_directory', run: (view) => view.list('a.txt') },
    { code: 'file.invalid', reason: 'not_directory', run: (view) => view.write('a.txt/b', '') },
    { code: 'file.invalid', reason: 'not_directory', run: (view) => view.makeDirectory('a.txt') },
    { code: 'file.invalid', reason: 'not_directory', run: (view) => view.makeDirectory('a.txt/b') },
    { code: 'file.invalid', reason: 'not_empty', run: (view) => view.remove('folder') },
    { code: 'file.invalid', reason: 'too_large', run: (view) => view.read('large') },
    { code: 'file.invalid', reason: 'too_large', run: (view) => view.write('b', '12345678901') },
    { code: 'file.invalid', reason: 'binary', run: (view) => view.readText('binary') },
    { code: 'file.invalid', reason: 'binary', run: (view) => view.readText('nul') },
    { code: 'file.invalid', reason: 'content', run: (view) => view.write('b', '\ud800') },
    { code: 'file.invalid', reason: 'content', run: (view) => view.write('b', JSON.parse('1')) },
    { code: 'path.invalid', reason: 'escape', run: (view) => view.resolve('../x') },
    { code: 'path.invalid', reason: 'escape', run: (view) => view.stat('a/../../x') },
    { code: 'path.invalid', run: (view) => view.write('a\u0000', '') },
    { code: 'path.invalid', reason: 'protected', run: (view) => view.remove('') },
    { code: 'path.invalid', reason: 'protected', run: (view) => view.write('holdfast.lock', '') },
  ])('$code: $run', ({ code, reason, run }) =>
    withFiles(
      {
        'a.txt': '',
        'folder/x': '',
        large: '12345678901',
        binary: new Uint8Array([0x89, 0x50, 0xff]),
        nul: 'a\0b',
      },
      async (resource) => {
        const { view } = resource.begin('c1');
        // With the writing half of a call, so that the committed reader is seen to answer the same.
        for (const filesystem of [view, { ...view, ...resource.readOnly }]) {
          await expect(run(filesystem)).rejects.toMatchObject({ code, reason });
        }
      },
      { maxFileBytes: 10 },
    ),
  );

  test('keeps a byte order mark and all line endings', () =>
    withFiles({ 'a.txt': '\ufeffa\r\nb' }, async (resource) => {
      expect(await resource.readOnly.readText('a.txt')).toBe('\ufeffa\r\nb');
    }));

  test('reports the reads and writes of a call, and keeps the versions of committed files', () =>
    withFiles({ 'a.txt': 'a', 'b.txt': 'b', 'c.txt': 'c' }, async (resource) => {
      const a = await resource.readOnly.stat('a.txt');
      const b = await resource.readOnly.stat('b.txt');
      const call = resource.begin('c1');
      await call.view.read('./a.txt');
      await expect(call.view.read('none')).rejects.toMatchObject({ code: 'file.missing' });
      await call.view.stat('c.txt');
      await call.view.read('b.txt', { peek: true });
      await call.view.write('b.txt', 'changed');
      await call.view.write('new/d.txt', 'd');
      await call.view.write('gone.txt', '');
      await call.view.remove('gone.txt');
      await call.view.remove('a.txt');
      const after = (await call.view.stat('b.txt'))?.version;
      const created = (await call.view.stat('new/d.txt'))?.version;
      expect(call.touched()).toEqual({
        reads: [
          { key: 'a.txt', version: a?.version },
          { key: 'none', version: null },
        ],
        writes: [
          { key: 'b.txt', before: b?.version, after },
          { key: 'new/d.txt', before: null, after: created },
          { key: 'a.txt', before: a?.version, after: null },
        ],
      });
      await call.prepare();
      await call.commit();
      expect((await resource.readOnly.stat('b.txt'))?.version).toBe(after);
      expect((await resource.readOnly.stat('new/d.txt'))?.version).toBe(created);
      expect(after).not.toBe(b?.version);
    }));

  test('rejects a commit over changes of another call, and keeps those', () =>
    withFiles({ 'a.txt': 'a' }, async (resource) => {
      const slow = resource.begin('slow');
      await slow.view.readText('a.txt');
      const quick = resource.begin('quick');
      await quick.view.write('a.txt', 'quick');
      await quick.prepare();
      await quick.commit();
      await slow.view.write('b.txt', 'built on an old a.txt');
      await expect(slow.prepare()).rejects.toMatchObject({ code: 'file.conflict' });
      await slow.discard();
      expect(await paths(resource.readOnly)).toEqual(['a.txt']);
      expect(await resource.readOnly.readText('a.txt')).toBe('quick');
    }));

  test('of two calls that prepare the same file, only one succeeds', () =>
    withFiles({ 'a.txt': 'a' }, async (resource) => {
      const calls = [resource.begin('c1'), resource.begin('c2')];
      for (const [index, { view }] of calls.entries()) await view.write('a.txt', `call ${index}`);
      const results = await Promise.allSettled(calls.map(async (call) => call.prepare()));
      expect(results).toMatchObject([
        { status: 'fulfilled' },
        { status: 'rejected', reason: { code: 'file.conflict' } },
      ]);
      await calls[0]?.discard();
      await calls[1]?.discard();
      const third = resource.begin('c3');
      await third.view.write('a.txt', 'third');
      await third.prepare();
      await third.commit();
      expect(await resource.readOnly.readText('a.txt')).toBe('third');
    }));

  test('ignores changes of files that were only peeked at', () =>
    withFiles({ 'a.txt': 'a' }, async (resource) => {
      const searching = resource.begin('searching');
      await searching.view.read('a.txt', { peek: true });
      const quick = resource.begin('quick');
      await quick.view.write('a.txt', 'quick');
      await quick.prepare();
      await quick.commit();
      await searching.view.write('found.txt', 'x');
      await searching.prepare();
      await searching.commit();
      expect(searching.touched()).toMatchObject({ reads: [], writes: [{ key: 'found.txt' }] });
    }));

  test('F26: what a quick call committed survives the failure of a slow one', () =>
    withFiles({}, async (resource) => {
      const slow = resource.begin('slow');
      await slow.view.write('slow.txt', 'slow');
      const quick = resource.begin('quick');
      await quick.view.write('quick.txt', 'quick');
      await quick.prepare();
      await quick.commit();
      await slow.discard();
      expect(await paths(resource.readOnly)).toEqual(['quick.txt']);
    }));

  test.each(['commit', 'discard'])('cannot be used after %s', (end) =>
    withFiles({ a: '' }, async (resource) => {
      const call = resource.begin('c1');
      const { view } = call;
      await view.write('b', '');
      const walk = view.walk()[Symbol.asyncIterator]();
      await walk.next();
      if (end === 'commit') {
        await call.prepare();
        await call.commit();
      } else await call.discard();
      for (const late of [
        () => view.resolve('a'),
        () => view.stat('a'),
        () => view.read('a'),
        () => view.readText('a'),
        () => view.list(''),
        () => paths(view),
        () => view.write('a', 'late'),
        () => view.remove('a'),
        () => view.makeDirectory('c'),
        async () => call.prepare(),
        async () => call.commit(),
      ]) {
        await expect(late()).rejects.toMatchObject({ code: 'context.closed' });
      }
      expect(await resource.readOnly.readText('a')).toBe('');
    }),
  );

  test('drops a write that was still under way when the call ended', () =>
    withFiles({}, async (resource) => {
      const call = resource.begin('c1');
      const late = call.view.write('late', '');
      await call.prepare();
      await call.commit();
      await expect(late).rejects.toMatchObject({ code: 'context.closed' });
      expect(await paths(resource.readOnly)).toEqual([]);
    }));

  test('must be prepared before it is committed', () =>
    withFiles({}, async (resource) => {
      const call = resource.begin('c1');
      await call.view.write('a', '');
      expect(() => call.commit()).toThrow(
        expect.objectContaining({ code: 'resource.invalid', reason: 'not_prepared' }),
      );
    }));

  test('two parallel writes see the staged changes of each other', () =>
    withFiles({}, async (resource) => {
      const { view } = resource.begin('c1');
      const results = await Promise.allSettled([view.write('a', ''), view.write('a/b', '')]);
      expect(results).toMatchObject([
        { status: 'fulfilled' },
        { reason: { code: 'file.invalid', reason: 'not_directory' } },
      ]);
    }));

  test('returns copies, so changing them changes no file', () =>
    withFiles({ a: 'abc' }, async (resource) => {
      const call = resource.begin('c1');
      (await call.view.read('a')).fill(0);
      const content = new TextEncoder().encode('xyz');
      await call.view.write('b', content);
      content.fill(0);
      (await call.view.read('b')).fill(0);
      expect([await call.view.readText('a'), await call.view.readText('b')]).toEqual(['abc', 'xyz']);
    }));

  test('has one key for the forms of a Unicode name', () =>
    withFiles({ 'caf\u00e9.txt': 'x' }, async (resource) => {
      expect(await resource.readOnly.resolve('cafe\u0301.txt')).toBe('caf\u00e9.txt');
      expect(await resource.readOnly.readText('cafe\u0301.txt')).toBe('x');
    }));

  test.each([0, -1, 1.5, Number.NaN])('options.invalid: maxFileBytes %s', async (maxFileBytes) => {
    await expect(withFiles({}, async () => undefined, { maxFileBytes })).rejects.toMatchObject({
      code: 'options.invalid',
    });
  });
});
