import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig, type ViteUserConfig } from 'vitest/config';

// Tests run on the sources: nothing has to be built first.
const conditions = ['holdfast-source'];

const config: ViteUserConfig = defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    globalSetup: ['./tests/setup/memory-folder.ts', './tests/setup/user-folder.ts', './tests/setup/programs.ts'],
    setupFiles: ['./tests/setup/seed.ts', './tests/setup/bundled.ts'],
    provide: { long: 0 },
    // A worker serves many files: starting one for each takes longer than most files do.
    isolate: false,
    include: ['{packages,apps}/*/src/**/*.test.ts', '{tests,bench,tooling,examples}/**/*.test.ts'],
    // Those are about the built packages: `npm run packed`.
    exclude: [...configDefaults.exclude, 'tests/packed/**'],
    typecheck: { enabled: false },
    // Tests drop most of what they make at once: with more room for it, a worker spends a tenth less time on collecting it.
    execArgv: ['--max-semi-space-size=64'],
    // One more than there are cores: many tests wait for processes that they started.
    maxWorkers: availableParallelism() + 1,
    // Only what hangs takes this long: a busy machine must not fail a sound test.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
export default config;
