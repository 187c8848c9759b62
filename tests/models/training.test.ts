import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, inject, test } from 'vitest';

const folder = fileURLToPath(new URL('../../training/', import.meta.url));

/** The tests of the training need Python 3.10 and no package; what needs torch leaves itself out there, and says so. */
function hasPython(): boolean {
  const { status } = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']);
  return status === 0;
}

test.skipIf(!hasPython())('the generator, the tokenizer and the cases of the tiny model keep what they promise', () => {
  const long = inject('long');
  const env = { ...process.env, ...(long > 0 ? { HOLDFAST_LONG: String(long) } : {}) };
  const { status, stderr } = spawnSync('python3', ['-B', '-m', 'unittest'], { cwd: folder, encoding: 'utf8', env });
  expect(stderr).toMatch(/Ran \d{2,} tests[\s\S]*\nOK/);
  expect(status).toBe(0);
});
