import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { findStartedFile } from './started-file.ts';

const sha256 = createHash('sha256').update('run()').digest('hex');
const words = (command: string, ...args: readonly string[]) => ({ command, args, environment: [] });

test.each([
  { start: words('node', 'server.mjs'), path: 'server.mjs' },
  { start: words('/usr/bin/python3', '-u', './server.mjs', 'other.txt'), path: './server.mjs' },
  { start: words('./server.mjs', '--db', 'other.txt'), path: './server.mjs' },
  // The files that a program reads may change at any time.
  { start: words('server', 'other.txt'), path: undefined },
  { start: words('node', '--eval', 'serve()'), path: undefined },
  { start: words('npx', 'server.mjs'), path: undefined },
  { start: { url: 'https://a', headers: [] }, path: undefined },
])('$start', async ({ start, path }) => {
  await using folder = await createFolder({ 'server.mjs': 'run()', 'other.txt': 'data' });
  expect(findStartedFile(start, start, { directory: folder.path })).toEqual(path && { path, sha256 });
});

test('a file is named as the pin names it', async () => {
  await using folder = await createFolder({ 'server.mjs': 'run()' });
  const found = findStartedFile(
    words('node', join(folder.path, 'server.mjs')),
    words('node', '<workspace>/server.mjs'),
    {
      directory: '/',
    },
  );
  expect(found).toEqual({ path: '<workspace>/server.mjs', sha256 });
});
