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

/** A log on a disk that is full at record `at`, and from then on or only for that once. */
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

/** The files that a log says were made. */
function listWritten({ records }: LogReading): readonly string[] {
  return records.flatMap((record) => (record.type === 'tool-call-end' ? toKeys(record['writes']) : [])).sort();
}

function toKeys(writes: unknown): readonly string[] {
  return (writes as readonly { readonly key: string }[]).map(({ key }) => key);
}

async function listMade(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => !['.holdfast', 'plugins', 'script.json'].includes(name)).sort();
}

// session-start, what was given, run-start, four messages, the slices of a policy and of written files, three calls with what each writes, run-end.
const recordsOfRun = 16;

test('nothing is full: the run has the records that are counted on below', async () => {
  await using folder = await createFolder(files);
  const { host } = createTestHost({ directory: folder.path });
  expect(await runProgram(argv, host, '0')).toBe(0);
  expect((await readOnlyLog(folder.path)).records).toHaveLength(recordsOfRun);
});

const positions = Array.from({ length: recordsOfRun }, (_, at) => at);

test.each(positions)('a disk that is full from record %i on: said, and files are as the log says', async (at) => {
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
  if (at > 2) expect(stdout()).toContain('The run broke off.');
});

test.each(positions)('a disk that is full at record %i only: files are as the log says', async (at) => {
  await using folder = await createFolder(files);
  const { host } = createTestHost({ directory: folder.path, openLog: (path) => openFullLog(path, at, false) });
  const exitCode = await runProgram(argv, host, '0');
  const reading = await readOnlyLog(folder.path);
  expect(reading).not.toHaveProperty('problem');
  expect(await listMade(folder.path)).toEqual(listWritten(reading));
  // A call that could not be recorded failed, and the run went on: only that can be survived.
  const survived = reading.records.some((record) => record.type === 'run-end');
  expect(exitCode).toBe(survived ? 0 : 1);
});

// The operating system itself refuses: no file of the process may grow beyond so many blocks of 1024 bytes.
test.each([1, 2, 3])(
  'files that cannot grow beyond %i KiB: the log is cut clean, and files are as it says',
  async (size) => {
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
  },
);

test('a file that cannot be written fails its call, which leaves nothing behind, and the run goes on', async () => {
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
