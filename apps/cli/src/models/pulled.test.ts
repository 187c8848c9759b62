import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { findPulledModel, isModelName, listPulledModels, modelsFolder } from './pulled.ts';

const home = resolve('/home/ada');

test.each([
  { platform: 'linux', environment: {}, folder: join(home, '.local/share/holdfast/models') },
  { platform: 'linux', environment: { XDG_DATA_HOME: '/data' }, folder: '/data/holdfast/models' },
  { platform: 'linux', environment: { XDG_DATA_HOME: 'data' }, folder: join(home, '.local/share/holdfast/models') },
  { platform: 'linux', environment: { XDG_DATA_HOME: '' }, folder: join(home, '.local/share/holdfast/models') },
  { platform: 'freebsd', environment: {}, folder: join(home, '.local/share/holdfast/models') },
  {
    platform: 'darwin',
    environment: { XDG_DATA_HOME: '/data' },
    folder: join(home, 'Library/Application Support/holdfast/models'),
  },
  { platform: 'win32', environment: {}, folder: join(home, 'AppData/Local/holdfast/models') },
  { platform: 'win32', environment: { LOCALAPPDATA: '/local' }, folder: '/local/holdfast/models' },
  { platform: 'linux', environment: { HOLDFAST_MODELS: '/models', XDG_DATA_HOME: '/data' }, folder: '/models' },
  { platform: 'win32', environment: { HOLDFAST_MODELS: 'models' }, folder: '/base/models' },
  {
    platform: 'darwin',
    environment: { HOLDFAST_MODELS: '' },
    folder: join(home, 'Library/Application Support/holdfast/models'),
  },
] as const)('on $platform with $environment, models are in $folder', ({ platform, environment, folder }) => {
  expect(modelsFolder(environment, { platform, home, directory: '/base' })).toBe(folder);
});

test('a name is a single file name in the folder, on every system', () => {
  for (const name of ['a', 'qwen2.5-0.5b-instruct', 'SmolLM2_360M', 'a'.repeat(100)]) {
    expect({ name, is: isModelName(name) }).toEqual({ name, is: true });
  }
  const others = [
    '',
    '.',
    '..',
    '.a',
    'a.',
    'a/b',
    String.raw`a\b`,
    '../a',
    'a b',
    'a\n',
    'a\0',
    'C:a',
    'a:b',
    'é',
    '-a',
  ];
  for (const name of [...others, 'a.gguf', 'a.GGUF', 'a'.repeat(101)]) {
    expect({ name, is: isModelName(name) }).toEqual({ name, is: false });
  }
});

test('pulled models are the complete files with the extension, by name', async () => {
  await using folder = await createFolder({
    'b.gguf': 'GGUF',
    'a-1.5.gguf': 'GGUF!',
    'c.gguf.part': 'half',
    'c.gguf.part.json': '{}',
    'd.txt': '',
    '.gguf': '',
    'inner/e.gguf': '',
  });
  await mkdir(join(folder.path, 'f.gguf'));
  expect(await listPulledModels(folder.path)).toEqual([
    { name: 'a-1.5', path: join(folder.path, 'a-1.5.gguf'), bytes: 5 },
    { name: 'b', path: join(folder.path, 'b.gguf'), bytes: 4 },
  ]);
  expect(await findPulledModel('b', folder.path)).toBe(join(folder.path, 'b.gguf'));
  for (const name of ['c', 'd', 'f', 'gone', '', '../b', 'inner/e', 'b.gguf']) {
    expect({ name, found: await findPulledModel(name, folder.path) }).toEqual({ name, found: undefined });
  }
});

test('a missing folder has no models; a file in its place is an error', async () => {
  await using folder = await createFolder({ file: '' });
  const gone = join(folder.path, 'gone');
  expect(await listPulledModels(gone)).toEqual([]);
  expect(await findPulledModel('a', gone)).toBe(undefined);
  const file = join(folder.path, 'file');
  const unusable = { code: 'download.failed', reason: 'folder_unusable', message: expect.stringContaining(file) };
  await expect(listPulledModels(file)).rejects.toMatchObject(unusable);
  await expect(findPulledModel('a', file)).rejects.toMatchObject(unusable);
});
