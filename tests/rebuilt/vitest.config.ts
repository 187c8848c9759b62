import { defineConfig, type ViteUserConfig } from 'vitest/config';

// The executor's own tests once more, with sessions that go on after every record with the state that their log alone gives:
// `npm run rebuilt`.
const config: ViteUserConfig = defineConfig({
  root: `${import.meta.dirname}/../..`,
  resolve: { conditions: ['holdfast-source'] },
  ssr: { resolve: { conditions: ['holdfast-source'] } },
  test: {
    globalSetup: ['./tests/setup/user-folder.ts', './tests/setup/programs.ts'],
    setupFiles: ['./tests/setup/seed.ts'],
    provide: { long: 0 },
    isolate: false,
    include: ['packages/executor/src/**/*.test.ts'],
    env: { HOLDFAST_REBUILD: '1' },
    // As in the configuration of all tests.
    maxWorkers: '100%',
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
export default config;
