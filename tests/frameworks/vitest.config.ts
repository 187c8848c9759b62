import { defineConfig, type ViteUserConfig } from 'vitest/config';

// The same program in the real frameworks, governed: `npm run frameworks`. They are installed on first use.
const config: ViteUserConfig = defineConfig({
  root: `${import.meta.dirname}/../..`,
  resolve: { conditions: ['holdfast-source'] },
  ssr: { resolve: { conditions: ['holdfast-source', 'node'], externalConditions: ['holdfast-source', 'node'] } },
  test: {
    include: ['tests/frameworks/*.frameworks.ts'],
    globalSetup: ['tests/frameworks/set-up.ts'],
    isolate: false,
    testTimeout: 300_000,
    hookTimeout: 600_000,
  },
});
export default config;
