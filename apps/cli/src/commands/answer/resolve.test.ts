import { readLog } from '@holdfast/session/jsonl';
import { expect, test } from 'vitest';
import { callEnd } from '../../testing/test-events.ts';
import { createFolder, type TestFolder } from '../../testing/test-folder.ts';
import { writeLog } from '../../testing/test-log.ts';
import { type Ended, runHere } from '../../testing/test-program.ts';
import { findIssues, readSchema } from '../../testing/test-schemas.ts';
import { findLog } from '../../workspace/session-logs.ts';

const runStart = { type: 'run-start', run: 1, model: 'offline:rules', input: 'Pay.', tools: ['charge'] };
const start = {
  type: 'tool-call-start',
  run: 1,
  turn: 1,
  callId: 'c1',
  name: 'charge',
  input: { euros: 5 },
  repeat: 'never',
};

function type({ path }: TestFolder, ...argv: readonly string[]): Promise<Ended> {
  return runHere(argv, { directory: path });
}

async function readResolutions({ path }: TestFolder) {
  const { records } = readLog((await findLog(path, 'one')).path);
  return records.filter((record) => record.type === 'call-resolution');
}

test.each([
  { argv: ['--done'], resolution: { type: 'done' }, says: 'took effect' },
  {
    argv: ['--done', '--value', '{"id": 7}', '--by', 'anna', '--reason', 'I looked.'],
    resolution: { type: 'done', value: { id: 7 }, message: 'I looked.' },
    by: 'anna',
    says: 'took effect',
  },
  {
    argv: ['--not-done', '--reason', 'No trace.'],
    resolution: { type: 'not-done', message: 'No trace.' },
    says: 'did not take effect',
  },
])('$argv', async ({ argv, resolution, by = 'person', says }) => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', [runStart, start]);
  const { exitCode, stdout, stderr } = await type(folder, 'resolve', 'one', 'c1', ...argv);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toBe(`Noted: charge (c1) ${says}.\nTo continue: holdfast resume one\n`);
  expect(await readResolutions(folder)).toMatchObject([{ callId: 'c1', run: 1, turn: 1, resolution, by }]);
});

test('a call that ended in doubt: noted for people, with JSON output', async () => {
  await using folder = await createFolder();
  const ended = callEnd('in-doubt', { callId: 'c1', run: 1, turn: 1, name: 'charge' });
  await writeLog(folder.path, 'one', [runStart, start, ended, { type: 'run-end', run: 1, status: 'completed' }]);
  const { stdout } = await type(folder, 'resolve', 'one', 'c1', '--done', '--json');
  const resolved = JSON.parse(stdout);
  expect(findIssues(await readSchema('resolve'), resolved)).toEqual([]);
  expect(resolved).toEqual({
    session: 'one',
    callId: 'c1',
    name: 'charge',
    resolution: { type: 'done' },
    by: 'person',
  });
  const again = await type(folder, 'resolve', 'one', 'c1', '--not-done');
  expect(again.stdout).toContain('the model was told that it is in doubt');
  const shown = await type(folder, 'show', '--json');
  const show = await readSchema('show');
  for (const line of shown.stdout.trimEnd().split('\n').slice(-2)) {
    const own = { $ref: '#/$defs/call-resolution', $defs: show['$defs'] ?? {} };
    expect(findIssues(own, JSON.parse(line))).toEqual([]);
  }
});

test.each([
  { argv: ['c1'], says: 'usage.invalid: resolution_missing' },
  { argv: ['c1', '--done', '--not-done'], says: 'usage.invalid: resolution_missing' },
  { argv: ['c1', '--done', '--value', '{'], says: 'usage.invalid: value_invalid' },
  { argv: ['c1', '--not-done', '--value', '1'], says: 'usage.invalid: value_unexpected' },
  { argv: ['c9', '--done'], says: 'Nearest: `c1`' },
  { argv: ['ended', '--done'], says: 'usage.invalid: call_unknown' },
])('$argv: nothing is noted', async ({ argv, says }) => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', [runStart, callEnd('ok', { callId: 'ended' }), start]);
  const { exitCode, stdout, stderr } = await type(folder, 'resolve', 'one', ...argv);
  expect(stderr).toContain(says);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(await readResolutions(folder)).toEqual([]);
});
