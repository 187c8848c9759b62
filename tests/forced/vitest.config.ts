import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

const sources = fileURLToPath(new URL('../../packages/executor/src/', import.meta.url));
/** Replacements for these modules of the executor, which they wrap. */
const replaced = new Map(
  ['direct/features.ts', 'direct/on-demand.ts', 'call/context.ts'].map((path) => {
    const name = path.slice(path.indexOf('/') + 1);
    return [`${sources}${path}`, `${sources}test-${name}`];
  }),
);

// The executor's tests again, with every feature used in every call: `npm run forced`. Records, outcomes and states are the
// same as those of calls without features.
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
        if (!/(?:features|on-demand|context)\.ts$/.test(path)) return undefined;
        const resolved = await this.resolve(path, importer, { skipSelf: true });
        const other = resolved === null ? undefined : replaced.get(resolved.id);
        if (other === undefined) return resolved;
        return query === undefined ? other : `${resolved?.id}?${query}`;
      },
    },
  ],
  test: {
    globalSetup: ['./tests/setup/user-folder.ts', './tests/setup/programs.ts'],
    setupFiles: ['./tests/setup/seed.ts'],
    provide: { long: 0 },
    isolate: false,
    include: ['packages/executor/src/**/*.test.ts', 'tests/guidance/**/*.test.ts'],
    // As in the main configuration.
    maxWorkers: '100%',
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
export default config;
