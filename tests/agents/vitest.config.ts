import { defineConfig, type ViteUserConfig } from 'vitest/config';

// Real coding agents, from their packages, against a model server on this machine: `npm run agents`. They are installed on first use.
const config: ViteUserConfig = defineConfig({
  root: import.meta.dirname,
  resolve: { conditions: ['holdfast-source'] },
  ssr: { resolve: { conditions: ['holdfast-source'] } },
  test: {
    include: ['*.agents.ts'],
    globalSetup: ['../setup/user-folder.ts'],
    fileParallelism: false,
    testTimeout: 300_000,
    // On a busy machine a hook may run out of time: then it denies a call that a test expects to run.
    retry: 2,
    hookTimeout: 600_000,
  },
});
export default config;
