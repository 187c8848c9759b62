import { join } from 'node:path';
import type { Filesystem } from '@holdfast/core';
import { expect, inject, test } from 'vitest';
import { type Changes, changesDisk, hitEach, runUndisturbed, type Sweep, type Tree } from './test-crashes.ts';
import { makeTestFolder } from './test-folder.ts';

async function removeAll(view: Filesystem, paths: readonly string[]): Promise<void> {
  for (const path of paths) await view.remove(path);
}

/** Each call finds the result of the previous one, and the last leaves nothing, so the trees to compare stay small. */
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

/** One for each run of the story. */
const hits: readonly Omit<Sweep, 'chosen'>[] = [
  { kind: 'crash', committed: true },
  { kind: 'crash', committed: false },
  { kind: 'error', committed: true },
  { kind: 'error', committed: false },
  { kind: 'crash', committed: true, links: false },
];

test('an error or a crash at any step of fifty calls', async () => {
  // Every step in `npm run long`; in `npm test` every eighth, with a different offset per call.
  const stride = inject('long') > 0 ? 1 : 8;
  await using folder = await makeTestFolder();
  const root = join(folder.path, 'root');
  let before: Tree = {};
  let count = 0;
  for (const [told, hit] of hits.entries()) {
    for (const [index, part] of story.entries()) {
      const changes: Changes = (view) => part(view, `text ${told}`);
      const undisturbed = await runUndisturbed(root, before, changes, { links: hit.links ?? true });
      count += await hitEach(root, undisturbed, { ...hit, chosen: changesDisk, stride, first: index + told });
      before = undisturbed.after;
    }
  }
  expect(before).toEqual({});
  expect(count).toBeGreaterThan(500 / stride);
});
