import { defineConfig, type ViteUserConfig } from 'vitest/config';

// The packages as they would be published: built, packed, and without the condition that picks sources. `npm run packed`
// builds them first.
const config: ViteUserConfig = defineConfig({
  root: import.meta.dirname,
  test: {
    include: ['*.test.ts'],
    globalSetup: ['./set-up.ts'],
    // Each file installs into a project of its own, which takes the network and a core.
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
export default config;
