import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { createTestHost } from '../testing/test-host.ts';
import { readPlanText } from './source.ts';

const tooLarge = 16 * 1024 * 1024 + 1;

test.each([
  { name: 'a file', file: 'plan.json' },
  { name: 'standard input', file: '-' },
])('$name is read as text', async ({ file }) => {
  await using folder = await createFolder({ 'plan.json': '{"nodes": "✓"}' });
  const { host, stdin } = createTestHost({ directory: folder.path });
  stdin.end('{"nodes": "✓"}');
  expect(await readPlanText(file, host)).toBe('{"nodes": "✓"}');
});

test.each([
  { file: 'gone.json', says: '`gone.json` does not exist: give a JSON file with a plan, or - for standard input.' },
  { file: '', says: 'The plan `` is a folder' },
  { file: 'folder', says: '`folder` is a folder: give a file.' },
  { file: 'large.json', says: '`large.json` is larger than 16 MiB' },
  { file: 'bytes.json', says: '`bytes.json` is not UTF-8 text.' },
])('$file: $says', async ({ file, says }) => {
  await using folder = await createFolder({ 'folder/a.txt': '', 'large.json': '' });
  await folder.write('bytes.json', new Uint8Array([0x7b, 0xff, 0xfe]));
  // A sparse file takes no space.
  await truncate(join(folder.path, 'large.json'), tooLarge);
  const { host } = createTestHost({ directory: folder.path });
  await expect(readPlanText(file, host)).rejects.toMatchObject({
    code: 'usage.invalid',
    reason: 'plan_unreadable',
    message: expect.stringContaining(says),
  });
});

test('too much standard input is cut off', async () => {
  const { host, stdin } = createTestHost();
  stdin.end(Buffer.alloc(tooLarge, ' '));
  await expect(readPlanText('-', host)).rejects.toMatchObject({ code: 'usage.invalid', reason: 'plan_unreadable' });
});

test('prints instructions at a terminal', async () => {
  const { host, stdin, stderr } = createTestHost({ terminals: ['stdin'] });
  stdin.end('{}');
  await readPlanText('-', host);
  expect(stderr()).toContain('Ctrl-D');
});
