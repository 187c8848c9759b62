import { defineConfig, type ViteUserConfig } from 'vitest/config';

// The same program in other frameworks, against a model server on this machine: `npm run peers`. They are installed on first use.
const config: ViteUserConfig = defineConfig({
  root: import.meta.dirname,
  test: { include: ['*.peers.ts'], testTimeout: 60_000, hookTimeout: 600_000 },
});
export default config;
