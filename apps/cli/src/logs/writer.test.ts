import { spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { findWriter } from './waiting.ts';

const ended = spawnSync(process.execPath, ['--version']).pid;

test.each([
  { what: 'a process that runs', lock: { pid: process.pid, host: hostname() }, writer: process.pid },
  { what: 'a process that has ended', lock: { pid: ended, host: hostname() }, writer: undefined },
  { what: 'a process of another machine', lock: { pid: ended, host: 'elsewhere' }, writer: ended },
  { what: 'no number', lock: { pid: '1', host: hostname() }, writer: undefined },
  { what: 'a group of processes', lock: { pid: -1, host: hostname() }, writer: undefined },
  { what: 'no object', lock: 5, writer: undefined },
])('a lock of $what', async ({ lock, writer }) => {
  await using folder = await createFolder({ 'one.jsonl': '', 'one.jsonl.lock': JSON.stringify(lock) });
  expect(findWriter(join(folder.path, 'one.jsonl'))).toBe(writer);
});

test('no lock, half a lock, no log', async () => {
  await using folder = await createFolder({ 'one.jsonl': '', 'two.jsonl': '', 'two.jsonl.lock': '{"pid":' });
  for (const name of ['one.jsonl', 'two.jsonl', 'gone.jsonl']) {
    expect(findWriter(join(folder.path, name))).toBe(undefined);
  }
});
