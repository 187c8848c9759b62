import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { createTestHost } from '../testing/test-host.ts';
import { toConfig } from '../testing/test-plugins.ts';
import { findFolder, findLimits, findModelName, readSettings, toLimits } from './settings.ts';

const at = (directory: string) => createTestHost({ directory }).host;

const found = { untrusted: 'refuse', trust: true, tools: true } as const;

const none = {
  maxRounds: undefined,
  maxCalls: undefined,
  maxTokens: undefined,
  timeoutMs: undefined,
  approvalTimeoutMs: undefined,
};

test('without a file nothing is found, and defaults are not set', async () => {
  await using folder = await createFolder();
  const settings = await readSettings(
    { limits: toLimits(none) },
    { workspace: folder.path, host: at(folder.path), found },
  );
  expect(settings).toMatchObject({ file: null, found: false, directory: folder.path });
  expect(findLimits(settings)).toEqual(none);
  expect(findModelName(settings)).toBe('offline');
  expect(await findFolder(settings)).toEqual({ name: './plugins', path: undefined });
});

test.each([
  { file: 'holdfast.config.mjs', tools: './own', model: 'script:a.json', named: './own', script: 'script:a.json' },
  { file: 'ci/my.mjs', tools: './own', model: 'script:a.json', named: './ci/own', script: 'script:./ci/a.json' },
  { file: 'ci/my.mjs', tools: '../own', model: 'openai:gpt-5', named: './own', script: 'openai:gpt-5' },
])('$file names $tools and $model relative to its folder', async ({ file, tools, model, named, script }) => {
  await using folder = await createFolder({ [file]: toConfig({ tools, model }), 'own/a.mjs': '', 'ci/own/a.mjs': '' });
  const settings = await readSettings({ config: file }, { host: at(folder.path), found });
  expect(await findFolder(settings)).toEqual({ name: named, path: join(folder.path, named) });
  expect(findModelName(settings)).toBe(script);
});

test('a configuration outside the current folder', async () => {
  await using folder = await createFolder({
    'up/my.mjs': toConfig({ tools: './own' }),
    'up/own/a.mjs': '',
    'here/x': '',
  });
  const settings = await readSettings({ config: '../up/my.mjs' }, { host: at(join(folder.path, 'here')), found });
  expect(await findFolder(settings)).toEqual({ name: '../up/own', path: join(folder.path, 'up/own') });
});

test('the command line overrides a configuration, with paths relative to the current folder', async () => {
  const config = toConfig({
    tools: './own',
    model: 'script:a.json',
    subfolders: true,
    limits: { maxCalls: 3, maxRounds: 4 },
  });
  await using folder = await createFolder({ 'ci/my.mjs': config, 'own/a.mjs': '', 'ci/own/a.mjs': '' });
  const limits = toLimits({ ...none, maxCalls: 9 });
  const given = { config: 'ci/my.mjs', tools: 'own', model: 'script:b.json', subfolders: false, limits };
  const settings = await readSettings(given, { host: at(folder.path), found });
  expect(await findFolder(settings)).toMatchObject({ name: 'own', path: join(folder.path, 'own') });
  expect(findModelName(settings)).toBe('script:b.json');
  expect(settings.effective.subfolders.value).toBe(false);
  expect(findLimits(settings)).toEqual({ ...none, maxCalls: 9, maxRounds: 4 });
});

test('a configured folder must exist', async () => {
  await using folder = await createFolder({ 'holdfast.config.mjs': toConfig({ tools: './gone' }) });
  const settings = await readSettings({}, { host: at(folder.path), found });
  await expect(findFolder(settings)).rejects.toMatchObject({ code: 'usage.invalid', reason: 'folder_missing' });
});

test('a workspace policy applies, but a configuration in the workspace is ignored', async () => {
  await using folder = await createFolder({
    'work/holdfast.policy.json': '{"locked": true}',
    'work/holdfast.config.mjs': "throw new Error('It was read.');",
    'here/x': '',
  });
  const place = { workspace: join(folder.path, 'work'), host: at(join(folder.path, 'here')), found };
  const settings = await readSettings({}, place);
  expect(settings).toMatchObject({ file: null, found: true });
  expect(settings.effective.locked.value).toBe(true);
});
