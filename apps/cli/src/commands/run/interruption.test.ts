import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type LogReading, readLog } from '@holdfast/session/jsonl';
import { expect, test } from 'vitest';
import { createFolder } from '../../testing/test-folder.ts';
import { jsonRun, runMain, runShell, script, shellCommand, toTool, trustingRun } from '../../testing/test-program.ts';
import { findLogFolder } from '../../workspace/session-logs.ts';

const files = {
  'kept.txt': 'as it was\n',
  'plugins/quick.mjs': toTool('quick', "await context.filesystem.write('done.txt', 'done'); return 'done';", 'state'),
  'plugins/slow.mjs': toTool(
    'slow',
    `await context.filesystem.readText('kept.txt');
     await context.filesystem.write('kept.txt', 'half');
     await context.filesystem.write('half.txt', 'half');
     context.progress('halfway');
     return new Promise(() => setInterval(() => {}, 1000));`,
    'state',
  ),
  'script.json': script('quick', 'slow'),
};

async function readOnlyLog(workspace: string): Promise<LogReading> {
  const names = (await readdir(findLogFolder(workspace))).sort();
  expect(names).toHaveLength(1);
  return readLog(join(findLogFolder(workspace), names[0] ?? ''));
}

test.each([
  { signal: 'SIGINT', exitCode: 130 },
  { signal: 'SIGTERM', exitCode: 143 },
  { signal: 'SIGHUP', exitCode: 129 },
] as const)('$signal in a call: $exitCode, the files unchanged, the log complete', async (trial) => {
  await using folder = await createFolder(files);
  const { exitCode, stdout, stderr } = await runMain(jsonRun, {
    folder: folder.path,
    onStdout(child, seen) {
      if (seen.includes('halfway') && !child.killed) child.kill(trial.signal);
    },
  });
  expect({ exitCode, stderr }).toEqual({ exitCode: trial.exitCode, stderr: '' });
  expect((await readdir(folder.path)).sort()).toEqual(['.holdfast', 'done.txt', 'kept.txt', 'plugins', 'script.json']);
  expect(await readFile(join(folder.path, 'kept.txt'), 'utf8')).toBe('as it was\n');
  const { records, torn, problem } = await readOnlyLog(folder.path);
  expect({ torn, problem }).toEqual({ torn: undefined, problem: undefined });
  expect(
    records.flatMap((record) => (record.type === 'tool-call-end' ? [[record['name'], record['outcome']]] : [])),
  ).toEqual([
    ['quick', expect.objectContaining({ kind: 'ok' })],
    ['slow', expect.objectContaining({ kind: 'cancelled' })],
  ]);
  expect(records.at(-1)).toMatchObject({ type: 'run-end', status: 'aborted' });
  expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ type: 'run-end', status: 'aborted' });
});

test('a second Ctrl-C exits at once, and the log stays readable', async () => {
  // The first one waits a few seconds for open resources.
  const body = `context.signal.addEventListener('abort', () => setTimeout(() => console.error('stopping'), 500));
    const { defineResource } = await import('${import.meta.resolve('@holdfast/core')}');
    const dispose = () => new Promise(() => setInterval(() => {}, 1000));
    await context.use(defineResource({ name: 'held', lifetime: 'call', create: () => ({}), dispose }));
    await context.filesystem.readText('kept.txt');
    await context.filesystem.write('kept.txt', 'half');
    context.progress('halfway');
    return new Promise(() => setInterval(() => {}, 1000));`;
  await using folder = await createFolder({
    'kept.txt': 'as it was\n',
    'plugins/stuck.mjs': toTool('stuck', body, 'state'),
    'script.json': script('stuck'),
  });
  const { exitCode, stderr } = await runMain(trustingRun, {
    folder: folder.path,
    onStdout(child, seen) {
      if (seen.includes('halfway') && !child.killed) child.kill('SIGINT');
    },
    onStderr: (child) => child.kill('SIGINT'),
  });
  expect({ exitCode, stderr }).toEqual({ exitCode: 130, stderr: 'stopping\n' });
  expect(await readFile(join(folder.path, 'kept.txt'), 'utf8')).toBe('as it was\n');
  const name = (await readdir(findLogFolder(folder.path))).find((other) => other.endsWith('.jsonl')) ?? '';
  const { records, problem } = readLog(join(findLogFolder(folder.path), name));
  expect(problem).toBeUndefined();
  expect(records.map(({ type }) => type)).not.toContain('run-end');
});

test('`| head -1` gets its line, and the run ends cleanly', async () => {
  await using folder = await createFolder({
    'plugins/talk.mjs': toTool('talk', "return new Promise(() => setInterval(() => context.progress('x'), 5));"),
    'script.json': script('talk'),
  });
  const pipeline = `${shellCommand} run 'Do it.' --model script:script.json --json | head -1; echo "\${PIPESTATUS[0]}"`;
  const { stdout, stderr } = await runShell(pipeline, { folder: folder.path });
  const [line = '', status] = stdout.trimEnd().split('\n');
  expect({ type: JSON.parse(line).type, status, stderr }).toEqual({ type: 'run-start', status: '1', stderr: '' });
  const { records } = await readOnlyLog(folder.path);
  expect(records.at(-1)).toMatchObject({ type: 'run-end', status: 'aborted' });
});

test('output to a full disk is an error with a reason, and the run ends cleanly', async () => {
  await using folder = await createFolder({ 'notes.txt': 'milk\n' });
  const { exitCode, stderr } = await runShell(`${shellCommand} run 'Read notes.txt' --json > /dev/full`, {
    folder: folder.path,
  });
  expect(exitCode).toBe(1);
  expect(stderr).toContain('ENOSPC');
  expect((await readOnlyLog(folder.path)).records.at(-1)).toMatchObject({ type: 'run-end' });
});
