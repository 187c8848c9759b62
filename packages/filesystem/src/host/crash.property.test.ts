import { join } from 'node:path';
import { type Filesystem, isHoldfastError } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Changes, expectSettled, interrupt, recoverAll, runUndisturbed, type Tree } from './test-crashes.ts';
import { createFaults } from './test-faults.ts';
import { makeTestFolder, restoreTree, snapshotTree } from './test-folder.ts';

interface Step {
  readonly type: 'write' | 'remove' | 'makeDirectory';
  readonly path: string;
  readonly text: string;
}

const step: fc.Arbitrary<Step> = fc.record({
  type: fc.constantFrom('write', 'write', 'remove', 'makeDirectory'),
  path: fc.array(fc.constantFrom('a', 'b', 'ü'), { minLength: 1, maxLength: 3 }).map((names) => names.join('/')),
  text: fc.constantFrom('', 'x', 'yy'),
});
const steps = fc.array(step, { minLength: 1, maxLength: 12 });

/** The applicable steps of `all`, run in order. */
function toChanges(all: readonly Step[]): Changes {
  return async (view) => {
    for (const { type, path, text } of all) await attempt(view, type, { path, text });
  };
}

async function attempt(view: Filesystem, type: Step['type'], { path, text }: Omit<Step, 'type'>): Promise<void> {
  try {
    await (type === 'write' ? view.write(path, text) : view[type](path));
  } catch (error) {
    if (!isHoldfastError(error) || !error.code.startsWith('file.')) throw error;
  }
}

test('any call is atomic, wherever it and the recovery after it are cut off', async () => {
  await using folder = await makeTestFolder();
  const root = join(folder.path, 'root');
  let cut = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.record({ earlier: steps, own: steps, back: fc.nat(), second: fc.nat(60), committed: fc.boolean() }),
      fc.record({ kind: fc.constantFrom('error', 'crash', 'torn'), links: fc.boolean() }),
      async ({ earlier, own, back, second, committed }, fault) => {
        const { after: start } = await runUndisturbed(root, {}, toChanges(earlier));
        // Unusual modes.
        const before: Tree = Object.fromEntries(
          Object.entries(start).map(([key, text]) => [
            key,
            text.replace(/^file 644/u, 'file 640').replace(/755$/u, '711'),
          ]),
        );
        const undisturbed = await runUndisturbed(root, before, toChanges(own), fault);
        const { length } = undisturbed.steps;
        fc.pre(length > 0);
        // More often near the end, because nothing is applied before it.
        const at = length - 1 - (back % (back % 2 === 0 ? length : Math.ceil(length / 3)));
        restoreTree(root, before);
        const interrupted = await interrupt(root, toChanges(own), { ...fault, at });
        const faults = createFaults({ kind: 'crash' });
        faults.start(second);
        const cutOff = await recoverAll(root, committed, faults.operations).catch(() => undefined);
        if (cutOff === undefined) cut += 1;
        const marks = [...(cutOff ?? []), ...(await recoverAll(root, committed))];
        const tree = snapshotTree(root);
        expectSettled(tree, undisturbed, { ...interrupted, committed, marks });
        expect(await recoverAll(root, !committed)).toEqual([]);
      },
    ),
    { numRuns: 20 },
  );
  expect(cut).toBeGreaterThan(0);
});
