import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadTools } from '../load/tools.ts';
import { type LockReading, readLock } from '../pins/lock-file.ts';
import { type TestProject, toolFile } from '../test-project.ts';
import { startWatch } from './test-watch.ts';

const file = fc.constantFrom('a', 'b', 'c');
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constantFrom('write' as const, 'publish' as const),
      file,
      answer: fc.nat({ max: 2 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ type: fc.constantFrom('break' as const, 'remove' as const), file }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('accept' as const), file }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom('empty' as const, 'damage' as const) }) },
);

async function acceptTool(project: TestProject, name: string): Promise<void> {
  // A lock damaged by the test cannot be compared.
  const compared = await project.compare().catch(() => undefined);
  if (compared?.tools.some((tool) => tool.name === name) === true) await compared.accept([name]);
}

function readSoundLock(path: string): LockReading | undefined {
  try {
    return readLock(path);
  } catch {
    // Damaged by the test.
    return undefined;
  }
}

test('property: after any edits and locks, only locked tools are active', async () => {
  let kept = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(step, fc.boolean()), { minLength: 1, maxLength: 16 }), async (steps) => {
      const first = Object.fromEntries(['a', 'b'].map((name) => [`plugins/${name}.mjs`, toolFile(name)]));
      await using watch = await startWatch(first, { locked: true });
      const { project, watched } = watch;
      for (const [one, isRead] of steps) {
        const before = watched.tools;
        switch (one.type) {
          case 'write':
          case 'publish':
            await project.write(`plugins/${one.file}.mjs`, toolFile(one.file, { body: `return ${one.answer};` }));
            if (one.type === 'publish') await acceptTool(project, one.file);
            break;
          case 'break':
            await project.write(`plugins/${one.file}.mjs`, 'export const METADATA = {');
            break;
          case 'remove':
            await project.remove(`plugins/${one.file}.mjs`).catch(() => undefined);
            break;
          case 'accept':
            await acceptTool(project, one.file);
            break;
          case 'empty':
            await project.write('holdfast.lock', '{ "version": 1, "tools": {} }');
            break;
          case 'damage':
            await project.write('holdfast.lock', '{');
            break;
          default:
            one satisfies never;
        }
        if (!isRead) continue;
        await watched.reload();
        const lock = readSoundLock(project.lock);
        if (lock === undefined) {
          expect(watched.tools).toBe(before);
          continue;
        }
        const inForce = new Map(watched.tools.map((tool) => [tool.name, tool.origin?.digest]));
        for (const [name, digest] of inForce) expect(lock.tools.get(name)?.digest, name).toBe(digest);
        // All tools that a load accepts, and in addition only kept versions.
        const loaded = await loadTools(project.plugins, { lock: project.lock, isolation: 'in-process' });
        const names = loaded.tools.map(({ name }) => name);
        expect([...inForce.keys()]).toEqual(expect.arrayContaining(names));
        const keptFiles = watched.diagnostics
          .filter(({ code }) => code === 'tool.watch.failed')
          .map((told) => told.file);
        expect(inForce.size).toBe(names.length + keptFiles.length);
        kept += keptFiles.length;
      }
      for (const [name, answer] of Object.entries(await watch.answers()))
        expect({ name, answer: typeof answer }).toEqual({ name, answer: 'number' });
    }),
    { numRuns: 15 },
  );
  // Otherwise the property would hardly be tested.
  expect(kept).toBeGreaterThan(0);
});
