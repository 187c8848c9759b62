import { defineConfig, type ViteUserConfig } from 'vitest/config';

const conditions = ['holdfast-source'];

// What takes minutes, on the sources: `npm run long`.
const config: ViteUserConfig = defineConfig({
  root: import.meta.dirname,
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    globalSetup: ['../setup/user-folder.ts'],
    include: ['*.long.ts'],
    // They tell how far they are while they run.
    disableConsoleIntercept: true,
    testTimeout: 3_600_000,
  },
});
export default config;
