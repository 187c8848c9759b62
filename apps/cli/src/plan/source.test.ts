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
  { file: 'gone.json', says: '`gone.json` is not there: name a file with a plan as JSON, or - for standard input.' },
  { file: '', says: 'The plan `` is a folder' },
  { file: 'folder', says: '`folder` is a folder: name the file in it.' },
  { file: 'large.json', says: '`large.json` has more than 16 MiB' },
  { file: 'bytes.json', says: '`bytes.json` is not UTF-8 text.' },
])('$file: $says', async ({ file, says }) => {
  await using folder = await createFolder({ 'folder/a.txt': '', 'large.json': '' });
  await folder.write('bytes.json', new Uint8Array([0x7b, 0xff, 0xfe]));
  // A file with a hole takes no place.
  await truncate(join(folder.path, 'large.json'), tooLarge);
  const { host } = createTestHost({ directory: folder.path });
  await expect(readPlanText(file, host)).rejects.toMatchObject({
    code: 'usage.plan_unreadable',
    message: expect.stringContaining(says),
  });
});

test('a flood on standard input is cut off', async () => {
  const { host, stdin } = createTestHost();
  stdin.end(Buffer.alloc(tooLarge, ' '));
  await expect(readPlanText('-', host)).rejects.toMatchObject({ code: 'usage.plan_unreadable' });
});

test('a person at the terminal is told what to do', async () => {
  const { host, stdin, stderr } = createTestHost({ terminals: ['stdin'] });
  stdin.end('{}');
  await readPlanText('-', host);
  expect(stderr()).toContain('Ctrl-D');
});
