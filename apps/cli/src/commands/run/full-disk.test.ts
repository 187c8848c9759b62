import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import type { SessionStore } from '@holdfast/session';
import { createJsonlLog, type LogReading, readLog } from '@holdfast/session/jsonl';
import { expect, test } from 'vitest';
import { runProgram } from '../../program.ts';
import { createFolder } from '../../testing/test-folder.ts';
import { createTestHost } from '../../testing/test-host.ts';
import { runShell, shellCommand, toTool } from '../../testing/test-program.ts';
import { findLogFolder } from '../../workspace/session-logs.ts';

const write = (path: string, content: string) => ({ calls: [{ name: 'write_file', arguments: { path, content } }] });
const turns = [write('one.txt', '1'), write('two.txt', '2'), write('three.txt', '3'), { text: 'All written.' }];
const files = { 'script.json': JSON.stringify({ turns }) };
const argv = ['run', 'Write them.', '--model', 'script:script.json'];

/** A log on a disk that is full at record `at`, once or from then on. */
function openFullLog(path: string, at: number, forEver: boolean): SessionStore {
  const store = createJsonlLog(path);
  let count = 0;
  return {
    append(entry, seq, atMs) {
      const isFull = count === at || (forEver && count > at);
      count += 1;
      if (isFull)
        throw new HoldfastError('log.write_failed', 'The session log could not be written; is the disk full?');
      store.append(entry, seq, atMs);
    },
    close: () => store.close(),
  };
}

async function readOnlyLog(workspace: string): Promise<LogReading> {
  const names = await readdir(findLogFolder(workspace));
  return readLog(join(findLogFolder(workspace), names.find((name) => name.endsWith('.jsonl')) ?? ''));
}

/** The files created according to a log. */
function listWritten({ records }: LogReading): readonly string[] {
  return records.flatMap((record) => (record.type === 'tool-call-end' ? toKeys(record['writes']) : [])).sort();
}

function toKeys(writes: unknown): readonly string[] {
  return (writes as readonly { readonly key: string }[]).map(({ key }) => key);
}

async function listMade(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => !['.holdfast', 'plugins', 'script.json'].includes(name)).sort();
}

// session-start, options, run-start, four messages, the slices of a policy and of written files, three calls with their writes, run-end.
const recordsOfRun = 16;

test('with free space the run has the records that the tests below rely on', async () => {
  await using folder = await createFolder(files);
  const { host } = createTestHost({ directory: folder.path });
  expect(await runProgram(argv, host, '0')).toBe(0);
  expect((await readOnlyLog(folder.path)).records).toHaveLength(recordsOfRun);
});

const positions = Array.from({ length: recordsOfRun }, (_, at) => at);

test.each(positions)('a disk that is full from record %i on: reported, and the files match the log', async (at) => {
  await using folder = await createFolder(files);
  const { host, stdout, stderr } = createTestHost({
    directory: folder.path,
    openLog: (path) => openFullLog(path, at, true),
  });
  expect(await runProgram(argv, host, '0')).toBe(1);
  expect(stderr()).toBe('error: The session log could not be written; is the disk full? (log.write_failed)\n');
  const reading = await readOnlyLog(folder.path);
  expect(reading.records).toHaveLength(at);
  const made = await listMade(folder.path);
  expect(made).toEqual(listWritten(reading));
  for (const path of made) expect(stdout()).toContain(`+ created ${path}`);
  if (at > 2) expect(stdout()).toContain('The run stopped early.');
});

test.each(positions)('a disk that is full only at record %i: the files match the log', async (at) => {
  await using folder = await createFolder(files);
  const { host } = createTestHost({ directory: folder.path, openLog: (path) => openFullLog(path, at, false) });
  const exitCode = await runProgram(argv, host, '0');
  const reading = await readOnlyLog(folder.path);
  expect(reading).not.toHaveProperty('problem');
  expect(await listMade(folder.path)).toEqual(listWritten(reading));
  // Only a call whose record failed can be survived: it fails, and the run continues.
  const survived = reading.records.some((record) => record.type === 'run-end');
  expect(exitCode).toBe(survived ? 0 : 1);
});

// The operating system enforces the limit: files of the process cannot exceed this many blocks of 1024 bytes.
test.each([1, 2, 3])('files limited to %i KiB: the log is cut at a record, and the files match it', async (size) => {
  await using folder = await createFolder(files);
  const { exitCode, stderr } = await runShell(
    `ulimit -f ${size}; ${shellCommand} run 'Write them.' --model script:script.json`,
    { folder: folder.path },
  );
  expect(exitCode).toBe(1);
  expect(stderr).toContain('The session log could not be written; is the disk full? (EFBIG');
  const reading = await readOnlyLog(folder.path);
  expect({ torn: reading.torn, problem: reading.problem }).toEqual({ torn: undefined, problem: undefined });
  expect(reading.records.length).toBeGreaterThan(0);
  expect(await listMade(folder.path)).toEqual(listWritten(reading));
});

test('a failed write fails its call without traces, and the run continues', async () => {
  const body = "await context.filesystem.write('large.txt', 'x'.repeat(100_000)); return 'written';";
  await using folder = await createFolder({
    'plugins/grow.mjs': toTool('grow', body, 'state'),
    'script.json': JSON.stringify({
      turns: [{ calls: [{ name: 'grow', arguments: {} }] }, write('small.txt', 'x'), { text: 'Done.' }],
    }),
  });
  const { exitCode, stdout } = await runShell(`ulimit -f 40; ${shellCommand} run 'Grow.' --model script:script.json`, {
    folder: folder.path,
  });
  expect(exitCode).toBe(0);
  expect(stdout).toContain(
    '`large.txt` cannot be changed: it would be larger than the disk or a limit allows (EFBIG). (file.write_failed)',
  );
  expect(await listMade(folder.path)).toEqual(['small.txt']);
});
