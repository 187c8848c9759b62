import type { Filesystem, FilesystemReader, ResourceTransaction, StagedResource } from '@holdfast/core';
import { describe, expect, test } from 'vitest';
import { makeTestFolder } from '../host/test-folder.ts';
import { memoryFilesystem } from '../memory/memory.ts';
import { hostFilesystem } from '../node.ts';

type Resource = StagedResource<Filesystem, FilesystemReader>;
type Transaction = ResourceTransaction<Filesystem, FilesystemReader>;

const kinds: readonly { name: string; withFiles(use: (resource: Resource) => Promise<void>): Promise<void> }[] = [
  { name: 'memory', withFiles: async (use) => use(await fill(memoryFilesystem())) },
  {
    name: 'host',
    async withFiles(use) {
      await using folder = await makeTestFolder();
      await use(await fill(hostFilesystem(folder.path)));
    },
  },
];

/** `a.txt`, `b.txt` and the empty folder `empty`. */
async function fill(resource: Resource): Promise<Resource> {
  const call = resource.begin('seed');
  await call.view.write('a.txt', 'a');
  await call.view.write('b.txt', 'b');
  await call.view.makeDirectory('empty');
  await commit(call);
  return resource;
}

async function commit(transaction: Transaction): Promise<void> {
  await transaction.prepare();
  await transaction.commit();
}

async function tree(reader: FilesystemReader): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for await (const { path } of reader.walk()) files[path] = await reader.readText(path);
  return files;
}

interface Turns {
  readonly first: (view: Filesystem) => Promise<void>;
  readonly second: (view: Filesystem) => Promise<void>;
  /** The second one prepares before the first commits. */
  readonly together: boolean;
}

async function takeTurns(ground: Pick<Transaction, 'begin'>, { first, second, together }: Turns): Promise<void> {
  const one = ground.begin('one');
  const other = ground.begin('other');
  await first(one.view);
  await second(other.view);
  await one.prepare();
  if (!together) await one.commit();
  await expect(other.prepare()).rejects.toMatchObject({ code: 'file.conflict' });
  if (together) await one.commit();
  await other.discard();
}

describe.each(kinds)('a nested transaction of the $name filesystem', ({ withFiles }) => {
  test('reads what the outer one staged, and gives the outer one its own writes when it commits', () =>
    withFiles(async (resource) => {
      const outer = resource.begin('outer');
      await outer.view.write('a.txt', 'outer');
      const inner = outer.begin('inner');
      expect(await inner.view.readText('a.txt')).toBe('outer');
      await inner.view.write('new/c.txt', 'inner');
      await inner.view.remove('b.txt');
      expect(await tree(outer.view)).toEqual({ 'a.txt': 'outer', 'b.txt': 'b' });
      await inner.prepare();
      expect(await tree(outer.view)).toEqual({ 'a.txt': 'outer', 'b.txt': 'b' });
      await inner.commit();
      expect(await tree(outer.view)).toEqual({ 'a.txt': 'outer', 'new/c.txt': 'inner' });
      expect(await tree(resource.readOnly)).toEqual({ 'a.txt': 'a', 'b.txt': 'b' });
      await commit(outer);
      expect(await tree(resource.readOnly)).toEqual({ 'a.txt': 'outer', 'new/c.txt': 'inner' });
    }));

  test('drops its own writes alone when it is discarded', () =>
    withFiles(async (resource) => {
      const outer = resource.begin('outer');
      await outer.view.write('a.txt', 'outer');
      for (const prepared of [false, true]) {
        const inner = outer.begin('inner');
        await inner.view.write('a.txt', 'inner');
        await inner.view.write('empty/x', 'inner');
        if (prepared) await inner.prepare();
        await inner.discard();
        expect(await tree(outer.readOnly)).toEqual({ 'a.txt': 'outer', 'b.txt': 'b' });
      }
      expect(outer.touched()).toMatchObject({ reads: [], writes: [{ key: 'a.txt' }] });
      await commit(outer);
      expect(await tree(resource.readOnly)).toEqual({ 'a.txt': 'outer', 'b.txt': 'b' });
    }));

  test('tells with its versions what it touched, and the outer one tells it with those before the whole call', () =>
    withFiles(async (resource) => {
      const version = async (reader: FilesystemReader, path: string) => (await reader.stat(path))?.version ?? null;
      const before = { a: await version(resource.readOnly, 'a.txt'), b: await version(resource.readOnly, 'b.txt') };
      const outer = resource.begin('outer');
      await outer.view.write('a.txt', 'outer');
      const between = await version(outer.readOnly, 'a.txt');
      const inner = outer.begin('inner');
      await inner.view.readText('a.txt');
      await inner.view.readText('b.txt');
      await inner.view.write('a.txt', 'inner');
      await inner.view.write('new/c.txt', 'c');
      const after = await version(inner.readOnly, 'a.txt');
      const created = await version(inner.readOnly, 'new/c.txt');
      expect(inner.touched()).toEqual({
        reads: [
          { key: 'a.txt', version: between },
          { key: 'b.txt', version: before.b },
        ],
        writes: [
          { key: 'a.txt', before: between, after },
          { key: 'new/c.txt', before: null, after: created },
        ],
      });
      await commit(inner);
      expect(outer.touched()).toEqual({
        // The nested call read the outer call's own write, not the file.
        reads: [{ key: 'b.txt', version: before.b }],
        writes: [
          { key: 'a.txt', before: before.a, after },
          { key: 'new/c.txt', before: null, after: created },
        ],
      });
    }));

  test('its reads count for the conflict check of the outer one', () =>
    withFiles(async (resource) => {
      const outer = resource.begin('outer');
      const inner = outer.begin('inner');
      await inner.view.readText('a.txt');
      await commit(inner);
      const other = resource.begin('other');
      await other.view.write('a.txt', 'other');
      await commit(other);
      await outer.view.write('b.txt', 'built on the old a.txt');
      await expect(outer.prepare()).rejects.toMatchObject({ code: 'file.conflict', data: { path: 'a.txt' } });
      await outer.discard();
      expect(await tree(resource.readOnly)).toEqual({ 'a.txt': 'other', 'b.txt': 'b' });
    }));

  test('reads of policies are not recorded, and see staged files', () =>
    withFiles(async (resource) => {
      const outer = resource.begin('outer');
      await outer.view.write('empty/new.txt', 'new');
      const inner = outer.begin('inner');
      await inner.view.remove('a.txt');
      expect(await tree(outer.readOnly)).toEqual({ 'a.txt': 'a', 'b.txt': 'b', 'empty/new.txt': 'new' });
      expect(await tree(inner.readOnly)).toEqual({ 'b.txt': 'b', 'empty/new.txt': 'new' });
      await inner.readOnly.stat('b.txt');
      expect(inner.touched()).toMatchObject({ reads: [], writes: [{ key: 'a.txt', after: null }] });
      await commit(inner);
      expect(outer.touched().reads).toEqual([]);
      expect(outer.readOnly).not.toHaveProperty('write');
      const other = resource.begin('other');
      await other.view.write('b.txt', 'other');
      await commit(other);
      await commit(outer);
    }));

  test.each(['prepare', 'discard'])('ends when the outer one ends with %s', (end) =>
    withFiles(async (resource) => {
      const outer = resource.begin('outer');
      const prepared = outer.begin('prepared');
      await prepared.view.write('a.txt', 'lost');
      await prepared.prepare();
      const inner = outer.begin('inner');
      const innermost = inner.begin('innermost');
      await innermost.view.write('b.txt', 'lost');
      await outer.view.write('c.txt', 'c');
      await (end === 'prepare' ? commit(outer) : outer.discard());
      for (const late of [
        async () => prepared.commit(),
        async () => inner.prepare(),
        async () => innermost.prepare(),
        async () => innermost.begin('late'),
        async () => outer.begin('late'),
        () => innermost.view.write('a.txt', 'late'),
        () => innermost.readOnly.readText('a.txt'),
        () => outer.readOnly.readText('a.txt'),
      ]) {
        await expect(late()).rejects.toMatchObject({ code: 'context.closed' });
      }
      await prepared.discard();
      await innermost.discard();
      const kept = { 'a.txt': 'a', 'b.txt': 'b' };
      expect(await tree(resource.readOnly)).toEqual(end === 'prepare' ? { ...kept, 'c.txt': 'c' } : kept);
    }),
  );

  test('cannot commit any more when the outer one ends meanwhile', () =>
    withFiles(async (resource) => {
      const outer = resource.begin('outer');
      const inner = outer.begin('inner');
      await inner.view.write('a.txt', 'inner');
      await inner.prepare();
      const late = Promise.resolve(inner.commit());
      await Promise.all([commit(outer), expect(late).rejects.toMatchObject({ code: 'context.closed' })]);
      expect(await tree(resource.readOnly)).toEqual({ 'a.txt': 'a', 'b.txt': 'b' });
    }));

  test.each<{ what: string } & Omit<Turns, 'together'>>([
    {
      what: 'write the same file',
      first: (view) => view.write('a.txt', 'first'),
      second: (view) => view.write('a.txt', 'second'),
    },
    {
      what: 'create the same file',
      first: (view) => view.write('new/c.txt', 'first'),
      second: (view) => view.write('new/c.txt', 'second'),
    },
    {
      what: 'write a file that the other one read',
      first: (view) => view.write('a.txt', 'first'),
      second: async (view) => view.write('c.txt', await view.readText('a.txt')),
    },
    {
      what: 'remove a folder that the other one writes to',
      first: (view) => view.write('empty/c.txt', 'first'),
      second: (view) => view.remove('empty'),
    },
    {
      what: 'write to a folder that the other one removed',
      first: (view) => view.remove('empty'),
      second: (view) => view.write('empty/c.txt', 'second'),
    },
    {
      what: 'make a file where the other one makes a folder on its way',
      first: (view) => view.write('new', 'first'),
      second: (view) => view.write('new/c.txt', 'second'),
    },
    {
      what: 'make a folder on the way where the other one makes a file',
      first: (view) => view.write('new/c.txt', 'first'),
      second: (view) => view.write('new', 'second'),
    },
  ])('two at once that $what: the second one fails', ({ first, second }) =>
    withFiles(async (resource) => {
      const expected = resource.begin('expected');
      await first(expected.view);
      const files = await tree(expected.view);
      for (const together of [true, false]) {
        const outer = resource.begin('outer');
        await takeTurns(outer, { first, second, together });
        expect(await tree(outer.readOnly)).toEqual(files);
        await outer.discard();
      }
      // The same holds for two calls side by side.
      await takeTurns(resource, { first, second, together: true });
      expect(await tree(resource.readOnly)).toEqual(files);
    }),
  );

  test.each([false, true])('two at once over different files both survive (prepared together: %s)', (together) =>
    withFiles(async (resource) => {
      const outer = resource.begin('outer');
      const one = outer.begin('one');
      const other = outer.begin('other');
      await one.view.write('new/one.txt', await one.view.readText('b.txt'));
      await other.view.write('new/other.txt', await other.view.readText('b.txt'));
      await one.view.write('a.txt', 'one');
      if (together) {
        await Promise.all([one.prepare(), other.prepare()]);
        await Promise.all([one.commit(), other.commit()]);
      } else {
        await commit(one);
        await commit(other);
      }
      await commit(outer);
      const files = { 'a.txt': 'one', 'b.txt': 'b', 'new/one.txt': 'b', 'new/other.txt': 'b' };
      expect(await tree(resource.readOnly)).toEqual(files);
    }),
  );

  test('one that wrote nothing survives a change to what it read', () =>
    withFiles(async (resource) => {
      const outer = resource.begin('outer');
      const reading = outer.begin('reading');
      await reading.view.readText('a.txt');
      const writing = outer.begin('writing');
      await writing.view.write('a.txt', 'writing');
      await commit(writing);
      await commit(reading);
      expect(outer.touched()).toMatchObject({ reads: [{ key: 'a.txt' }], writes: [{ key: 'a.txt' }] });
      await commit(outer);
      expect(await resource.readOnly.readText('a.txt')).toBe('writing');
    }));

  test('the outer one cannot change a file that a nested one has prepared', () =>
    withFiles(async (resource) => {
      const outer = resource.begin('outer');
      const inner = outer.begin('inner');
      await inner.view.write('new/a.txt', 'inner');
      await inner.prepare();
      for (const path of ['new/a.txt', 'new']) {
        await expect(outer.view.write(path, 'outer')).rejects.toMatchObject({ code: 'file.conflict' });
      }
      await outer.view.write('new/b.txt', 'outer');
      // Started before the commit, finished after it.
      const writing = outer.view.write('new/c.txt', 'outer');
      await inner.commit();
      await writing;
      await outer.view.write('new/a.txt', 'outer');
      expect(await tree(outer.view)).toMatchObject({
        'new/a.txt': 'outer',
        'new/b.txt': 'outer',
        'new/c.txt': 'outer',
      });
    }));

  test('a folder that the outer one created implicitly is not lost through a nested one', () =>
    withFiles(async (resource) => {
      const outer = resource.begin('outer');
      await outer.view.write('new/c.txt', 'c');
      const inner = outer.begin('inner');
      await inner.view.remove('new/c.txt');
      await inner.view.remove('new');
      await commit(inner);
      const other = resource.begin('other');
      await other.view.makeDirectory('new');
      await commit(other);
      await expect(outer.prepare()).rejects.toMatchObject({ code: 'file.conflict' });
    }));
});
