import { defineConfig, type ViteUserConfig } from 'vitest/config';

// The official conformance suite: `npm run conformance`.
const config: ViteUserConfig = defineConfig({
  root: import.meta.dirname,
  resolve: { conditions: ['holdfast-source'] },
  ssr: { resolve: { conditions: ['holdfast-source'] } },
  test: {
    include: ['*.conformance.ts'],
    globalSetup: ['../setup/memory-folder.ts', '../setup/user-folder.ts'],
    testTimeout: 600_000,
    hookTimeout: 120_000,
  },
});
export default config;
