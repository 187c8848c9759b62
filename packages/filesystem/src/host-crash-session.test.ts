import { join } from 'node:path';
import type { Filesystem } from '@holdfast/core';
import { expect, test } from 'vitest';
import { type Changes, changesDisk, hitEach, runUndisturbed, type Tree } from './test-crashes.ts';
import { makeTestFolder } from './test-folder.ts';

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
