import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { describeFailedImport } from './import-module.ts';
import { createFolder } from './test-folder.ts';

const module = new URL('./import-module.ts', import.meta.url).href;

/** In its own process: here, Vite would do the import. */
async function describeImportOf(path: string, directory: string): Promise<string> {
  const code = `import { describeFailedImport } from ${JSON.stringify(module)};
    await import(${JSON.stringify(pathToFileURL(path).href)}).catch((thrown) =>
      process.stdout.write(describeFailedImport(thrown, ${JSON.stringify(directory)})));`;
  const parameters = ['--conditions=holdfast-source', '--input-type=module', '--eval', code];
  const { stdout } = await promisify(execFile)(process.execPath, parameters);
  return stdout;
}

const thrower = 'export function fail() {\n  throw new Error("no luck");\n}\n';

test.each<readonly [string, Readonly<Record<string, string>>, string]>([
  [
    'TypeScript that does not parse',
    { 'a.ts': '\n\nexport default { packs: [ };' },
    ', at `a.ts:3`: Expression expected',
  ],
  ['TypeScript that is not only types', { 'a.ts': '\nenum A { b }' }, ', at `a.ts:2`: TypeScript enum'],
  [
    'a module in a package of CommonJS',
    { 'package.json': '{ "type": "commonjs" }', 'a.ts': 'import "node:fs";' },
    ', at `a.ts:1`: Cannot use import statement outside a module. It is loaded as CommonJS: use the extension `.mts` o',
  ],
  [
    'an export in a package of CommonJS',
    { 'package.json': '{ "type": "commonjs" }', 'a.ts': 'export default {};' },
    ", at `a.ts:1`: Unexpected token 'export'. It is loaded as CommonJS: use the extension `.mts` o",
  ],
  ['a throw', { 'a.ts': '\nthrow new Error("no luck");' }, ', at `a.ts:2`: no luck'],
  ['a throw further down', { 'a.ts': 'import "./b/c.mjs";', 'b/c.mjs': '\n\nnothing();' }, ', at `b/c.mjs:3`: nothing'],
  [
    'a throw of a package that one calls',
    {
      'a.ts': '\nimport { fail } from "p";\nfail();',
      'node_modules/p/package.json': '{}',
      'node_modules/p/index.mjs': '',
    },
    ', at `a.ts:3`: no luck',
  ],
  [
    'a throw of a package while it is imported',
    { 'a.ts': 'import "./node_modules/p/index.mjs";', 'node_modules/p/index.mjs': '\n\n\nthrow new Error("no luck");' },
    ', at `node_modules/p/index.mjs:4`: no luck',
  ],
  ['a package that is not there', { 'a.ts': 'import "not-there";' }, ": Cannot find package 'not-there'"],
  ['no error', { 'a.ts': 'throw "no luck";' }, ': no luck'],
])('%s', async (_, files, told) => {
  await using folder = await createFolder({
    ...files,
    ...(files['node_modules/p/package.json'] === undefined
      ? {}
      : { 'node_modules/p/package.json': '{ "exports": "./index.mjs" }', 'node_modules/p/index.mjs': thrower }),
  });
  const described = await describeImportOf(join(folder.path, 'a.ts'), folder.path);
  expect(described.slice(0, told.length)).toBe(told);
});

test.each<readonly [string, () => unknown]>([
  ['a getter', () => Object.defineProperty(new Error('bad'), 'stack', { get: () => expect.fail('It threw.') })],
  ['a number', () => Object.assign(new Error('bad'), { stack: 7 })],
  ['no such URL', () => Object.assign(new Error('bad'), { stack: 'Error: bad\n    at file:///%2f:1:1' })],
  ['a long line', () => Object.assign(new Error('bad'), { stack: `    at ${'/ ('.repeat(6_000)}:1` })],
  ['a proxy', () => new Proxy(new Error('bad'), {})],
])('a stack that is %s is ignored', (_, make) => {
  expect(describeFailedImport(make(), '/app')).toBe(': bad');
});
