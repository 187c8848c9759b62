import { spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFolder } from '../testing/test-folder.ts';
import { findWriter } from './waiting.ts';

const ended = spawnSync(process.execPath, ['--version']).pid;

test.each([
  { what: 'a running process', lock: { pid: process.pid, host: hostname() }, writer: process.pid },
  { what: 'an ended process', lock: { pid: ended, host: hostname() }, writer: undefined },
  { what: 'a process on another machine', lock: { pid: ended, host: 'elsewhere' }, writer: ended },
  { what: 'not a number', lock: { pid: '1', host: hostname() }, writer: undefined },
  { what: 'a process group', lock: { pid: -1, host: hostname() }, writer: undefined },
  { what: 'not an object', lock: 5, writer: undefined },
])('a lock of $what', async ({ lock, writer }) => {
  await using folder = await createFolder({ 'one.jsonl': '', 'one.jsonl.lock': JSON.stringify(lock) });
  expect(findWriter(join(folder.path, 'one.jsonl'))).toBe(writer);
});

test('no lock, an incomplete lock, no log', async () => {
  await using folder = await createFolder({ 'one.jsonl': '', 'two.jsonl': '', 'two.jsonl.lock': '{"pid":' });
  for (const name of ['one.jsonl', 'two.jsonl', 'gone.jsonl']) {
    expect(findWriter(join(folder.path, name))).toBe(undefined);
  }
});
