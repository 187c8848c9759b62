import { expect, test } from 'vitest';
import { findCatalogProblems, findDependencyProblems } from './dependencies.ts';
import { fixture, soundPackage } from './fixture.ts';

test('reports undeclared and unused dependencies', () => {
  const manifest = { dependencies: { used: 'catalog:', unused: 'catalog:' }, devDependencies: { idle: 'catalog:' } };
  const source = "import 'used/part';\nimport 'missing';\nimport 'fs';\nimport 'node:path';\n";
  expect(findDependencyProblems(fixture(soundPackage('core', manifest, source)))).toEqual([
    'packages/core: `missing` is used and not declared',
    'packages/core: write `node:fs` for `fs`',
    'packages/core: `unused` is declared and not used',
    'packages/core: `idle` is declared for tests and not used',
  ]);
});

test('a package used only by a test is a dev dependency, and tools of the root need no declaration', () => {
  const manifest = { dependencies: { a: 'catalog:' }, devDependencies: { b: 'catalog:', '@types/a': 'catalog:' } };
  const files = {
    ...soundPackage('core', manifest),
    'packages/core/src/x.test.ts': "import 'vitest';\nimport 'a';\nimport 'b';\nimport 'c';\n",
  };
  expect(findDependencyProblems(fixture(files))).toEqual([
    'packages/core: `c` is used by a test and not declared',
    'packages/core: `a` is declared and not used',
  ]);
});

test('a module that is only resolved is used', () => {
  const resolve = 'import.meta.resolve';
  const source = `${resolve}('a/main.js');\n${resolve}('./own.js');\n`;
  expect(findDependencyProblems(fixture(soundPackage('core', { dependencies: { a: 'catalog:' } }, source)))).toEqual(
    [],
  );
});

test('a published source must not use the tools of the root', () => {
  expect(findDependencyProblems(fixture(soundPackage('core', {}, "import 'vitest';\n")))).toEqual([
    'packages/core: `vitest` is used and not declared',
  ]);
});

test('a source belongs to the innermost member', () => {
  const files = {
    'tests/package.json': JSON.stringify({ name: 'tests', private: true }),
    'tests/packed/package.json': JSON.stringify({ name: 'packed', private: true, dependencies: { a: 'catalog:' } }),
    'tests/packed/x.test.ts': "import 'a';\n",
  };
  expect(findDependencyProblems(fixture(files))).toEqual([]);
});

test('versions come from the catalog, which has only exact and used entries', () => {
  const repository = fixture({
    ...soundPackage('core', { dependencies: { a: '^1.0.0', b: 'catalog:', c: 'catalog:', d: 'catalog:' } }),
    'pnpm-workspace.yaml':
      'packages:\n  - x\n\ncatalog:\n  "@x/spare": 1.0.0\n  b: ^2.0.0\n  d: 1.0.0-alpha.12\n  vitest: 5.1.1\n\nallow: {}\n',
  });
  expect(findCatalogProblems(repository)).toEqual([
    'packages/core: `a` must be `catalog:` or `workspace:*`, not `^1.0.0`',
    'packages/core: `c` is not in the catalog',
    'catalog: nothing takes `@x/spare`',
    'catalog: `b` must be exact, not `^2.0.0`',
  ]);
});
