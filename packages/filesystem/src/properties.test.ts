import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Filesystem, isHoldfastError } from '@holdfast/core';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { memoryFilesystem } from './memory.ts';
import { hostFilesystem } from './node.ts';
import { makeTestFolder, snapshotTree, type TestFolder } from './test-folder.ts';

/** What a filesystem is, in its simplest form: by key the text of a file, or `null` for a folder. */
type Tree = ReadonlyMap<string, string | null>;

type Step =
  | { readonly type: 'write'; readonly path: string; readonly text: string }
  | { readonly type: 'remove' | 'makeDirectory'; readonly path: string };

const path = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: fc.constant('write' as const), path, text: fc.constantFrom('', 'x', 'yy') }),
  fc.record({ type: fc.constantFrom('remove' as const, 'makeDirectory' as const), path }),
);
const steps = fc.array(step, { maxLength: 20 });

function isFolder(tree: Tree, key: string): boolean {
  return key === '' || tree.get(key) === null;
}

function ancestors(key: string): string[] {
  const names = key.split('/');
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'));
}

/** The tree after a step; `undefined` when the step must be refused. */
function applyToModel(tree: Tree, { type, ...change }: Step): Tree | undefined {
  const { path: key } = change;
  const next = new Map(tree);
  if (type === 'remove') {
    const inner = [...tree.keys()].some((other) => other.startsWith(`${key}/`));
    return next.delete(key) && !inner ? next : undefined;
  }
  if (ancestors(key).some((folder) => typeof tree.get(folder) === 'string')) return undefined;
  if ('text' in change ? isFolder(tree, key) : typeof tree.get(key) === 'string') return undefined;
  for (const folder of ancestors(key)) next.set(folder, null);
  return next.set(key, 'text' in change ? change.text : null);
}

async function applyToView(view: Filesystem, change: Step): Promise<boolean> {
  try {
    await ('text' in change ? view.write(change.path, change.text) : view[change.type](change.path));
    return true;
  } catch (error) {
    if (isHoldfastError(error) && error.code.startsWith('file.')) return false;
    throw error;
  }
}

async function readTree(view: Pick<Filesystem, 'list' | 'readText'>, folder = ''): Promise<Map<string, string | null>> {
  const tree = new Map<string, string | null>();
  for (const { path: key, type } of await view.list(folder)) {
    tree.set(key, type === 'file' ? await view.readText(key) : null);
    if (type === 'directory') for (const [inner, text] of await readTree(view, key)) tree.set(inner, text);
  }
  return tree;
}

function toTree(changes: readonly Step[]): Tree {
  return changes.reduce<Tree>((tree, change) => applyToModel(tree, change) ?? tree, new Map());
}

async function makeOnDisk(folder: string, tree: Tree): Promise<void> {
  for (const [key, text] of [...tree].sort()) {
    if (text === null) await mkdir(join(folder, key));
    else await writeFile(join(folder, key), text);
    await chmod(join(folder, key), text === null ? 0o751 : 0o640);
  }
}

let folder: TestFolder;
beforeAll(async () => {
  folder = await makeTestFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

const kinds = [
  {
    name: 'memory',
    runs: 300,
    async open(tree: Tree) {
      const resource = memoryFilesystem();
      const call = resource.begin('seed');
      for (const [key, text] of tree) await (text === null ? call.view.makeDirectory(key) : call.view.write(key, text));
      await call.prepare();
      await call.commit();
      return { resource, snapshot: async () => Object.fromEntries(await readTree(resource.readOnly)) };
    },
  },
  {
    name: 'host',
    runs: 40,
    async open(tree: Tree) {
      const root = await mkdtemp(join(folder.path, 'run-'));
      await makeOnDisk(root, tree);
      return { resource: hostFilesystem(root), snapshot: () => snapshotTree(root) };
    },
  },
];

describe.each(kinds)('random changes over the $name filesystem', { timeout: 30_000 }, ({ open, runs }) => {
  test('are what a plain map says, before and after the commit', () =>
    fc.assert(
      fc.asyncProperty(steps, steps, async (before, changes) => {
        let tree = toTree(before);
        const { resource } = await open(tree);
        const call = resource.begin('c1');
        for (const change of changes) {
          const next = applyToModel(tree, change);
          expect(await applyToView(call.view, change)).toBe(next !== undefined);
          tree = next ?? tree;
        }
        expect(await readTree(call.view)).toEqual(tree);
        await call.prepare();
        await call.commit();
        expect(await readTree(resource.readOnly)).toEqual(tree);
      }),
      { numRuns: runs },
    ));

  test('leave not a byte and not a mode changed when they are discarded', () =>
    fc.assert(
      fc.asyncProperty(steps, steps, fc.boolean(), async (before, changes, prepared) => {
        const { resource, snapshot } = await open(toTree(before));
        const tree = await snapshot();
        const call = resource.begin('c1');
        for (const change of changes) await applyToView(call.view, change);
        if (prepared) await call.prepare();
        await call.discard();
        expect(await snapshot()).toEqual(tree);
      }),
      { numRuns: runs },
    ));
});
