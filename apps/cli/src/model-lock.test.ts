import { spawnSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lockModel } from './model-lock.ts';
import { createFolder } from './test-folder.ts';

const ended = spawnSync(process.execPath, ['--version']).pid;
const token = '0123456789abcdef';

test('one at a time; whoever comes later may have it when it is given back', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'tiny.gguf');
  const unlock = await lockModel(path);
  await expect(lockModel(path)).rejects.toMatchObject({
    code: 'download.busy',
    message: expect.stringContaining(`process ${process.pid} on \`${hostname()}\``),
    data: { lock: `${path}.lock` },
  });
  await unlock();
  const again = await lockModel(path);
  await again();
  expect(await readdir(folder.path)).toEqual([]);
});

test.each([
  { what: 'a process that has ended', lock: { pid: ended, host: hostname(), token }, isTaken: true },
  { what: 'a process that runs', lock: { pid: process.pid, host: hostname(), token }, isTaken: false },
  { what: 'a process of another machine', lock: { pid: ended, host: 'elsewhere', token }, isTaken: false },
  { what: 'a group of processes', lock: { pid: -1, host: hostname(), token }, isTaken: false },
  { what: 'no number', lock: { pid: String(ended), host: hostname(), token }, isTaken: false },
  { what: 'a token that leads elsewhere', lock: { pid: ended, host: hostname(), token: '../x' }, isTaken: false },
  { what: 'no object', lock: 5, isTaken: false },
])('a lock of $what is taken over: $isTaken', async ({ lock, isTaken }) => {
  await using folder = await createFolder({ 'tiny.gguf.lock': JSON.stringify(lock) });
  const path = join(folder.path, 'tiny.gguf');
  if (isTaken) {
    const unlock = await lockModel(path);
    await expect(lockModel(path)).rejects.toMatchObject({ code: 'download.busy' });
    await unlock();
    expect(await readdir(folder.path)).toEqual([]);
    return;
  }
  await expect(lockModel(path)).rejects.toMatchObject({ code: 'download.busy' });
  expect(await readFile(`${path}.lock`, 'utf8')).toBe(JSON.stringify(lock));
});

test('half a lock is one, and nobody takes it over', async () => {
  await using folder = await createFolder({ 'tiny.gguf.lock': '{"pid":' });
  await expect(lockModel(join(folder.path, 'tiny.gguf'))).rejects.toMatchObject({
    code: 'download.busy',
    message: expect.stringContaining('another process'),
  });
});

test('a dead lock that somebody else is just taking over is left to them', async () => {
  await using folder = await createFolder({
    'tiny.gguf.lock': JSON.stringify({ pid: ended, host: hostname(), token }),
    [`tiny.gguf.lock.${token}`]: JSON.stringify({ pid: process.pid, host: hostname(), token: token.replace('0', 'f') }),
  });
  await expect(lockModel(join(folder.path, 'tiny.gguf'))).rejects.toMatchObject({ code: 'download.busy' });
  expect(await readdir(folder.path)).toEqual(['tiny.gguf.lock', `tiny.gguf.lock.${token}`]);
});

test('of many who find a dead lock at the same time, at most one gets it', async () => {
  for (let round = 0; round < 30; round += 1) {
    await using folder = await createFolder({
      'tiny.gguf.lock': JSON.stringify({ pid: ended, host: hostname(), token }),
    });
    const path = join(folder.path, 'tiny.gguf');
    const tries = await Promise.allSettled(Array.from({ length: 8 }, () => lockModel(path)));
    const won = tries.filter(({ status }) => status === 'fulfilled');
    expect(won).toHaveLength(1);
    expect(await readdir(folder.path)).toEqual(['tiny.gguf.lock']);
  }
});

test('a lock that somebody else has made meanwhile is left alone', async () => {
  await using folder = await createFolder();
  const path = join(folder.path, 'tiny.gguf');
  const unlock = await lockModel(path);
  const other = JSON.stringify({ pid: process.pid, host: hostname(), token });
  await folder.write('tiny.gguf.lock', other);
  await unlock();
  expect(await readFile(`${path}.lock`, 'utf8')).toBe(other);
});

test('a folder in which nothing can be made', async () => {
  await using folder = await createFolder({ file: '' });
  await expect(lockModel(join(folder.path, 'file', 'tiny.gguf'))).rejects.toMatchObject({
    code: 'download.folder_unusable',
  });
});
