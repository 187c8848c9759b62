import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig, type UserConfig } from 'tsdown';

interface Manifest {
  readonly name: string;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, string | { readonly 'holdfast-source'?: string }>>;
}

// Every package builds with this one file, from its own folder: what it exports is what is built.
const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest;
const libraries = Object.values(manifest.exports ?? {}).flatMap((target) =>
  typeof target === 'object' && target['holdfast-source'] !== undefined ? [target['holdfast-source']] : [],
);
const programs = Object.values(manifest.bin ?? {}).map((path) =>
  path.replace('./dist/', './src/').replace(/\.js$/, '.ts'),
);
// Entry points of processes and threads are built next to the exports.
const mains = readdirSync('src').filter((name) => name.endsWith('-main.ts'));
// A hook starts for each call of an agent and outlives this package: a bundle with its dependencies. CommonJS starts faster.
const hooks = mains.filter((name) => name.endsWith('-hook-main.ts'));
// `runAgent` loads rare features by `import()`: what it needs at once and the rest are two files, for bundlers. The entry `features`
// exports nothing else, so that a bundler drops what is not used.
const parted = manifest.name === '@holdfast/executor';
const apart = parted ? [{ features: './src/direct/features.ts' }] : [];
const parts = [
  { name: 'call', test: /src\/run\/run-agent\.ts$/, priority: 1 },
  { name: 'rare', test: /src\/(?:direct\/(?:features|execute-tool-call)|recovery\/resume-tool-call)\.ts$/ },
];
const ownPrograms = mains.filter((name) => !hooks.includes(name)).map((name) => `./src/${name}`);
const hasPage = manifest.devDependencies?.['holdfast-studio'] !== undefined;

const shared: UserConfig = {
  cwd: process.cwd(),
  // Nothing is polyfilled or shimmed, and `node:` imports stay as written; tooling/checks keeps them out of neutral code.
  platform: 'neutral',
  target: 'es2024',
  tsconfig: '../../tsconfig.json',
  logLevel: 'warn',
  failOnWarn: true,
};

const config: readonly UserConfig[] = defineConfig([
  {
    ...shared,
    entry: [...libraries, ...programs, ...ownPrograms, ...apart],
    format: 'esm',
    fixedExtension: false,
    // TypeScript 7 has no compiler API, and isolated declarations need none.
    dts: libraries.length > 0 ? { oxc: true } : false,
    ...(parted ? { outputOptions: { codeSplitting: { groups: parts } } } : {}),
    deps: { neverBundle: [/^node:/] },
    // The page that the program serves, built before it.
    copy: hasPage ? [{ from: '../studio/dist/*', to: 'dist/studio' }] : [],
  },
  ...hooks.map(
    (name): UserConfig => ({
      ...shared,
      entry: [`./src/${name}`],
      format: 'cjs',
      outDir: `dist/${name.replace(/-main\.ts$/, '')}`,
      fixedExtension: true,
      dts: false,
      minify: true,
      deps: { neverBundle: [/^node:/], alwaysBundle: [/^[^.]/] },
    }),
  ),
]);
export default config;
