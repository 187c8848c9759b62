import { join } from 'node:path';
import type { Filesystem } from '@holdfast/core';
import { expect, inject, test } from 'vitest';
import { type Changes, changesDisk, hitEach, runUndisturbed, type Sweep, type Tree } from './test-crashes.ts';
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
  for (const path of ['old/deep/d.txt', 'old/deep', 'old/c.txt', 'old']) await view.remove(path);
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
  'change names in another Unicode form': async (view) => {
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

/** Every step in `npm run long`; in `npm test` every sixth, with a different offset per fault. */
const stride = inject('long') > 0 ? 1 : 6;

test.each(Object.keys(calls))(
  'recovery after an error or a crash at any step of a call is atomic: %s',
  async (name) => {
    await using folder = await makeTestFolder();
    const root = join(folder.path, 'root');
    const changes = calls[name] ?? (() => Promise.reject(new Error(name)));
    const undisturbed = await runUndisturbed(root, start, changes);
    const withoutLinks = await runUndisturbed(root, start, changes, { links: false });
    let sweep = 0;
    const hit = (fault: Sweep, run = undisturbed): Promise<number> => {
      sweep += 1;
      return hitEach(root, run, { stride, first: sweep, ...fault });
    };
    for (const committed of [true, false]) {
      // If nothing can have been recorded, both answers are the same.
      const chosen = committed ? () => true : changesDisk;
      expect(await hit({ kind: 'error', committed, chosen })).toBeGreaterThan(stride === 1 ? 4 : 0);
      expect(await hit({ kind: 'crash', committed, chosen: changesDisk })).toBeGreaterThan(stride === 1 ? 4 : 0);
      const isWrite = (step: string): boolean => step === 'handle.writeFile';
      expect(await hit({ kind: 'torn', committed, chosen: isWrite, stride: 1 })).toBeGreaterThan(1);
      await hit({ kind: 'crash', links: false, committed, chosen: changesDisk }, withoutLinks);
    }
  },
);
