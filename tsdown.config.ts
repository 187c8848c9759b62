import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig, type UserConfig } from 'tsdown';

interface Manifest {
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
// What a package runs in processes and threads of its own lies beside what it exports.
const ownPrograms = readdirSync('src')
  .filter((name) => name.endsWith('-main.ts'))
  .map((name) => `./src/${name}`);

const config: UserConfig = defineConfig({
  cwd: process.cwd(),
  entry: [...libraries, ...programs, ...ownPrograms],
  format: 'esm',
  // Nothing is polyfilled or shimmed, and `node:` imports stay as written; tooling/checks keeps them out of neutral code.
  platform: 'neutral',
  target: 'es2024',
  fixedExtension: false,
  // TypeScript 7 has no compiler API, and isolated declarations need none.
  dts: libraries.length > 0 ? { oxc: true } : false,
  tsconfig: '../../tsconfig.json',
  deps: { neverBundle: [/^node:/] },
  logLevel: 'warn',
  failOnWarn: true,
});
export default config;
