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

/** The lock of a folder that nobody else uses, removed after the test. */
function openLock(content?: string): { readonly root: string; readonly path: string } {
  const root = `/nowhere/${randomUUID()}`;
  const path = findLockPath(root);
  mkdirSync(dirname(path), { recursive: true });
  onTestFinished(() => rmSync(path, { force: true }));
  if (content !== undefined) writeFileSync(path, content);
  return { root, path };
}

/** What a lock says of a process; `other` differs from this one. */
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

test('one process holds a lock as often as it likes, and lets go of it with the last', async () => {
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

test('it is had as soon as the other process lets go', async () => {
  const { root, path } = openLock(describe(parent));
  const lock = lockFolder(root);
  rmSync(path);
  (await lock)();
  expect(existsSync(path)).toBe(false);
});

test.each([
  { what: 'a process that has ended', content: () => describe({ pid: ended() }) },
  { what: 'a process whose number is in use again', content: () => describe({ startedAt: 'before' }), linux: true },
  { what: 'a process of another container, long ago', content: () => describe({ pidSpace: 'pid:[1]' }) },
  { what: 'a process that never said who it was', content: () => '' },
  { what: 'nobody that can be a process', content: () => describe({ pid: -1 }) },
  { what: 'nobody with a path for a token', content: () => describe({ token: '../../../x' }) },
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
  { what: 'whose process is about to say who it is', content: () => '' },
])('a lock $what is kept to at first', async ({ content }) => {
  const { root, path } = openLock(content());
  await expect(lockFolder(root, { waitMs: 0 })).rejects.toMatchObject({ code: 'file.busy' });
  expect(readFileSync(path, 'utf8')).toBe(content());
});

test('who is taking over a lock has it', async () => {
  const { root, path } = openLock(describe({ pid: ended() }));
  const claim = `${path}.0123456789abcdef`;
  writeFileSync(claim, describe({ ...parent, token: 'f'.repeat(16) }));
  await expect(lockFolder(root, { waitMs: 0 })).rejects.toMatchObject({ code: 'file.busy' });
  writeFileSync(claim, describe({ pid: ended(), token: 'f'.repeat(16) }));
  (await lockFolder(root, { waitMs: 0 }))();
  expect(existsSync(claim)).toBe(false);
});

test('a lock that was swept away and is another one now is not removed', async () => {
  const { root, path } = openLock();
  const release = await lockFolder(root);
  writeFileSync(path, describe(parent));
  release();
  expect(readPid(path)).toBe(process.ppid);
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
