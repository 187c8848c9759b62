import { readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { readUserFile, userFolder, writeUserFile } from './folder.ts';

test.runIf(process.platform !== 'win32').each([
  { environment: { HOLDFAST_HOME: '/home/ada/.holdfast', XDG_CONFIG_HOME: '/xdg' }, folder: '/home/ada/.holdfast' },
  { environment: { HOLDFAST_HOME: 'own' }, folder: '/project/own' },
  { environment: { HOLDFAST_HOME: '', XDG_CONFIG_HOME: '/xdg' }, folder: '/xdg/holdfast' },
  { environment: { XDG_CONFIG_HOME: 'relative' }, folder: join(homedir(), '.config', 'holdfast') },
  { environment: {}, folder: join(homedir(), '.config', 'holdfast') },
])('the user folder of $environment is $folder', ({ environment, folder }) => {
  expect(userFolder({ environment, directory: '/project' })).toBe(folder);
});

test('files are private to the user, and can be read again', async () => {
  await using folder = await createFolder();
  const host = { environment: { HOLDFAST_HOME: 'home' }, directory: folder.path };
  expect(await readUserFile('a.json', host)).toBeUndefined();
  await writeUserFile('a.json', 'one', host);
  await writeUserFile('a.json', 'two', host);
  expect(await readUserFile('a.json', host)).toBe('two');
  expect(await readdir(join(folder.path, 'home'))).toEqual(['a.json']);
  expect((await stat(join(folder.path, 'home'))).mode & 0o777).toBe(0o700);
  expect((await stat(join(folder.path, 'home', 'a.json'))).mode & 0o777).toBe(0o600);
});

test('an unusable folder is an error with a code', async () => {
  await using folder = await createFolder({ home: 'a file' });
  const host = { environment: { HOLDFAST_HOME: 'home' }, directory: folder.path };
  await expect(readUserFile('a.json', host)).rejects.toMatchObject({
    code: 'user_folder.unusable',
    reason: 'unreadable',
  });
  await expect(writeUserFile('a.json', '', host)).rejects.toMatchObject({
    code: 'user_folder.unusable',
    reason: 'unwritable',
  });
});
