import { join } from 'node:path';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

// The packed packages with schema libraries, compilers, runtimes and bundlers: `npm run works-with`, which builds the packages first.
const config: ViteUserConfig = defineConfig({
  root: import.meta.dirname,
  test: {
    include: ['*.works.ts'],
    globalSetup: ['../packed/set-up.ts'],
    // Deno and Next.js would ask the network for news.
    env: {
      DENO_DIR: join(import.meta.dirname, '../../.cache/deno'),
      DENO_NO_UPDATE_CHECK: '1',
      DO_NOT_TRACK: '1',
      NEXT_TELEMETRY_DISABLED: '1',
    },
    testTimeout: 300_000,
    hookTimeout: 600_000,
  },
});
export default config;
