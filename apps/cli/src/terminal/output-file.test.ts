import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { createTestHost } from '../testing/test-host.ts';
import { checkOutput, writeOutput } from './output-file.ts';

test('a file is written atomically, without leftovers', async () => {
  await using folder = await createFolder();
  const { host } = createTestHost({ directory: folder.path });
  const output = { file: 'a.json', force: false };
  await checkOutput(output, host);
  await writeOutput(output, 'one', host);
  expect(await readFile(join(folder.path, 'a.json'), 'utf8')).toBe('one');
  await expect(checkOutput(output, host)).rejects.toMatchObject({ code: 'usage.invalid', reason: 'file_exists' });
  // Created by another process since the check.
  await expect(writeOutput(output, 'two', host)).rejects.toMatchObject({
    code: 'usage.invalid',
    reason: 'file_exists',
  });
  expect(await readFile(join(folder.path, 'a.json'), 'utf8')).toBe('one');
  const forced = { ...output, force: true };
  await checkOutput(forced, host);
  await writeOutput(forced, 'three', host);
  expect(await readFile(join(folder.path, 'a.json'), 'utf8')).toBe('three');
  expect(await readdir(folder.path)).toEqual(['a.json']);
});

test('nothing is written through a dangling link', async () => {
  await using folder = await createFolder();
  await folder.link('a.json', 'gone.json');
  const { host } = createTestHost({ directory: folder.path });
  const output = { file: 'a.json', force: false };
  await expect(checkOutput(output, host)).rejects.toMatchObject({ code: 'usage.invalid', reason: 'file_exists' });
  await expect(writeOutput(output, 'x', host)).rejects.toMatchObject({ code: 'usage.invalid', reason: 'file_exists' });
  expect(await readdir(folder.path)).toEqual(['a.json']);
});

test.each([
  { file: 'gone/a.json', reason: 'folder_missing', unwritable: 'output.unwritable' },
  { file: 'there', reason: 'file_exists', unwritable: 'output.unwritable' },
])('$file: $reason, and $unwritable when written anyway', async ({ file, reason, unwritable }) => {
  await using folder = await createFolder();
  await mkdir(join(folder.path, 'there'));
  const { host } = createTestHost({ directory: folder.path });
  await expect(checkOutput({ file, force: true }, host)).rejects.toMatchObject({ code: 'usage.invalid', reason });
  await expect(writeOutput({ file, force: true }, 'x', host)).rejects.toMatchObject({ code: unwritable });
  expect(await readdir(folder.path)).toEqual(['there']);
});
