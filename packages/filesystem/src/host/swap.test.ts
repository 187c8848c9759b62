import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import * as promises from 'node:fs/promises';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { createProtection } from '../paths/protection.ts';
import { createStagedFilesystem } from '../staging/transaction.ts';
import { createHostBackend } from './backend.ts';
import type { HostOperations } from './folder.ts';
import { makeTestFolder, snapshotTree } from './test-folder.ts';

/** Node.js operations that call `before` with the step number. */
function watched(before: (step: number) => void): HostOperations {
  let step = 0;
  return new Proxy<HostOperations>(
    { ...promises },
    {
      get(target, property) {
        const method: unknown = Reflect.get(target, property);
        if (typeof method !== 'function') return method;
        return (...parameters: unknown[]) => {
          before(step);
          step += 1;
          return Reflect.apply(method, target, parameters);
        };
      },
    },
  );
}

test.each([
  { what: 'the file', path: 'src/a.txt', target: '../../outside/a.txt', swapped: 'src/a.txt' },
  { what: 'the folder of the file', path: 'src/a.txt', target: '../outside', swapped: 'src' },
  { what: 'a folder further up', path: 'src/deep/a.txt', target: '../outside', swapped: 'src' },
  { what: 'the folder of a new file', path: 'src/new.txt', target: '../outside', swapped: 'src' },
])('C21: $what is replaced by a link at any step, and put back at any later one', async (row) => {
  await using folder = await makeTestFolder();
  // Every step in `npm run long`, every fourth in `npm test`.
  const stride = inject('long') > 0 ? 1 : 4;
  let commits = 0;
  let refusals = 0;
  for (const [first, stay] of [1, Number.POSITIVE_INFINITY].entries()) {
    // First without a swap, to count the steps.
    for (let at = -1, steps = 0; at < steps; at += at < 0 ? 1 + (first % stride) : stride) {
      const base = await mkdtemp(join(folder.path, 'run-'));
      const root = join(base, 'root');
      for (const place of [join(root, 'src'), join(base, 'outside')]) {
        mkdirSync(join(place, 'deep'), { recursive: true });
        for (const name of ['a.txt', 'deep/a.txt']) {
          writeFileSync(join(place, name), place.startsWith(root) ? 'inside' : 'secret');
        }
      }
      symlinkSync(row.target, join(root, 'evil'));
      const outside = snapshotTree(join(base, 'outside'));
      const operations = watched((step) => {
        steps = Math.max(steps, step + 1);
        const place = join(root, row.swapped);
        if (step === at) {
          renameSync(place, join(root, 'aside'));
          symlinkSync(row.target, place);
        }
        if (at >= 0 && step === at + stay) {
          renameSync(place, join(base, `link-${step}`));
          renameSync(join(root, 'aside'), place);
        }
      });
      const backend = createHostBackend(root, operations, 1000);
      const call = createStagedFilesystem(backend, createProtection([]), 1000).begin('c1');
      const texts: string[] = [];
      try {
        if (row.path.endsWith('a.txt')) texts.push(await call.view.readText(row.path));
        await call.view.write(row.path, 'changed');
        await call.prepare();
        await call.commit();
        commits += 1;
      } catch {
        // The call may fail in any way, as long as the outside is unchanged.
        refusals += 1;
        await call.discard();
      }
      expect(snapshotTree(join(base, 'outside'))).toEqual(outside);
      expect(texts).not.toContain('secret');
    }
  }
  // Both must have happened, or the test proves nothing.
  expect(commits).toBeGreaterThan(20 / stride);
  expect(refusals).toBeGreaterThan(20 / stride);
});
