import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { findLockPath, lockFolder } from './host-lock.ts';
import { hostFilesystem } from './node.ts';

/** The lock of a folder that nobody else uses, removed after the test. */
function openLock(content?: string): { readonly root: string; readonly path: string } {
  const root = `/nowhere/${randomUUID()}`;
  const path = findLockPath(root);
  mkdirSync(dirname(path), { recursive: true });
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

test('a change holds it from its last look at the files to its end, whatever that is', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-lock-')));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const path = findLockPath(root);
  const files = hostFilesystem(root);
  const begin = async (content: string) => {
    const call = files.begin('call-1');
    await call.view.write('a.txt', content);
    return call;
  };
  const committed = await begin('one');
  expect(existsSync(path)).toBe(false);
  await committed.prepare();
  expect(existsSync(path)).toBe(true);
  await committed.commit();
  expect(existsSync(path)).toBe(false);

  const discarded = await begin('two');
  await discarded.prepare();
  expect(existsSync(path)).toBe(true);
  await discarded.discard();
  expect(existsSync(path)).toBe(false);

  const refused = await begin('three');
  writeFileSync(join(root, 'a.txt'), 'by somebody else');
  await expect(refused.prepare()).rejects.toMatchObject({ code: 'file.conflict' });
  expect(existsSync(path)).toBe(false);
});

test('file.lock_failed where no temporary file can be made', async () => {
  const { root, path } = openLock();
  vi.stubEnv('TMPDIR', path);
  onTestFinished(() => void vi.unstubAllEnvs());
  writeFileSync(path, 'a file, not a folder');
  await expect(lockFolder(root)).rejects.toMatchObject({
    code: 'file.lock_failed',
    message: expect.not.stringContaining(root),
  });
});

test('a lock that was swept away is let go of all the same', async () => {
  const { root, path } = openLock();
  const release = await lockFolder(root);
  rmSync(path);
  release();
  expect(existsSync(path)).toBe(false);
});
