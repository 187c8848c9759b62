import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { tsImport } from 'tsx/esm/api';
import { expect, expectTypeOf, test } from 'vitest';
import { createFolder, type TestFolder } from './test-folder.ts';

const node = new URL('../node.ts', import.meta.url).href;
const core = new URL('../../../core/src/index.ts', import.meta.url).href;
const tsx = dirname(createRequire(import.meta.url).resolve('tsx/package.json'));

const beyondTypes = `enum Most { calls = 3 }
class Limits { constructor(readonly maxCalls: number) {} }
export default { limits: { ...new Limits(Most.calls) } };
`;
const aliased = `import { maxCalls } from '@/limits';\nexport default { limits: { maxCalls } };\n`;
const limits = 'export const maxCalls: number = 3;\n';
const settings = `{
  // As editors write it.
  "compilerOptions": { "paths": { "@/*": ["./lib/*"], "most": ["./lib/limits.ts"], "#own": ["./lib/limits.ts"] }, },
}
`;
const withPaths = { 'tsconfig.json': settings, 'lib/limits.ts': limits };

async function createProject(files: Readonly<Record<string, string>>, hasTsx: boolean): Promise<TestFolder> {
  const folder = await createFolder({ 'package.json': '{ "type": "module" }', ...files });
  if (hasTsx) await folder.link('node_modules/tsx', tsx);
  return folder;
}

/** In its own process: here, Vite would do the import. */
async function inProcess(code: string, folder: TestFolder): Promise<string> {
  const parameters = ['--conditions=holdfast-source', '--input-type=module', '--eval', code];
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { cwd: folder.path });
  return stdout;
}

async function read(folder: TestFolder): Promise<unknown> {
  const code = `import { readConfig } from ${JSON.stringify(node)};
    const reading = readConfig({ directory: process.cwd() });
    const answer = await reading.catch(({ code, reason, message }) => ({ code, reason, message }));
    process.stdout.write(JSON.stringify(answer));`;
  return JSON.parse(await inProcess(code, folder));
}

const loaded = { layers: [{ layer: 'host', file: 'holdfast.config.ts', config: { limits: { maxCalls: 3 } } }] };
const hint = 'Install tsx to load it anyway: `npm install --save-dev tsx`';

test.each<readonly [string, Readonly<Record<string, string>>]>([
  ['an enum and parameter properties', { 'holdfast.config.ts': beyondTypes }],
  [
    'an enum of a file that it imports',
    { 'holdfast.config.ts': "export { default } from './lib/most.ts';\n", 'lib/most.ts': beyondTypes },
  ],
  ['an import by `paths`', { 'holdfast.config.ts': aliased, ...withPaths }],
  [
    'one by `paths` that looks like a package',
    { 'holdfast.config.ts': aliased.replace('@/limits', 'most'), ...withPaths },
  ],
  ['one by `paths` that begins with `#`', { 'holdfast.config.ts': aliased.replace('@/limits', '#own'), ...withPaths }],
  [
    'one by `paths` of a file that is extended',
    {
      'holdfast.config.ts': aliased,
      'tsconfig.json': '{ "extends": "./base/tsconfig.json" }',
      'base/tsconfig.json': settings.replaceAll('./lib', '../lib'),
      'lib/limits.ts': limits,
    },
  ],
])('a configuration with %s is loaded by an installed tsx, otherwise the error suggests it', async (_, files) => {
  await using withTsx = await createProject(files, true);
  expect(await read(withTsx)).toEqual(loaded);
  await using without = await createProject(files, false);
  expect(await read(without)).toEqual({
    code: 'config.invalid',
    reason: 'failed',
    message: expect.stringContaining(hint),
  });
});

test.each<readonly [string, Readonly<Record<string, string>>]>([
  ['a package that is not installed', { 'holdfast.config.ts': "import 'not-there';", ...withPaths }],
  ['a file that is not there', { 'holdfast.config.ts': "import './gone.ts';", ...withPaths }],
  ['a throw', { 'holdfast.config.ts': 'throw new Error("no luck");' }],
])('%s is an error that tsx would not fix', async (_, files) => {
  await using folder = await createProject(files, false);
  expect(await read(folder)).toEqual({
    code: 'config.invalid',
    reason: 'failed',
    message: expect.not.stringContaining('tsx'),
  });
});

test('Node.js loads modules without tsx if it can', async () => {
  await using folder = await createProject(
    {
      'holdfast.config.ts': 'export default { limits: { maxCalls: 3 as number } };',
      'node_modules/tsx/package.json': '{ "exports": { "./esm/api": "./api.js" } }',
      'node_modules/tsx/api.js': 'throw new Error("It was loaded.");',
    },
    false,
  );
  expect(await read(folder)).toEqual(loaded);
});

test('an error in a module loaded by tsx is reported as usual', async () => {
  await using folder = await createProject({ 'holdfast.config.ts': 'enum A { b }\nthrow new Error("no luck");' }, true);
  expect(await read(folder)).toEqual({
    code: 'config.invalid',
    reason: 'failed',
    message: expect.stringMatching(/^Cannot load `holdfast\.config\.ts`.*: no luck$/),
  });
});

test('tsx is called with its documented options', () => {
  expectTypeOf<typeof tsImport>().toBeCallableWith('file:///a.ts', { parentURL: 'file:///a.ts', tsconfig: false });
});

const plugin = `import { definePlugin } from ${JSON.stringify(core)};
enum Version { one = '1.0.0' }
export const own = definePlugin({ name: 'own', version: Version.one, description: 'A plugin.', holdfast: '*' });
`;

test('a plugin file with an enum is loaded by an installed tsx, otherwise the error suggests it', async () => {
  const files = { 'holdfast.config.ts': "export default { plugins: ['./own.ts'] };\n", 'own.ts': plugin };
  const code = `import { mergeConfig } from ${JSON.stringify(new URL('../config.ts', import.meta.url).href)};
    import { openRegistry, readConfig } from ${JSON.stringify(node)};
    const config = mergeConfig((await readConfig({ directory: process.cwd() })).layers);
    const { used, diagnostics } = await openRegistry(config, { directory: process.cwd() });
    process.stdout.write(JSON.stringify({ plugins: used.plugins.map(({ name }) => name), diagnostics }));`;
  await using withTsx = await createProject(files, true);
  expect(JSON.parse(await inProcess(code, withTsx))).toEqual({ plugins: ['own'], diagnostics: [] });
  await using without = await createProject(files, false);
  expect(JSON.parse(await inProcess(code, without))).toMatchObject({
    plugins: [],
    diagnostics: [{ code: 'plugin.package.failed', message: expect.stringContaining(hint) }],
  });
});
