import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { amount } from './amount.ts';

const root = join(import.meta.dirname, '../..');
const conditions = ['holdfast-source'];
const seed = process.env['HOLDFAST_SEED'] ?? String(randomInt(2 ** 31));
console.log(`HOLDFAST_SEED=${seed}`);

/** Tests of `npm test` that ask for `inject('long')` have large counts of their own. */
const scaled = execFileSync('git', ['ls-files', '*.test.ts'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && readFileSync(join(root, file), 'utf8').includes("inject('long')"));

// Tests that take minutes, on the sources: `npm run long`.
const config: ViteUserConfig = defineConfig({
  root,
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    globalSetup: ['tests/setup/user-folder.ts', 'tests/setup/programs.ts'],
    setupFiles: ['tests/setup/seed.ts', 'tests/setup/bundled.ts'],
    env: { HOLDFAST_SEED: seed },
    provide: { long: amount(1_000) / 1_000 },
    include: ['{tests,bench}/**/*.long.ts', ...scaled],
    // They print their progress.
    disableConsoleIntercept: true,
    testTimeout: 3_600_000,
  },
});
export default config;
