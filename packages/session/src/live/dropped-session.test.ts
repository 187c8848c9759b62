import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const index = fileURLToPath(new URL('../index.ts', import.meta.url));

/** Drops twenty sessions with an in-memory log, five times, and prints the fewest bytes left after young collections. */
const program = `
import { createSession, memoryStore } from ${JSON.stringify(index)};
function work() {
  const session = createSession({ store: memoryStore() });
  for (let number = 0; number < 2_000; number += 1) session.record({ type: 'note', text: 'note ' + number });
}
function left() {
  gc({ type: 'minor' });
  gc({ type: 'minor' });
  return process.memoryUsage().heapUsed;
}
work();
const kept = [];
for (let round = 0; round < 5; round += 1) {
  gc();
  const before = left();
  for (let count = 0; count < 20; count += 1) work();
  kept.push(left() - before);
}
console.log(Math.min(...kept));
`;

test('a young collection frees a dropped session with its in-memory log', () => {
  // No marking meanwhile: an object marked by chance would stay.
  const young = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64', '--predictable'];
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--conditions=holdfast-source', ...young, '--input-type=module', '--eval', program],
    { encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  // The logs of twenty sessions take 3.8 MB.
  expect(Number(stdout)).toBeLessThan(1_000_000);
});
