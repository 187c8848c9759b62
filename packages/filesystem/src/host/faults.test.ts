import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Filesystem, type FilesystemReader, isHoldfastError, type ResourceTransaction } from '@holdfast/core';
import { describe, expect, inject, test } from 'vitest';
import { createProtection } from '../paths/protection.ts';
import { createStagedFilesystem } from '../staging/transaction.ts';
import { createHostBackend } from './backend.ts';
import { createFaults } from './test-faults.ts';
import { makeTestFolder, snapshotTree } from './test-folder.ts';

async function makeTree(root: string): Promise<void> {
  await mkdir(join(root, 'old'), { recursive: true, mode: 0o755 });
  await mkdir(join(root, 'empty'), { mode: 0o711 });
  await writeFile(join(root, 'a.txt'), 'a', { mode: 0o640 });
  await writeFile(join(root, 'b.txt'), 'b', { mode: 0o755 });
  await writeFile(join(root, 'old/c.txt'), 'c');
  await chmod(join(root, 'old/c.txt'), 0o600);
}

type Transaction = ResourceTransaction<Filesystem, FilesystemReader>;

/** Changes of every kind: removals, replacements, creations and overwrites. */
const changes: readonly ((view: Filesystem) => Promise<void>)[] = [
  async (view) => {
    for (const path of ['old/c.txt', 'old', 'empty']) await view.remove(path);
    await view.write('old', 'a file now');
  },
  async (view) => {
    await view.write('a.txt', 'changed');
    await view.remove('b.txt');
    await view.write('b.txt/inner.txt', 'a folder now');
    await view.write('new/e.txt', 'e');
  },
];

async function finish(transaction: Transaction): Promise<void> {
  await transaction.prepare();
  await transaction.commit();
}

interface Scenario {
  readonly name: string;
  /** The error code of the disk, and support for hard links. */
  readonly disks: readonly { readonly code: string; readonly links: boolean }[];
  /** The transactions in commit order. */
  stage(call: Transaction): Promise<readonly Transaction[]>;
}

const scenarios: readonly Scenario[] = [
  {
    name: 'a call',
    disks: [
      { code: 'EIO', links: true },
      { code: 'EACCES', links: false },
    ],
    async stage(call) {
      for (const change of changes) await change(call.view);
      return [call];
    },
  },
  {
    name: 'a call with nested ones',
    disks: [{ code: 'ENOSPC', links: true }],
    async stage(call) {
      await changes[0]?.(call.view);
      const nested = call.begin('nested');
      const innermost = nested.begin('innermost');
      await changes[1]?.(innermost.view);
      return [innermost, nested, call];
    },
  },
];

async function attempt(run: () => Promise<void>): Promise<unknown> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return error;
  }
}

function withoutTemporaries(tree: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(tree).filter(([key]) => !/(?:^|\/)\.holdfast-[^/]*$/u.test(key)));
}

describe.each(scenarios)('one system call fails in $name', ({ stage, disks }) => {
  test.each(disks)(
    'the commit is atomic and reports the failure ($code, hard links: $links)',
    async ({ code, links }) => {
      await using folder = await makeTestFolder();
      await makeTree(join(folder.path, 'before'));
      const expected = { before: snapshotTree(join(folder.path, 'before')), after: {} };
      const outcomes = new Map<string, number>();
      // Every step in `npm run long`, every fifth in `npm test`.
      const stride = inject('long') > 0 ? 1 : 5;
      const first = disks.findIndex((disk) => disk.code === code);
      // First without a failure, to learn the complete result.
      for (let at: number | undefined; ; at = at === undefined ? first : at + stride) {
        const root = await mkdtemp(join(folder.path, 'run-'));
        await makeTree(root);
        const faults = createFaults({ code, links });
        const backend = createHostBackend(root, faults.operations, 1000);
        const call = createStagedFilesystem(backend, createProtection([]), 1000).begin('c1');
        const transactions = await stage(call);
        faults.start(at);
        let error = await attempt(async () => {
          for (const transaction of transactions) await finish(transaction);
        });
        error ??= await attempt(async () => call.discard());
        if (error !== undefined) await attempt(async () => call.discard());
        const tree = snapshotTree(root);
        if (at === undefined) {
          expected.after = tree;
          expect(tree).not.toEqual(expected.before);
          continue;
        }
        if (faults.failed === undefined) break;
        const what = { at, failed: faults.failed, code: isHoldfastError(error) ? error.code : error };
        outcomes.set(String(what.code), (outcomes.get(String(what.code)) ?? 0) + 1);
        switch (what.code) {
          case undefined:
            // The failed step was optional.
            expect({ ...what, tree }).toEqual({ ...what, tree: expected.after });
            break;
          case 'file.write_failed':
            // Complete or not at all, with leftovers or an unclosed handle.
            expect([expected.before, expected.after]).toContainEqual(withoutTemporaries(tree));
            break;
          default:
            expect({ ...what, tree }).toEqual({ ...what, tree: expected.before });
        }
        expect([undefined, 'file.write_failed', 'file.unreadable', 'file.write_failed']).toContain(what.code);
      }
      expect(outcomes.get('file.write_failed')).toBeGreaterThan(40 / stride);
    },
  );
});
