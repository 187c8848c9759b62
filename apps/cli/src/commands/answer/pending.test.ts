import { appendFile } from 'node:fs/promises';
import { openJsonlLog } from '@holdfast/session/jsonl';
import { expect, test } from 'vitest';
import { measureColumns } from '../../terminal/text.ts';
import { callEnd, pendingApproval } from '../../testing/test-events.ts';
import { createFolder, type TestFolder } from '../../testing/test-folder.ts';
import type { TestHostOptions } from '../../testing/test-host.ts';
import { writeLog } from '../../testing/test-log.ts';
import { type Ended, runHere } from '../../testing/test-program.ts';
import { findIssues, readSchema } from '../../testing/test-schemas.ts';

const runStart = { type: 'run-start', run: 1, model: 'offline:rules', input: 'Tidy up.', tools: ['wipe'] };
const suspended = { type: 'run-end', run: 1, status: 'suspended', text: '', turns: 1 };
const asks = [{ policy: 'holdfast/dangerous', type: 'ask' as const, reason: '`wipe` is marked as dangerous.' }];
const question = (callId: string, changes: Parameters<typeof pendingApproval>[0] = {}) => ({
  type: 'approval-request',
  pending: pendingApproval({ callId, name: 'wipe', asks, ...changes }),
});
const answer = (callId: string, type: string) => ({
  type: 'approval-answer',
  run: 1,
  turn: 1,
  callId,
  digest: 'd'.repeat(64),
  answer: { type },
  by: 'anna',
});
const start = (callId: string, repeat: string) => ({
  type: 'tool-call-start',
  run: 1,
  turn: 1,
  callId,
  name: 'charge',
  input: { euros: 5 },
  repeat,
});

function pending({ path }: TestFolder, argv: readonly string[] = [], options: TestHostOptions = {}): Promise<Ended> {
  return runHere(['pending', ...argv], { directory: path, ...options });
}

async function readJson(folder: TestFolder, ...argv: readonly string[]) {
  const sessions = JSON.parse((await pending(folder, ['--json', ...argv])).stdout);
  expect(findIssues(await readSchema('pending'), sessions)).toEqual([]);
  return sessions;
}

test('nothing is pending without a log, and after every run has ended', async () => {
  await using folder = await createFolder();
  expect(await pending(folder)).toEqual({
    exitCode: 0,
    stdout: 'Nothing is pending in .holdfast/sessions.\n',
    stderr: '',
  });
  await writeLog(folder.path, 'one', [runStart, { ...suspended, status: 'completed' }]);
  expect((await pending(folder)).stdout).toContain('Nothing is pending');
  expect(await readJson(folder)).toEqual([]);
  expect(await readJson(folder, 'one')).toEqual([{ session: 'one', runs: [], plans: [], calls: [], grants: [] }]);
});

test('a question is shown with everything needed to answer it, and the commands to use', async () => {
  await using folder = await createFolder();
  const nowMs = Date.UTC(2026, 4, 17) + 60_000;
  const clock = { now: () => nowMs, after: () => () => undefined };
  const expiresAtMs = nowMs + 3_600_000 * 2;
  const entries = [runStart, question('c1', { input: { path: 'a' }, expiresAtMs }), suspended];
  await writeLog(folder.path, 'one', entries);
  const { stdout } = await pending(folder, [], { clock });
  expect(stdout.split('\n')).toEqual([
    'Session one',
    'The run started 2026-05-17 00:00:00 UTC with model offline:rules is suspended.',
    'Request: Tidy up.',
    '',
    '  asking    wipe  dangerous',
    '    | {',
    '    |   "path": "a"',
    '    | }',
    '    ? `wipe` is marked as dangerous. (holdfast/dangerous)',
    '    call c1',
    '    asked 1 m 00 s ago, expires in 2 h 00 m (2026-05-17 02:01:00 UTC)',
    `    digest ${'d'.repeat(64)}`,
    '',
    'To continue:',
    '  holdfast approve one c1',
    '  holdfast deny one c1',
    '  holdfast resume one',
    '',
  ]);
  expect(JSON.parse((await pending(folder, ['--json'], { clock })).stdout)).toMatchObject([
    {
      session: 'one',
      runs: [{ run: 1, state: 'suspended', request: 'Tidy up.' }],
      calls: [{ callId: 'c1', run: 1, turn: 1, state: 'waiting', input: { path: 'a' }, dangerous: true, asks }],
    },
  ]);
});

test.each([
  { what: 'denied', entries: [question('c1'), answer('c1', 'deny'), suspended], says: 'Denied' },
  { what: 'approved', entries: [question('c1'), answer('c1', 'approve'), suspended], says: 'Approved: it runs' },
  { what: 'expired', entries: [question('c1', { expiresAtMs: 5 }), suspended], says: 'Not answered in time' },
  { what: 'in-doubt', entries: [start('c1', 'never')], says: 'its effect is unknown' },
  { what: 'repeatable', entries: [start('c1', 'keyed')], says: 'It can be repeated' },
  {
    what: 'resolved',
    entries: [
      start('c1', 'never'),
      { type: 'call-resolution', run: 1, turn: 1, callId: 'c1', resolution: { type: 'done' }, by: 'bo' },
    ],
    says: 'its effect has been recorded',
  },
])('a call that is $what', async ({ what, entries, says }) => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', [runStart, ...entries]);
  const { exitCode, stdout } = await pending(folder);
  expect(exitCode).toBe(0);
  expect(stdout).toContain(says);
  expect(stdout).toContain('holdfast resume one');
  expect(stdout.includes('holdfast resolve one c1 --done')).toBe(what === 'in-doubt');
  expect(stdout).not.toContain('holdfast approve');
  const [{ calls }] = await readJson(folder);
  expect(calls).toMatchObject([{ callId: 'c1', state: what }]);
});

test('a call that ended in doubt is listed for the named session until it is resolved', async () => {
  await using folder = await createFolder();
  const ended = callEnd('in-doubt', { run: 1, turn: 1, name: 'charge', input: {} });
  const entries = [runStart, start('c1', 'never'), ended, { ...suspended, status: 'completed' }];
  await writeLog(folder.path, 'one', entries);
  expect((await pending(folder)).stdout).toContain('Nothing is pending');
  expect((await pending(folder, ['one'])).stdout).toContain('the model was told so');
  expect(await readJson(folder, 'one')).toMatchObject([{ calls: [{ callId: 'c1', state: 'in-doubt', ended: true }] }]);
  const resolution = { type: 'call-resolution', run: 1, turn: 1, callId: 'c1', resolution: { type: 'done' } };
  await writeLog(folder.path, 'two', [...entries, resolution]);
  expect(await readJson(folder, 'two')).toMatchObject([{ calls: [] }]);
});

test('model text cannot control the terminal, forge our lines or flood the screen', async () => {
  await using folder = await createFolder();
  const hostile = '\x1b[2J\u202e\u2028\n  approved: yes\n$(touch x)\'";';
  const entries = [
    { ...runStart, input: hostile.repeat(10_000), model: hostile },
    question(`--all ${hostile}`, {
      name: hostile,
      input: { [hostile]: hostile, big: 'x'.repeat(1_000_000), wide: '漢'.repeat(100_000) },
      asks: [{ policy: hostile, type: 'ask', reason: hostile.repeat(5000) }],
      digest: '3'.repeat(64),
    }),
    question('c2', { name: hostile, input: hostile.repeat(1000) }),
    { ...start(hostile, 'never'), name: hostile, input: hostile.repeat(1000) },
    { ...answer('c2', 'deny'), by: hostile.repeat(100) },
    suspended,
  ];
  await writeLog(folder.path, 'one', entries);
  const { stdout } = await pending(folder, [], { terminals: ['stdout'] });
  const lines = stdout.trimEnd().split('\n');
  expect(lines.length).toBeLessThan(100);
  const whole = await pending(folder, ['one'], { terminals: ['stdout'] });
  expect(whole.stdout).not.toContain('more lines of');
  for (const printed of [lines, whole.stdout.trimEnd().split('\n')]) {
    for (const line of printed.slice(0, printed.indexOf('To continue:'))) {
      if (measureColumns(line) > 80) expect(line).toBe('at most 80 columns');
    }
    expect(printed.filter((line) => /[\p{Cc}\p{Cf}\p{Zl}]/u.test(line) || /^\s*approved: yes/.test(line))).toEqual([]);
  }
  expect(stdout).toMatch(/^ {4}… [\d,]+ more lines of \d+: `holdfast pending one` shows all\.$/m);
  expect(stdout).toContain(`digest ${'3'.repeat(64)}`);
  expect((await pending(folder, ['--json'])).stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}]/u);

  // The printed command names the call in safe quotes.
  const command = lines.find((line) => line.includes('holdfast approve')) ?? '';
  const [, word = ''] = /^ {2}holdfast approve -- one '(.*)'$/.exec(command) ?? [];
  expect(word.replaceAll(`'\\''`, '')).not.toContain("'");
  const typed = word.replaceAll(`'\\''`, "'");
  expect(await runHere(['approve', '--', 'one', typed], { directory: folder.path })).toMatchObject({
    exitCode: 0,
    stderr: '',
  });
});

test('200 questions stay readable: one line each with its reasons, soonest to expire first, all of them with --json', async () => {
  await using folder = await createFolder();
  const questions = Array.from({ length: 200 }, (_, index) =>
    question(`call_1_${index}`, {
      name: index % 4 === 0 ? 'deploy' : 'wipe',
      input: { file: `${index}.txt` },
      expiresAtMs: Date.UTC(2126, 0) - index * 1000,
    }),
  );
  await writeLog(folder.path, 'one', [runStart, ...questions, suspended]);
  const { stdout } = await pending(folder);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.length).toBeLessThan(40);
  expect(stdout).toMatch(
    /\n200 questions, soonest to expire first\n {4}call_1_199 {8}wipe \(dangerous\) {2}expires in .+\n {6}\? `wipe` is marked as dangerous\. \(holdfast\/dangerous\)\n {4}call_1_198 /,
  );
  expect(stdout).toContain('… and 188 more questions; use `--json`');
  const [{ calls }] = await readJson(folder);
  expect(calls).toHaveLength(200);
});

test('one of many questions cannot control the terminal or take more than two rows', async () => {
  await using folder = await createFolder();
  const hostile = '\x1b[2J\u202e\n  approved: yes '.repeat(1000);
  const forged = question('forged', {
    name: hostile,
    input: hostile,
    asks: [{ policy: hostile, type: 'ask', reason: hostile }],
    expiresAtMs: Date.UTC(2126, 0),
  });
  const others = ['c1', 'c2', 'c3'].map((callId) => question(callId, { expiresAtMs: Date.UTC(2126, 1) }));
  await writeLog(folder.path, 'one', [runStart, forged, ...others, suspended]);
  const { stdout } = await pending(folder, [], { terminals: ['stdout'] });
  const lines = stdout.split('\n');
  const from = lines.findIndex((line) => line.startsWith('    forged '));
  expect(lines[from + 1]).toMatch(/^ {6}\? \\x1b\[2J.*…$/);
  expect(lines[from + 2]).toMatch(/^ {4}c1 /);
  for (const line of lines) {
    expect(line).not.toMatch(/[\p{Cc}\p{Cf}]|^\s*approved/u);
    expect(measureColumns(line)).toBeLessThan(80);
  }
});

test('works while another process has the session open, and names it', async () => {
  await using folder = await createFolder();
  const path = await writeLog(folder.path, 'one', [runStart, start('c1', 'never')]);
  const { store } = openJsonlLog(path);
  try {
    const { exitCode, stdout } = await pending(folder);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`Session one  open in process ${process.pid}`);
    expect(stdout).toContain('is running');
    expect(stdout).not.toContain('holdfast resume');
    expect(await readJson(folder)).toMatchObject([{ openIn: process.pid, calls: [{ state: 'under-way' }] }]);
  } finally {
    store.close();
  }
  expect(await readJson(folder)).toMatchObject([{ runs: [{ state: 'interrupted' }], calls: [{ state: 'in-doubt' }] }]);
});

test('shows the valid part of a damaged log, and other logs, with exit code 1', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'whole', [runStart, question('c1'), suspended]);
  const torn = await writeLog(folder.path, 'torn', [runStart, question('c1'), suspended]);
  await appendFile(torn, '{"seq":4,');
  const broken = await writeLog(folder.path, 'broken', [
    runStart,
    { type: 'event', events: [{ type: 'x', payload: 1 }] },
  ]);
  await appendFile(broken, '\n');
  const { exitCode, stdout } = await pending(folder);
  expect(exitCode).toBe(1);
  expect(stdout).toContain('an incomplete record. (log.damaged: torn)');
  expect(stdout.match(/asking {4}wipe/g)).toHaveLength(2);
  expect(await readJson(folder)).toMatchObject([
    { session: 'broken', problem: { code: 'replay.failed', reason: 'record' } },
    { session: 'torn', calls: [{}], problem: { code: 'log.damaged', reason: 'torn' } },
    { session: 'whole', calls: [{}] },
  ]);
});
