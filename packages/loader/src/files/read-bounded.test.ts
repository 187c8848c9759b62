import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createProject } from '../test-project.ts';
import { readBounded } from './read-bounded.ts';

test.each([0, 1, 4095, 4096, 4097, 1024 * 1024 - 1, 1024 * 1024, 2 * 1024 * 1024 + 7])('%i bytes', async (size) => {
  const bytes = Buffer.alloc(size, 'abc');
  await using project = await createProject({ x: bytes });
  const path = join(project.root, 'x');
  const reading = readBounded(path, size);
  expect(reading.type === 'read' && Buffer.compare(Buffer.from(reading.bytes), bytes)).toBe(0);
  expect(reading).toMatchObject({ stamp: [size, expect.any(Number), expect.any(Number), expect.any(Number)] });
  if (size > 0) expect(readBounded(path, size - 1)).toMatchObject({ type: 'refused', reason: 'too-large' });
});

test.runIf(process.platform === 'linux')('a file that contains more than its size says', async () => {
  expect(readBounded('/proc/self/status', 100)).toMatchObject({ type: 'refused', reason: 'too-large' });
  expect(readBounded('/proc/self/status', 1_000_000)).toMatchObject({
    type: 'read',
    stamp: [0, expect.any(Number), expect.any(Number), expect.any(Number)],
  });
});

test('anything but a regular file, or behind a link', async () => {
  await using project = await createProject({ x: '', 'folder/y': '' });
  await project.link('link', 'x');
  execFileSync('mkfifo', [join(project.root, 'fifo')]);
  const read = (path: string) => readBounded(join(project.root, path), 10);
  expect(read('gone')).toEqual({ type: 'missing' });
  expect(read('x/gone')).toEqual({ type: 'missing' });
  expect(read('folder')).toMatchObject({ reason: 'not-regular' });
  expect(read('fifo')).toMatchObject({ reason: 'not-regular' });
  expect(read('link')).toMatchObject({ reason: 'is-link' });
  expect(read('a'.repeat(300))).toMatchObject({
    reason: 'unreadable',
    why: expect.stringContaining('ENAMETOOLONG'),
  });
});
