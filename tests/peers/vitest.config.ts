import { defineConfig, type ViteUserConfig } from 'vitest/config';

// The same program in other frameworks, against a model server on this machine: `npm run peers`. They are installed on first use.
const config: ViteUserConfig = defineConfig({
  root: `${import.meta.dirname}/../..`,
  resolve: { conditions: ['holdfast-source'] },
  ssr: { resolve: { conditions: ['holdfast-source', 'node'], externalConditions: ['holdfast-source', 'node'] } },
  test: { include: ['tests/peers/*.peers.ts'], testTimeout: 200_000, hookTimeout: 600_000 },
});
export default config;
