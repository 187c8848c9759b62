import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Filesystem, type FilesystemReader, isHoldfastError, type ResourceTransaction } from '@holdfast/core';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTestFolder, snapshotTree, type TestFolder } from '../host/test-folder.ts';
import { memoryFilesystem } from '../memory/memory.ts';
import { hostFilesystem } from '../node.ts';

/** A minimal model of a filesystem: by key the text of a file, or `null` for a folder. */
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

/** The tree after a step; `undefined` if the step must be rejected. */
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

type Transaction = ResourceTransaction<Filesystem, FilesystemReader>;

/** A move of one of the open transactions, picked by `of`. */
type Move = { readonly of: number } & (
  | { readonly type: 'begin' | 'commit' | 'discard' | 'prepare' }
  | { readonly type: 'change'; readonly change: Step }
);

const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ type: fc.constant('change' as const), change: step, of: fc.nat(20) }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constantFrom('begin', 'commit', 'discard', 'prepare'), of: fc.nat(20) }),
  },
);
const moves = fc.array(move, { maxLength: 60 });

interface Open {
  readonly transaction: Transaction;
  readonly outer: Open | undefined;
  /** All changes made here, including those of nested transactions. */
  readonly changes: Step[];
  prepared: boolean;
}

/** True if it succeeds, false if it is rejected because of other transactions. */
async function succeeds(run: () => void | Promise<void>): Promise<boolean> {
  try {
    await run();
    return true;
  } catch (error) {
    if (isHoldfastError(error) && error.code === 'file.conflict') return false;
    throw error;
  }
}

/** Checks that the reported writes are the differences between two trees. */
function expectWrites(transaction: Transaction, versions: { before: Tree; after: Tree }): void {
  const { before, after } = versions;
  const wrote = new Map(transaction.touched().writes.map((write) => [write.key, write]));
  for (const [key, write] of wrote) {
    expect({ key, before: before.get(key) ?? null, after: after.get(key) ?? null }).toEqual(write);
  }
  for (const [key, version] of before) {
    // Implicitly created parent folders do not count as writes.
    const changed = version !== after.get(key) && after.get(key) !== 'directory';
    if (changed) expect([...wrote.keys()]).toContain(key);
  }
}

async function readVersions(reader: FilesystemReader, tree: Iterable<string>): Promise<Tree> {
  const versions = new Map<string, string | null>();
  for (const key of tree) versions.set(key, (await reader.stat(key))?.version ?? null);
  return versions;
}

let folder: TestFolder;
beforeAll(async () => {
  folder = await makeTestFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

const kinds = [
  {
    name: 'memory',
    runs: 60,
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
    runs: 10,
    async open(tree: Tree) {
      const root = await mkdtemp(join(folder.path, 'run-'));
      await makeOnDisk(root, tree);
      return { resource: hostFilesystem(root), snapshot: () => snapshotTree(root) };
    },
  },
];

describe.each(kinds)('random changes over the $name filesystem', ({ open, runs }) => {
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

  test('change no byte and no mode when discarded', () =>
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

  test('nested one in the other are a copy at each beginning', () =>
    fc.assert(
      fc.asyncProperty(steps, moves, async (before, played) => {
        let committed = toTree(before);
        const { resource, snapshot } = await open(committed);
        const untouched = await snapshot();
        let commits = 0;
        const stack: { transaction: Transaction; tree: Tree }[] = [];
        for (const { type, ...rest } of played) {
          const top = stack.at(-1);
          if (type === 'begin' || top === undefined) {
            stack.push({ transaction: (top?.transaction ?? resource).begin('c1'), tree: top?.tree ?? committed });
          } else if ('change' in rest) {
            const next = applyToModel(top.tree, rest.change);
            expect(await applyToView(top.transaction.view, rest.change)).toBe(next !== undefined);
            top.tree = next ?? top.tree;
          } else if (type === 'discard') {
            await top.transaction.discard();
            stack.pop();
          } else {
            // Committed, or prepared and then discarded.
            stack.pop();
            const below = stack.at(-1);
            const reader = (below?.transaction ?? resource).readOnly;
            const keys = new Set([...committed.keys(), ...top.tree.keys(), ...(below?.tree.keys() ?? [])]);
            const versions = {
              before: await readVersions(reader, keys),
              after: await readVersions(top.transaction.readOnly, keys),
            };
            expectWrites(top.transaction, versions);
            await top.transaction.prepare();
            if (type === 'prepare') {
              await top.transaction.discard();
            } else {
              await top.transaction.commit();
              if (below !== undefined) below.tree = top.tree;
              else {
                committed = top.tree;
                commits += 1;
              }
            }
          }
          const now = stack.at(-1);
          expect(await readTree(now?.transaction.readOnly ?? resource.readOnly)).toEqual(now?.tree ?? committed);
        }
        // Including nested transactions.
        await stack[0]?.transaction.discard();
        expect(await readTree(resource.readOnly)).toEqual(committed);
        if (commits === 0) expect(await snapshot()).toEqual(untouched);
      }),
      { numRuns: runs },
    ));

  test('in a tree of transactions, each is refused or comes out as if its changes were made at its commit', () =>
    fc.assert(
      fc.asyncProperty(steps, moves, async (before, played) => {
        let committed = toTree(before);
        const { resource } = await open(committed);
        let all: Open[] = [];
        const isGone = (entry: Open | undefined, ended: Open): boolean =>
          entry !== undefined && (entry === ended || isGone(entry.outer, ended));
        for (const { of, type, ...rest } of played) {
          const chosen = all[of % (all.length + 1)];
          if (type === 'begin' || chosen === undefined) {
            if (chosen?.prepared === true) continue;
            const transaction = (chosen?.transaction ?? resource).begin('c1');
            all.push({ transaction, outer: chosen, changes: [], prepared: false });
          } else if ('change' in rest) {
            if (chosen.prepared) continue;
            const existed = await chosen.transaction.readOnly.stat(rest.change.path);
            const took = await applyToView(chosen.transaction.view, rest.change);
            const changed = rest.change.type !== 'makeDirectory' || existed === undefined;
            if (took && changed) chosen.changes.push(rest.change);
          } else if (type === 'prepare') {
            if (chosen.prepared) continue;
            chosen.prepared = await succeeds(() => chosen.transaction.prepare());
            all = all.filter((entry) => (entry === chosen ? chosen.prepared : !isGone(entry, chosen)));
          } else {
            all = all.filter((entry) => !isGone(entry, chosen));
            const { transaction } = chosen;
            const prepared = type === 'commit' && (chosen.prepared || (await succeeds(() => transaction.prepare())));
            if (!prepared) await transaction.discard();
            else await transaction.commit();
            if (!prepared) continue;
            if (chosen.outer !== undefined) chosen.outer.changes.push(...chosen.changes);
            else {
              for (const change of chosen.changes) {
                const next = applyToModel(committed, change);
                expect(next).toBeDefined();
                committed = next ?? committed;
              }
            }
          }
          expect(await readTree(resource.readOnly)).toEqual(committed);
        }
        for (const { transaction } of all) await transaction.discard();
      }),
      { numRuns: runs },
    ));
});
