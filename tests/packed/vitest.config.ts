import { defineConfig, type ViteUserConfigFnObject } from 'vitest/config';

// The packages as they would be published: built, packed, and without the condition that picks sources. `npm run packed`
// builds them first; `npm run browser` runs the part that needs a browser.
const config: ViteUserConfigFnObject = defineConfig(({ mode }) => ({
  root: import.meta.dirname,
  test: {
    include: [mode === 'browser' ? '*.browser.ts' : '*.test.ts'],
    globalSetup: ['./set-up.ts', '../setup/user-folder.ts'],
    // Each file installs into a project of its own, which takes the network and a core.
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
}));
export default config;
