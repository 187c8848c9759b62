import { join } from 'node:path';
import type { Filesystem } from '@holdfast/core';
import { expect, test } from 'vitest';
import { type Changes, changesDisk, hitEach, runUndisturbed, type Tree } from './test-crashes.ts';
import { makeTestFolder } from './test-folder.ts';

function file(text: string, mode = '644'): string {
  return `file ${mode} ${Buffer.from(text).toString('base64')}`;
}

const start: Tree = {
  'a.txt': file('a', '640'),
  'b.txt': file('b', '755'),
  empty: 'folder 711',
  old: 'folder 750',
  'old/c.txt': file('c', '600'),
  'large.bin': file('x'.repeat(2000)),
  'old/deep': 'folder 2755',
  'old/deep/d.txt': file('d'),
  'a\u0308': 'folder 755',
  'a\u0308/u\u0308.txt': file('u'),
  'o\u0308.txt': file('o'),
};

async function removeOld(view: Filesystem): Promise<void> {
  await removeAll(view, ['old/deep/d.txt', 'old/deep', 'old/c.txt', 'old']);
}

const calls: Readonly<Record<string, Changes>> = {
  'write one file': (view) => view.write('new.txt', 'new'),
  'create nested folders and three files': async (view) => {
    await view.write('x/y/1.txt', '1');
    await view.write('x/y/2.txt', '2');
    await view.write('x/z/3.txt', '3');
  },
  'replace a file': (view) => view.write('a.txt', 'changed'),
  'replace a file by the same content': (view) => view.write('a.txt', 'a'),
  'delete a file': (view) => view.remove('b.txt'),
  'delete a file that is too large to be read': (view) => view.remove('large.bin'),
  'what has names in another form': async (view) => {
    await view.remove('\u00e4/\u00fc.txt');
    await view.remove('\u00e4');
    await view.write('\u00f6.txt', 'changed');
  },
  'delete folders': async (view) => {
    await removeOld(view);
    await view.remove('empty');
  },
  'a folder for a file, a file for a folder': async (view) => {
    await removeOld(view);
    await view.write('old', 'a file now');
    await view.remove('b.txt');
    await view.write('b.txt/inner.txt', 'a folder now');
    await view.write('a.txt', 'changed');
    await view.makeDirectory('made');
  },
};

test.each(Object.keys(calls))(
  'after an error or a crash at any step of a call, another process makes it all or nothing: %s',
  { timeout: 60_000 },
  async (name) => {
    await using folder = await makeTestFolder();
    const root = join(folder.path, 'root');
    const changes = calls[name] ?? (() => Promise.reject(new Error(name)));
    const undisturbed = await runUndisturbed(root, start, changes);
    const withoutLinks = await runUndisturbed(root, start, changes, { links: false });
    for (const committed of [true, false]) {
      const hit = (fault: Parameters<typeof hitEach>[2]) => hitEach(root, undisturbed, fault);
      expect(await hit({ kind: 'error', committed, chosen: () => true })).toBeGreaterThan(15);
      expect(await hit({ kind: 'crash', committed, chosen: changesDisk })).toBeGreaterThan(4);
      expect(await hit({ kind: 'torn', committed, chosen: (step) => step === 'handle.writeFile' })).toBeGreaterThan(1);
      await hitEach(root, withoutLinks, { kind: 'crash', links: false, committed, chosen: changesDisk });
    }
  },
);

async function removeAll(view: Filesystem, paths: readonly string[]): Promise<void> {
  for (const path of paths) await view.remove(path);
}

/** Each finds what the one before left, and the last leaves nothing, so that there is never much to compare. */
const story: readonly ((view: Filesystem, text: string) => Promise<unknown>)[] = [
  (view, text) => view.write('f', text),
  async (view, text) => {
    for (const path of ['x/y/1', 'x/y/2', 'x/z/3']) await view.write(path, text);
  },
  (view, text) => view.write('f', text),
  (view) => view.remove('x/y/1'),
  async (view, text) => {
    await removeAll(view, ['x/y/2', 'x/y', 'f']);
    await view.write('x/y', text);
    await view.makeDirectory('f');
  },
  async (view, text) => {
    await view.write('f/inner', text);
    await view.write('x/y', text);
  },
  async (view, text) => {
    await view.remove('x/y');
    await view.write('x/y/4', text);
  },
  async (view, text) => {
    await removeAll(view, ['f/inner', 'f']);
    await view.write('f', text);
  },
  async (view, text) => {
    for (const path of ['f', 'x/z/3', 'g']) await view.write(path, text);
  },
  (view) => removeAll(view, ['x/z/3', 'x/z', 'x/y/4', 'x/y', 'x', 'f', 'g']),
];

test('a crash at any step of fifty calls', { timeout: 120_000 }, async () => {
  await using folder = await makeTestFolder();
  const root = join(folder.path, 'root');
  let before: Tree = {};
  let hits = 0;
  for (let index = 0; index < 50; index += 1) {
    const changes: Changes = async (view) => story[index % story.length]?.(view, `text ${index}`);
    const undisturbed = await runUndisturbed(root, before, changes);
    for (const committed of [true, false]) {
      hits += await hitEach(root, undisturbed, { kind: 'crash', committed, chosen: changesDisk });
    }
    hits += await hitEach(root, undisturbed, { kind: 'error', committed: index % 2 === 0, chosen: changesDisk });
    before = undisturbed.after;
  }
  expect(hits).toBeGreaterThan(1000);
});
