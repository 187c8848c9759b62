import { defineConfig, type ViteUserConfig } from 'vitest/config';

// The executor's tests again, with sessions that continue after every record from the state rebuilt from their log:
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
    // As in the main configuration.
    maxWorkers: '100%',
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
export default config;
