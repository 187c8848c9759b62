import { type Repository, toRepository } from './repository.ts';

/** An in-memory repository with one valid package `core`; `files` adds or replaces files. */
export function fixture(files: Readonly<Record<string, string>> = {}): Repository {
  return toRepository(
    new Map(
      Object.entries({
        'package.json': JSON.stringify({
          name: 'root',
          scripts: { test: 't' },
          devDependencies: { vitest: 'catalog:' },
        }),
        'pnpm-workspace.yaml': 'catalog:\n  vitest: 5.1.1\n',
        ...soundPackage('core'),
        ...files,
      }),
    ),
  );
}

/** The files of a package that passes every check. */
export function soundPackage(name: string, manifest: object = {}, source = 'export {};\n'): Record<string, string> {
  return {
    [`packages/${name}/README.md`]: `# ${name}\n`,
    [`packages/${name}/src/index.ts`]: source,
    [`packages/${name}/package.json`]: JSON.stringify({
      name: `@holdfast/${name}`,
      description: 'A package.',
      license: 'MIT',
      type: 'module',
      sideEffects: false,
      engines: { node: '>=22.18' },
      files: ['dist'],
      exports: {
        '.': { 'holdfast-source': './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' },
        './package.json': './package.json',
      },
      scripts: { build: 'b' },
      ...manifest,
    }),
  };
}
