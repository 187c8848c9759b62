import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { hostProcesses } from '@holdfast/session/lock';
import { expect, onTestFinished, test, vi } from 'vitest';
import { hostFilesystem } from '../node.ts';
import { findLockPath, lockFolder } from './lock.ts';

/** The lock of an unused folder, removed after the test. */
function openLock(content?: string): { readonly root: string; readonly path: string } {
  const root = `/nowhere/${randomUUID()}`;
  const path = findLockPath(root);
  mkdirSync(dirname(path), { recursive: true });
  onTestFinished(() => rmSync(path, { force: true }));
  if (content !== undefined) writeFileSync(path, content);
  return { root, path };
}

/** The content of a lock; `other` overrides the identity of this process. */
function describe(other: object = {}): string {
  return JSON.stringify({ token: '0123456789abcdef', ...hostProcesses.identify(), ...other });
}

function ended(): number {
  return spawnSync(process.execPath, ['--version']).pid;
}

const parent = { pid: process.ppid, startedAt: '' };

function readPid(path: string): unknown {
  const owner: unknown = JSON.parse(readFileSync(path, 'utf8'));
  return typeof owner === 'object' && owner !== null && 'pid' in owner ? owner.pid : undefined;
}

test('a process may take a lock repeatedly, and releases it with the last release', async () => {
  const { root, path } = openLock();
  const [first, second] = await Promise.all([lockFolder(root), lockFolder(root)]);
  expect(readPid(path)).toBe(process.pid);
  first();
  expect(existsSync(path)).toBe(true);
  second();
  expect(existsSync(path)).toBe(false);
});

test('file.busy while another process holds it', async () => {
  const { root, path } = openLock(describe(parent));
  await expect(lockFolder(root, { waitMs: 0 })).rejects.toMatchObject({
    code: 'file.busy',
    data: { process: process.ppid },
  });
  expect(readPid(path)).toBe(process.ppid);
  rmSync(path);
  (await lockFolder(root, { waitMs: 0 }))();
});

test('it is granted as soon as the other process releases it', async () => {
  const { root, path } = openLock(describe(parent));
  const lock = lockFolder(root);
  rmSync(path);
  (await lock)();
  expect(existsSync(path)).toBe(false);
});

test.each([
  { what: 'a process that has ended', content: () => describe({ pid: ended() }) },
  { what: 'a process whose number was reused', content: () => describe({ startedAt: 'before' }), linux: true },
  { what: 'a process of another container, long ago', content: () => describe({ pidSpace: 'pid:[1]' }) },
  { what: 'a process that never wrote its identity', content: () => '' },
  { what: 'an impossible process', content: () => describe({ pid: -1 }) },
  { what: 'an owner with a path as token', content: () => describe({ token: '../../../x' }) },
])('a lock of $what is taken over', async ({ content, linux }) => {
  if (linux === true && process.platform !== 'linux') return;
  const { root, path } = openLock(content());
  utimesSync(path, 0, 0);
  const release = await lockFolder(root, { waitMs: 0 });
  expect(readPid(path)).toBe(process.pid);
  release();
  expect(readdirSync(dirname(path)).filter((name) => name.startsWith(basename(path)))).toEqual([]);
});

test.each([
  { what: 'of another container', content: () => describe({ pidSpace: 'pid:[1]' }) },
  { what: 'whose process is about to write its identity', content: () => '' },
])('a lock $what is respected at first', async ({ content }) => {
  const { root, path } = openLock(content());
  await expect(lockFolder(root, { waitMs: 0 })).rejects.toMatchObject({ code: 'file.busy' });
  expect(readFileSync(path, 'utf8')).toBe(content());
});

test('a process that is taking over a lock holds it', async () => {
  const { root, path } = openLock(describe({ pid: ended() }));
  const claim = `${path}.0123456789abcdef`;
  writeFileSync(claim, describe({ ...parent, token: 'f'.repeat(16) }));
  await expect(lockFolder(root, { waitMs: 0 })).rejects.toMatchObject({ code: 'file.busy' });
  writeFileSync(claim, describe({ pid: ended(), token: 'f'.repeat(16) }));
  (await lockFolder(root, { waitMs: 0 }))();
  expect(existsSync(claim)).toBe(false);
});

test('a lock that was deleted and replaced is not removed', async () => {
  const { root, path } = openLock();
  const release = await lockFolder(root);
  writeFileSync(path, describe(parent));
  release();
  expect(readPid(path)).toBe(process.ppid);
});

test('a commit holds it from its last check of the files to its end', async () => {
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
  writeFileSync(join(root, 'a.txt'), 'by another program');
  await expect(refused.prepare()).rejects.toMatchObject({ code: 'file.conflict' });
  expect(existsSync(path)).toBe(false);
});

test('file.write_failed: lock if no temporary file can be created', async () => {
  const { root, path } = openLock();
  vi.stubEnv('TMPDIR', path);
  onTestFinished(() => void vi.unstubAllEnvs());
  writeFileSync(path, 'a file, not a folder');
  await expect(lockFolder(root)).rejects.toMatchObject({
    code: 'file.write_failed',
    reason: 'lock',
    message: expect.not.stringContaining(root),
  });
});

test('a deleted lock can still be released', async () => {
  const { root, path } = openLock();
  const release = await lockFolder(root);
  rmSync(path);
  release();
  expect(existsSync(path)).toBe(false);
});
