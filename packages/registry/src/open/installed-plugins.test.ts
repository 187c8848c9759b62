import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findInstalledPlugins } from './package-manifest.ts';
import { createFolder } from './test-folder.ts';

const manifest = (fields: Readonly<Record<string, unknown>>): string => JSON.stringify(fields);
const poison = 'globalThis.holdfastRanInstalled = true;';

test('finds packages that declare themselves, sorted by name, without running them', async () => {
  await using folder = await createFolder({
    'node_modules/zeta/package.json': manifest({
      name: 'zeta',
      version: '1.0.0',
      holdfast: 'plugin',
      description: 'Z.',
    }),
    'node_modules/zeta/index.js': poison,
    'node_modules/@acme/guard/package.json': manifest({ name: '@acme/guard', version: '2.0.0-rc.1', holdfast: 'pack' }),
    'node_modules/@acme/guard/index.js': poison,
    'node_modules/@acme/other/package.json': manifest({ name: '@acme/other', version: '1.0.0' }),
    'node_modules/.bin/x': '',
    'node_modules/.package-lock.json': '{}',
    'node_modules/.pnpm/hidden/package.json': manifest({ holdfast: 'plugin' }),
    'store/git/package.json': manifest({ name: 'git', version: '3.0.0', holdfast: 'plugin' }),
  });
  await folder.link('node_modules/git', join('..', 'store', 'git'));
  expect(await findInstalledPlugins(folder.path)).toEqual([
    { name: '@acme/guard', version: '2.0.0-rc.1', kind: 'pack', description: '' },
    { name: 'git', version: '3.0.0', kind: 'plugin', description: '' },
    { name: 'zeta', version: '1.0.0', kind: 'plugin', description: 'Z.' },
  ]);
  expect(globalThis).not.toHaveProperty('holdfastRanInstalled');
});

test('packages of parent folders are found, and nearer ones shadow them', async () => {
  await using folder = await createFolder({
    'node_modules/far/package.json': manifest({ version: '1.0.0', holdfast: 'plugin' }),
    'node_modules/both/package.json': manifest({ version: '1.0.0', holdfast: 'plugin' }),
    'node_modules/hidden/package.json': manifest({ version: '1.0.0', holdfast: 'plugin' }),
    'app/node_modules/both/package.json': manifest({ version: '2.0.0', holdfast: 'pack' }),
    'app/node_modules/hidden/package.json': manifest({ version: '2.0.0' }),
  });
  const found = await findInstalledPlugins(join(folder.path, 'app'));
  expect(found.map(({ name, version }) => `${name} ${version}`)).toEqual(['both 2.0.0', 'far 1.0.0']);
});

test.each([
  ['another word', manifest({ holdfast: 'plugins' })],
  ['a list', manifest({ holdfast: ['plugin'] })],
  ['an object', manifest({ holdfast: { toString: 'plugin' } })],
  ['true', manifest({ holdfast: true })],
  ['a manifest that is a list', '[{ "holdfast": "plugin" }]'],
  ['a manifest that is null', 'null'],
  ['a manifest that is not JSON', 'holdfast: plugin'],
  ['an empty manifest', ''],
  ['a manifest under `__proto__`', '{ "__proto__": { "holdfast": "plugin" } }'],
  ['a huge manifest', `${' '.repeat(2_000_000)}{ "holdfast": "plugin" }`],
])('%s is skipped', async (_, text) => {
  await using folder = await createFolder({
    'node_modules/odd/package.json': text,
    'node_modules/sound/package.json': manifest({ holdfast: 'pack', version: '1.0.0' }),
  });
  expect((await findInstalledPlugins(folder.path)).map(({ name }) => name)).toEqual(['sound']);
});

test('circular links, FIFOs, files and odd names are skipped', async () => {
  await using folder = await createFolder({
    'node_modules/Bad Name/package.json': manifest({ holdfast: 'plugin' }),
    'node_modules/@scope/x y/package.json': manifest({ holdfast: 'plugin' }),
    'node_modules/@file': '',
    'node_modules/file': '',
    'node_modules/pipe/x': '',
    'node_modules/strange/package.json': manifest({ holdfast: 'plugin', version: 7, description: 'a\u001b[31mb' }),
  });
  await folder.link('node_modules/loop', 'loop');
  await folder.link('node_modules/gone', '../gone');
  execFileSync('mkfifo', [join(folder.path, 'node_modules/pipe/package.json')]);
  expect(await findInstalledPlugins(folder.path)).toEqual([
    { name: 'strange', version: '', kind: 'plugin', description: '' },
  ]);
});

test('without installed packages the list is empty', async () => {
  await using folder = await createFolder({ node_modules: 'a file' });
  expect(await findInstalledPlugins(join(folder.path, 'not', 'there'))).toEqual([]);
});
