import { once } from 'node:events';
import { appendFile, chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { PassThrough } from 'node:stream';
import type { Clock } from '@holdfast/core';
import { planSlice } from '@holdfast/planning';
import { visibilitySlice } from '@holdfast/prompt';
import { createSession, type LogEntry } from '@holdfast/session';
import { createJsonlLog, type OpenedJsonlLog, openJsonlLog, readLog } from '@holdfast/session/jsonl';
import { describe, expect, test } from 'vitest';
import { runProgram } from '../../program.ts';
import { callEnd, pendingApproval } from '../../testing/test-events.ts';
import { createFolder, type TestFolder } from '../../testing/test-folder.ts';
import { createTestHost, type TestHostOptions } from '../../testing/test-host.ts';
import { writeLog } from '../../testing/test-log.ts';
import { type Ended, runHere } from '../../testing/test-program.ts';
import { findIssues, readSchema } from '../../testing/test-schemas.ts';
import { findLog, prepareLogPath } from '../../workspace/session-logs.ts';

const runStart = { type: 'run-start', run: 1, model: 'offline:rules', input: 'Tidy up.', tools: ['wipe'] };
const suspended = { type: 'run-end', run: 1, status: 'suspended', text: '', turns: 1 };
const question = (callId: string, changes: Parameters<typeof pendingApproval>[0] = {}) => ({
  type: 'approval-request',
  pending: pendingApproval({ callId, name: 'wipe', ...changes }),
});
const entries = [runStart, question('call_1_0'), question('call_1_1'), question('other'), suspended];

function type({ path }: TestFolder, argv: readonly string[], options: TestHostOptions = {}): Promise<Ended> {
  return runHere(argv, { directory: path, ...options });
}

async function readAnswers({ path }: TestFolder, id = 'one') {
  const { records } = readLog((await findLog(path, id)).path);
  return records.filter((record) => record.type === 'approval-answer');
}

test.each([
  {
    argv: ['approve', 'one', 'call_1_0'],
    answer: { type: 'approve', grant: false },
    says: '  asking    wipe  dangerous\n    | {}\nApproved: wipe (call_1_0)\n',
  },
  {
    argv: ['approve', 'one', 'oth', '--grant', '--by', 'anna'],
    answer: { type: 'approve', grant: true },
    by: 'anna',
    says: '  asking    wipe  dangerous\n    | {}\nApproved: wipe (other); once it has run, further calls of this tool need no approval\n',
  },
  {
    argv: ['approve', 'one', 'each', '--grant'],
    answer: { type: 'approve', grant: false },
    says: '  asking    wipe  dangerous\n    | {}\n    ? It runs by itself. (host/files)\nApproved: wipe (each); this call only: it cannot be granted for the session\n',
  },
  { argv: ['deny', 'one', 'other'], answer: { type: 'deny' }, says: 'Denied: wipe (other)\n' },
  {
    argv: ['deny', 'one', 'other', '--reason', 'Not today.', '--digest', 'DDDD'],
    answer: { type: 'deny', reason: 'Not today.' },
    says: 'Denied: wipe (other)\n',
  },
])('$argv', async ({ argv, answer, by = 'person', says }) => {
  await using folder = await createFolder();
  const asks = [
    { policy: 'host/files', type: 'ask' as const, reason: 'It runs by itself.', grantable: false as const },
  ];
  await writeLog(folder.path, 'one', [...entries.slice(0, -1), question('each', { asks }), suspended]);
  const { exitCode, stdout, stderr } = await type(folder, argv);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(stdout).toBe(`${says}3 more calls are pending. To continue: holdfast resume one\n`);
  expect(await readAnswers(folder)).toMatchObject([{ answer, by, run: 1, turn: 1, digest: 'd'.repeat(64) }]);
});

test("calls of another program's session with a plan and opened sections can be answered here", async () => {
  await using folder = await createFolder();
  const path = await prepareLogPath(folder.path, 'one');
  const session = createSession({ id: 'one', slices: [planSlice, visibilitySlice], store: createJsonlLog(path) });
  const shown = { prompt: 'a/b', keys: ['guide'], visibility: 'full' };
  session.dispatch({ type: 'sections-shown', payload: shown });
  for (const entry of entries) session.record(entry as unknown as LogEntry);
  await session.close();
  const { exitCode, stderr } = await type(folder, ['approve', 'one', 'call_1_0']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(await readAnswers(folder)).toHaveLength(1);
  const replayed = await type(folder, ['replay', 'one', '--json']);
  expect(JSON.parse(replayed.stdout).slices).toMatchObject([
    { id: 'holdfast/visibility', state: [['a/b#guide', 'full']] },
    { id: 'planning/plan', state: null },
  ]);
});

test('several calls at once, with JSON output', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', entries);
  const { stdout } = await type(folder, ['approve', 'one', 'call_1_1', 'other', 'call_1_1', '--json']);
  const answered = JSON.parse(stdout);
  expect(findIssues(await readSchema('answer'), answered)).toEqual([]);
  expect(answered).toMatchObject({
    session: 'one',
    waiting: 1,
    answered: [{ callId: 'call_1_1', by: 'person' }, { callId: 'other' }],
  });
  const last = await type(folder, ['deny', 'one', 'call_1_0', '--json']);
  expect(findIssues(await readSchema('answer'), JSON.parse(last.stdout))).toEqual([]);
  expect(await readAnswers(folder)).toHaveLength(3);
});

test.each([
  { what: 'an unknown call', calls: ['call_2_0'], exitCode: 2, says: ['usage.invalid: call_unknown', '`call_1_0`'] },
  {
    what: 'an ambiguous prefix',
    calls: ['call_1'],
    exitCode: 2,
    says: ['usage.invalid: call_ambiguous', '`call_1_1`'],
  },
  {
    what: 'a valid call and an invalid one',
    calls: ['other', 'gone'],
    exitCode: 2,
    says: ['usage.invalid: call_unknown'],
  },
  {
    what: 'a question that has changed',
    calls: ['other', '--digest', 'abc'],
    exitCode: 1,
    says: ['approval.mismatch', 'hint: `holdfast pending one` shows it.'],
  },
])('$what: nothing is answered', async ({ calls, exitCode, says }) => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', entries);
  const ended = await type(folder, ['approve', 'one', ...calls]);
  expect({ exitCode: ended.exitCode, stdout: ended.stdout }).toEqual({ exitCode, stdout: '' });
  for (const text of says) expect(ended.stderr).toContain(text);
  expect(await readAnswers(folder)).toEqual([]);
});

test('a question can be answered only once', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', entries);
  await type(folder, ['deny', 'one', 'other']);
  const again = await type(folder, ['approve', 'one', 'other']);
  expect(again).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('(approval.answered)') });
  expect(await readAnswers(folder)).toHaveLength(1);
});

test('an answered call is not reported as pending', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', entries);
  await type(folder, ['approve', 'one', 'call_1_0', 'call_1_1', 'other']);
  const { exitCode, stderr } = await type(folder, ['approve', 'one', 'call_2_0']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('No pending call') });
});

test('an expired question', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', [runStart, question('c1', { expiresAtMs: 5 }), suspended]);
  const { exitCode, stderr } = await type(folder, ['approve', 'one', 'c1']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('(approval.expired)') });
});

test('an id that is pending in two turns needs the digest', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', [
    runStart,
    question('c1', { digest: 'a'.repeat(64) }),
    question('c1', { turn: 2, digest: 'b'.repeat(64) }),
    suspended,
  ]);
  const { stderr } = await type(folder, ['approve', 'one', 'c1']);
  expect(stderr).toContain(
    'is pending in 2 turns: add `--digest` with `aaaaaaaaaaaa` or `bbbbbbbbbbbb`. (usage.invalid: call_ambiguous)',
  );
  expect((await type(folder, ['approve', 'one', 'c1', '--digest', 'bbb'])).exitCode).toBe(0);
  expect(await readAnswers(folder)).toMatchObject([{ turn: 2 }]);
});

/** A clock on which waiting takes no time; `onWait` runs at each wait. */
function createQuickClock(onWait: () => void = () => undefined): Clock {
  let nowMs = 1;
  return {
    now: () => nowMs,
    after(delayMs, run) {
      nowMs += delayMs;
      onWait();
      queueMicrotask(run);
      return () => undefined;
    },
  };
}

test('a session that stays open elsewhere: names the process and a command that still works', async () => {
  await using folder = await createFolder();
  const { store } = openJsonlLog(await writeLog(folder.path, 'one', entries));
  let waits = 0;
  const clock = createQuickClock(() => {
    waits += 1;
  });
  const { exitCode, stderr } = await type(folder, ['approve', 'one', 'other'], { clock });
  store.close();
  expect(waits).toBeGreaterThan(20);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`process ${process.pid}`);
  expect(stderr).toContain('(log.locked)\n  hint: `holdfast pending one` still works while the log is locked.\n');
});

test.each(['approve', 'deny'])('%s waits for its turn at a log that is in use', async (command) => {
  await using folder = await createFolder();
  const { store } = openJsonlLog(await writeLog(folder.path, 'one', entries));
  let waits = 0;
  const clock = createQuickClock(() => {
    waits += 1;
    if (waits === 3) store.close();
  });
  expect(await type(folder, ['pending', 'one'], { clock })).toMatchObject({ exitCode: 0 });
  expect(waits).toBe(0);
  expect(await type(folder, [command, 'one', 'other'], { clock })).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await readAnswers(folder)).toMatchObject([{ callId: 'other', answer: { type: command } }]);
});

describe('while a person reads the question, the log is free', () => {
  const long = question('long', { input: { text: 'line\n'.repeat(100) } });

  /** Approves calls at a terminal, with a yes after `meanwhile`. */
  async function approve(folder: TestFolder, calls: readonly string[], meanwhile: (log: OpenedJsonlLog) => void) {
    const path = await writeLog(folder.path, 'one', [runStart, long, question('other'), suspended]);
    const { host, stdin, stdout, stderr } = createTestHost({
      directory: folder.path,
      environment: { NO_COLOR: '1' },
      terminals: ['stdin', 'stdout'],
      clock: createQuickClock(),
    });
    const output = host.stdout as PassThrough;
    const ended = runProgram(['approve', 'one', ...calls], host, '0');
    while (!stdout().includes('as shown above?')) await Promise.race([ended, once(output, 'data')]);
    const log = openJsonlLog(path);
    meanwhile(log);
    log.store.close();
    stdin.write('y');
    return { exitCode: await ended, stderr: stderr() };
  }

  const append =
    (entry: object) =>
    ({ records, store }: OpenedJsonlLog): void =>
      store.append(JSON.parse(JSON.stringify(entry)), records.length, 1);

  test('and a yes counts', async () => {
    await using folder = await createFolder();
    expect(await approve(folder, ['long'], () => undefined)).toEqual({ exitCode: 0, stderr: '' });
    expect(await readAnswers(folder)).toMatchObject([{ callId: 'long', answer: { type: 'approve' } }]);
  });

  const denied = { callId: 'long', run: 1, turn: 1, digest: 'd'.repeat(64), answer: { type: 'deny' }, by: 'anna' };
  test.each([
    ['answered', { type: 'approval-answer', ...denied }, 'approval.answered'],
    ['changed', { ...question('long', { digest: 'f'.repeat(64) }) }, 'approval.mismatch'],
    ['given up', { ...callEnd('cancelled'), callId: 'long', run: 1, turn: 1 }, 'work.not_open: call'],
  ])('a question that is %s meanwhile is not answered, and no other', async (_, entry, code) => {
    await using folder = await createFolder();
    const ended = await approve(folder, ['other', 'long'], append(entry));
    expect(ended).toEqual({ exitCode: 1, stderr: expect.stringContaining(`(${code})`) });
    const answers = (await readAnswers(folder)).filter(({ by }) => by !== 'anna');
    expect(answers).toEqual([]);
  });
});

test('a modified log is not touched; a torn end is moved aside and reported', async () => {
  await using folder = await createFolder();
  const changed = await writeLog(folder.path, 'changed', entries);
  await writeFile(changed, (await readFile(changed, 'utf8')).replace('Tidy up.', 'Tidy it.'));
  const refused = await type(folder, ['approve', 'changed', 'other']);
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('(log.damaged: chain)') });
  await appendFile(await writeLog(folder.path, 'torn', entries), '{"seq":');
  const torn = await type(folder, ['approve', 'torn', 'other']);
  expect(torn).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/^warning: the log was torn: .+torn-\d+/) });
  expect(readLog((await findLog(folder.path, 'torn')).path)).not.toHaveProperty('torn');
});

test('a world-writable log, and one whose beginning is missing: a warning', async () => {
  await using folder = await createFolder();
  const exposed = await writeLog(folder.path, 'exposed', entries);
  await chmod(exposed, 0o666);
  expect(await type(folder, ['deny', 'exposed', 'other'])).toMatchObject({
    exitCode: 0,
    stderr: 'warning: other users could have changed the log: every user can write to it\n',
  });
  const path = await prepareLogPath(folder.path, 'rotated');
  const session = createSession({ id: 'rotated', store: createJsonlLog(path, { snapshotAfterBytes: 1 }) });
  for (const entry of [...entries, ...entries]) session.record(JSON.parse(JSON.stringify(entry)));
  await session.close();
  const older = (await readdir(dirname(path))).filter((name) => name.startsWith('rotated.jsonl.before-'));
  expect(older).not.toEqual([]);
  for (const name of older) await rm(join(dirname(path), name));
  const { exitCode, stderr } = await type(folder, ['deny', 'rotated', 'other']);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: expect.stringMatching(/^warning: the log before its last snapshot is damaged: /),
  });
});

test('an empty log, and a log of another program', async () => {
  await using folder = await createFolder();
  await writeFile(await writeLog(folder.path, 'empty', []), '');
  expect((await type(folder, ['approve', 'empty', 'c1'])).stderr).toContain('(log.unreadable: empty)');
  const notes = { id: 'notes', kind: 'list', retention: 'state', events: ['noted'] };
  await writeLog(folder.path, 'foreign', entries, [notes]);
  // An answer does not need the state of unknown slices, but resuming does.
  expect(await type(folder, ['approve', 'foreign', 'other'])).toMatchObject({ exitCode: 0, stderr: '' });
  // Twice: the first attempt leaves no lock.
  for (const _attempt of [1, 2]) {
    const { exitCode, stderr } = await type(folder, ['resume', 'foreign']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('(replay.failed: slice_missing)\n  hint: The session was made by another program');
  }
});
