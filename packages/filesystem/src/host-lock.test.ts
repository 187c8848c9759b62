import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { findLockPath, lockFolder } from './host-lock.ts';

/** The lock of a folder that nobody else uses, removed after the test. */
function openLock(content?: string): { readonly root: string; readonly path: string } {
  const root = `/nowhere/${randomUUID()}`;
  const path = findLockPath(root);
  onTestFinished(() => rmSync(path, { force: true }));
  if (content !== undefined) writeFileSync(path, content);
  return { root, path };
}

test('one process holds a lock as often as it likes, and lets go of it with the last', async () => {
  const { root, path } = openLock();
  const [first, second] = await Promise.all([lockFolder(root), lockFolder(root)]);
  expect(readFileSync(path, 'utf8')).toBe(String(process.pid));
  first();
  expect(existsSync(path)).toBe(true);
  second();
  expect(existsSync(path)).toBe(false);
});

test('file.busy while another process holds it', async () => {
  const { root, path } = openLock(String(process.ppid));
  await expect(lockFolder(root, { waitMs: 0 })).rejects.toMatchObject({
    code: 'file.busy',
    data: { process: process.ppid },
  });
  expect(readFileSync(path, 'utf8')).toBe(String(process.ppid));
  rmSync(path);
  (await lockFolder(root, { waitMs: 0 }))();
});

test('it is had as soon as the other process lets go', async () => {
  const { root, path } = openLock(String(process.ppid));
  const lock = lockFolder(root);
  rmSync(path);
  (await lock)();
  expect(existsSync(path)).toBe(false);
});

test.each([
  { what: 'a process that has ended', content: () => String(spawnSync(process.execPath, ['--version']).pid) },
  { what: 'a process that never said who it was', content: () => '' },
  { what: 'nobody that can be a process', content: () => 'what?' },
])('a lock of $what is taken over', async ({ content }) => {
  const { root, path } = openLock(content());
  utimesSync(path, 0, 0);
  const release = await lockFolder(root, { waitMs: 0 });
  expect(readFileSync(path, 'utf8')).toBe(String(process.pid));
  release();
});
