import { expect, test } from 'vitest';
import { createFolder } from '../../testing/test-folder.ts';
import { runHere, runMain } from '../../testing/test-program.ts';
import { findIssues, readSchema } from '../../testing/test-schemas.ts';

const core = import.meta.resolve('@holdfast/core');

/** A pack that denies the given tools, and `maxCalls` calls. */
function toPack(
  name: string,
  { version = '1.2.3', check = "names.includes(tool.name) ? deny('Not this one.') : allow" } = {},
): string {
  return `import { jsonSchema } from '${import.meta.resolve('@holdfast/schema/json')}';
import { allow, definePack, definePolicy, deny } from '${core}';
console.log('what a module prints');
export const ${name}Pack = definePack({
  name: '${name}',
  version: '${version}',
  description: 'Some tools are not called.',
  configSchema: jsonSchema({ type: 'object', properties: { names: { type: 'array', items: { type: 'string' } } } }),
  presets: {
    recommended: { description: 'No payments.', config: { names: ['pay'] } },
    strict: { description: 'No mail either.', config: { names: ['pay', 'send'] } },
  },
  policies: ({ names = [] }: { names?: string[] }) => [definePolicy({ name: 'not-called', check: ({ tool }) => (${check}) })],
});
`;
}

const cases = `export const cases = {
  presets: {
    recommended: { cases: [{ call: { tool: 'pay' }, answer: 'deny' }, { call: { tool: 'send' }, answer: 'allow' }] },
    strict: { different: ['path'], cases: [{ call: { tool: 'pay' }, answer: 'deny' }, { call: { tool: 'send' }, answer: 'deny' }] },
  },
};
`;
const manifest = JSON.stringify({
  name: 'x',
  version: '1.2.3',
  type: 'module',
  holdfast: 'pack',
  peerDependencies: { '@holdfast/core': '^1.0.0' },
});
const good = { 'package.json': manifest, 'src/index.ts': toPack('careful'), 'test/cases.ts': cases };

async function check(argv: readonly string[], folder: string) {
  return runHere(['pack', 'check', ...argv], { directory: folder });
}

async function checkJson(argv: readonly string[], folder: string) {
  const { exitCode, stdout, stderr } = await check([...argv, '--json'], folder);
  const printed = JSON.parse(stdout);
  expect({ stderr, issues: findIssues(await readSchema('pack-check'), printed) }).toEqual({ stderr: '', issues: [] });
  return { exitCode, printed };
}

test('output of a module goes to stderr', async () => {
  await using folder = await createFolder(good);
  const { exitCode, stdout, stderr } = await runMain(['pack', 'check', '.', '--json'], { folder: folder.path });
  expect({ exitCode, name: JSON.parse(stdout).name, stderr }).toEqual({
    exitCode: 0,
    name: 'careful',
    stderr: 'what a module prints\n',
  });
});

test('a valid pack is checked in its folder, with its rules and their cost', async () => {
  await using folder = await createFolder(good);
  const { exitCode, stdout, stderr } = await check(['.'], folder.path);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toMatch(
    /^Pack careful 1\.2\.3 {2}Some tools are not called\.\nsrc\/index\.ts, cases from test\/cases\.ts\n/,
  );
  expect(stdout).toMatch(/\npack +9 passed +0 failed +0 skipped\n/);
  expect(stdout).toMatch(/\nstrict +\d+ passed +0 failed +1 skipped\n/);
  expect(stdout).toMatch(/\nnot-called +1 +0 +3 +[\d.]+ µs\n/);
  expect(stdout).toContain(
    'skipped  strict: it denies the same call in other spellings: path: `path` is declared as different',
  );
  expect(stdout).toMatch(/\n\d+ checks: \d+ passed, 0 failed, 1 skipped\n$/);

  const { printed } = await checkJson(['.'], folder.path);
  expect(printed).toMatchObject({
    name: 'careful',
    version: '1.2.3',
    rules: [{ policy: 'not-called', allowed: 1, asked: 0, denied: 3 }],
  });
  expect(printed.checks).toContainEqual({ name: 'its metadata is valid', status: 'passed' });
});

test('problems of a pack are reported, with exit code 1', async () => {
  await using folder = await createFolder({
    ...good,
    'src/index.ts': toPack('careful', {
      version: '1.2.4',
      check: 'names.at(0).length > 99 ? allow : deny("No \\u202e.")',
    }),
  });
  const { exitCode, printed } = await checkJson(['.'], folder.path);
  expect(exitCode).toBe(1);
  const failed = printed.checks.filter(({ status }: { readonly status: string }) => status === 'failed');
  expect(failed.map(({ name }: { readonly name: string }) => name)).toEqual(
    expect.arrayContaining([
      'its metadata is valid',
      'every policy allows something and denies something',
      'any options are rejected, or create policies that decide',
      'recommended: 2. `send {}`: allow',
    ]),
  );
  const { stdout } = await check(['.'], folder.path);
  expect(stdout).toContain('says that it is 1.2.4, and its package.json says 1.2.3');
  // Control characters are escaped.
  expect(stdout).not.toContain('\u202e');
});

test.each<{ title: string; files: Record<string, string>; argv?: readonly string[] }>([
  {
    title: 'a file with named cases',
    files: { 'a/pack.ts': toPack('careful'), 'b/those.ts': cases },
    argv: ['a/pack.ts', '--cases', 'b/those.ts'],
  },
  {
    title: 'a folder without sources',
    files: {
      'p/package.json': manifest.replace('{', '{"exports":{".":{"import":"./dist/main.ts"}},'),
      'p/dist/main.ts': toPack('careful'),
      'p/cases.ts': cases,
    },
    argv: ['p'],
  },
  {
    title: 'an installed package',
    files: {
      'node_modules/@acme/pack/package.json': manifest.replace('{', '{"exports":"./dist/index.js",'),
      'node_modules/@acme/pack/dist/index.js': toPack('careful').replace(': { names?: string[] }', ''),
      // Not loaded: it contains types.
      'node_modules/@acme/pack/src/index.ts': 'const type: string = 1',
      'cases.js': cases,
    },
    argv: ['@acme/pack', '--cases', 'cases.js'],
  },
  {
    title: 'one of several',
    files: { ...good, 'src/index.ts': `${toPack('careful')}export const other = { ...carefulPack };` },
    argv: ['.', '--export', 'carefulPack'],
  },
  {
    title: 'the default export of several',
    files: {
      ...good,
      'src/index.ts': `${toPack('careful')}export const other = { ...carefulPack };\nexport { carefulPack as default };`,
    },
  },
])('$title is checked', async ({ files, argv = ['.'] }) => {
  await using folder = await createFolder(files);
  const { exitCode, printed } = await checkJson(argv, folder.path);
  expect({ exitCode, name: printed.name }).toEqual({ exitCode: 0, name: 'careful' });
});

test.each<{
  title: string;
  files: Record<string, string>;
  argv?: readonly string[];
  code: string;
  exitCode?: number;
  says?: string;
}>([
  { title: 'nothing', files: {}, code: 'usage.invalid: pack_missing' },
  {
    title: 'a package with a missing entry',
    files: { 'package.json': '{ "exports": "./dist/index.js" }' },
    code: 'usage.invalid: pack_missing',
    says: 'the entry in package.json, `dist/index.js`',
  },
  {
    title: 'a file that is not a module',
    files: good,
    argv: ['package.json'],
    code: 'usage.invalid: pack_missing',
    says: '`package.json` is not a module',
  },
  {
    title: 'a missing path',
    files: good,
    argv: ['gone'],
    code: 'usage.invalid: pack_missing',
    says: 'is not a folder, a file or an installed package',
  },
  { title: 'an invalid name', files: good, argv: ['../gone; x'], code: 'usage.invalid: pack_missing' },
  {
    title: 'a module without a pack',
    files: { ...good, 'src/index.ts': 'export const a = 1;' },
    code: 'usage.invalid: pack_missing',
    says: 'does not export a pack',
  },
  {
    title: 'a wrong export name',
    files: good,
    argv: ['.', '--export', 'constructor'],
    code: 'usage.invalid: pack_missing',
    says: 'it exports `carefulPack`',
  },
  {
    title: 'several packs',
    files: { ...good, 'src/index.ts': `${toPack('careful')}export const other = { ...carefulPack };` },
    code: 'usage.invalid: pack_unclear',
    says: 'choose one of `carefulPack`, `other`',
  },
  {
    title: 'no cases',
    files: { ...good, 'test/cases.ts': 'export const other = 1;' },
    code: 'usage.invalid: cases_missing',
    says: 'does not export `cases`',
  },
  {
    title: 'no cases file',
    files: { 'src/index.ts': toPack('careful') },
    code: 'usage.invalid: cases_missing',
    says: 'src/cases.ts',
  },
  {
    title: 'a missing cases file',
    files: good,
    argv: ['.', '--cases', 'gone.ts'],
    code: 'usage.invalid: cases_missing',
    says: 'File `gone.ts` does not exist',
  },
  {
    title: 'cases of an unknown preset',
    files: { ...good, 'test/cases.ts': 'export const cases = { presets: { night: { cases: [] } } };' },
    code: 'options.invalid',
    exitCode: 1,
    says: 'Presets: `recommended`',
  },
  {
    title: 'a module that throws',
    files: { ...good, 'src/index.ts': "throw new Error('Broken.');" },
    code: 'module.failed',
    exitCode: 1,
    says: 'Broken.',
  },
  {
    title: 'an invalid package.json',
    files: { ...good, 'package.json': '{' },
    code: 'module.failed',
    exitCode: 1,
    says: 'package.json',
  },
])('$title: $code', async ({ files, argv = ['.'], code, exitCode = 2, says = '' }) => {
  await using folder = await createFolder(files);
  const ended = await check(argv, folder.path);
  expect(ended).toMatchObject({ exitCode, stdout: '', stderr: expect.stringContaining(`(${code})`) });
  expect(ended.stderr).toContain(says);
});
