import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createRandom } from '../setup/random.ts';
import { amount } from './amount.ts';

const root = join(import.meta.dirname, '../..');
const random = createRandom();
const seeds = Array.from({ length: amount(4) }, () => Math.floor(random() * 2 ** 31));

/** Every test file with a property. */
const files = execFileSync('git', ['ls-files', '*.test.ts'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && readFileSync(join(root, file), 'utf8').includes("from 'fast-check'"));

test.each(seeds)('all properties with seed %i', (seed) => {
  console.log(`properties: HOLDFAST_SEED=${seed}`);
  // It creates its own bundles.
  const { NODE_OPTIONS: _, ...environment } = process.env;
  const { status, stdout } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...files], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    env: { ...environment, HOLDFAST_SEED: String(seed), NO_COLOR: '1' },
  });
  expect(status === 0 ? '' : stdout.slice(-20_000)).toBe('');
});
