import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

test('a plain call runs through at most twelve files', () => {
  const program = fileURLToPath(new URL('plain-call.ts', import.meta.url));
  // Not the bundles that other tests start programs from: files are what is counted.
  const { NODE_OPTIONS: _bundled, ...env } = process.env;
  const { stdout, stderr } = spawnSync(process.execPath, ['--conditions=holdfast-source', program], {
    encoding: 'utf8',
    env,
  });
  expect(stderr).toBe('');
  const files = JSON.parse(stdout) as readonly string[];
  expect(files).toContain('executor/src/call/run-call.ts');
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(12);
});
