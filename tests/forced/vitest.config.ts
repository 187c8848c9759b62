import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

const features = fileURLToPath(new URL('../../packages/executor/src/direct/features.ts', import.meta.url));
const forced = fileURLToPath(new URL('features.ts', import.meta.url));

// The executor's own tests once more, with every feature in use in every call: `npm run forced`. Records, outcomes and states are the
// same as those of calls that pass the features by.
const config: ViteUserConfig = defineConfig({
  root: `${import.meta.dirname}/../..`,
  resolve: { conditions: ['holdfast-source'] },
  ssr: { resolve: { conditions: ['holdfast-source'] } },
  plugins: [
    {
      name: 'every-feature',
      enforce: 'pre',
      async resolveId(source, importer) {
        const [path = '', query] = source.split('?');
        if (!path.endsWith('features.ts')) return undefined;
        const resolved = await this.resolve(path, importer, { skipSelf: true });
        if (resolved?.id !== features) return resolved;
        return query === undefined ? forced : `${features}?${query}`;
      },
    },
  ],
  test: {
    globalSetup: ['./tests/setup/user-folder.ts', './tests/setup/programs.ts'],
    setupFiles: ['./tests/setup/seed.ts'],
    provide: { long: 0 },
    isolate: false,
    include: ['packages/executor/src/**/*.test.ts'],
    // As in the configuration of all tests.
    maxWorkers: '100%',
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
export default config;
