import { appendFile, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callEnd, pendingApproval } from '../../testing/test-events.ts';
import { createFolder } from '../../testing/test-folder.ts';
import { createTestHost } from '../../testing/test-host.ts';
import { writeLog } from '../../testing/test-log.ts';
import { findSession } from '../../workspace/known.ts';
import { prepareLogPath } from '../../workspace/session-logs.ts';
import { showSession } from './show.ts';

const runStart = {
  type: 'run-start',
  model: 'offline:rules',
  prompt: 'holdfast/run',
  input: 'Write the report.',
  tools: ['read_file', 'write_file'],
};
const message = { type: 'model-message', turn: 1, text: 'First a look.', calls: [{}], reason: 'tool-calls' };
const deniedCall = callEnd('denied', {
  callId: 'c1',
  name: 'write_file',
  code: 'policy.denied',
  message: 'Denied.',
  decisions: [{ policy: 'host/read-before-write', type: 'deny', reason: '`a.txt` has not been read.' }],
});
const writingCall = callEnd('ok', {
  callId: 'c2',
  name: 'write_file',
  message: 'one\ntwo\nthree\nfour\nfive\nsix',
  writes: [{ resource: 'filesystem', key: 'report.md', change: 'created' }],
});
const runEnd = { type: 'run-end', status: 'completed', text: 'Written to report.md.', turns: 2 };

async function show(workspace: string, { id, json = false }: { id?: string; json?: boolean } = {}) {
  const { host, stdout, stderr } = createTestHost({ directory: workspace });
  const exitCode = await showSession({ id, workspace: '.', json }, host);
  return { exitCode, text: stdout(), warnings: stderr() };
}

test('a run is shown from request to answer', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', [runStart, message, deniedCall, writingCall, runEnd]);
  const { exitCode, text } = await show(folder.path);
  expect(exitCode).toBe(0);
  expect(text.split('\n').slice(1, -2)).toEqual([
    '',
    'Run  2026-05-17 00:00:00 UTC  model offline:rules  2 tools',
    'Request: Write the report.',
    '',
    'Turn 1  1 call, ended with tool-calls',
    '  | First a look.',
    '  denied    write_file    {"path":"a.txt"}  deny: read-before-write    3 ms  c1',
    '            deny by host/read-before-write: `a.txt` has not been read.',
    '  ok        write_file    {"path":"a.txt"}  allow    3 ms  c2',
    '            | one',
    '            | two',
    '            | three',
    '            | four',
    '            | … 2 more lines',
    '            + created report.md',
    '',
    'Answer',
    '  | Written to report.md.',
    '',
    'Status  completed after 4 ms, 2 turns',
    'Changes',
    '  + created report.md',
    '',
  ]);
  expect(text).toMatch(/6 records, hash chain intact, head [0-9a-f]{64}\n$/);
});

test('the log file of a program is shown by its path, but cannot be answered', async () => {
  await using folder = await createFolder();
  const log = await writeLog(folder.path, 'one', [runStart, message, writingCall, runEnd]);
  const path = join(folder.path, 'desk.jsonl');
  await rename(log, path);
  for (const id of ['desk.jsonl', path]) {
    expect(await show(folder.path, { id })).toMatchObject({
      exitCode: 0,
      text: expect.stringMatching(/^Session desk\.jsonl/),
    });
  }
  await expect(show(folder.path, { id: 'desks.jsonl' })).rejects.toMatchObject({ reason: 'session_unknown' });
  // The rules of who may answer depend on the workspace of a session.
  const { host } = createTestHost({ directory: folder.path });
  await expect(findSession({ id: 'desk.jsonl', workspace: '.' }, host)).rejects.toMatchObject({
    reason: 'session_unknown',
  });
});

test('rejected answers are shown with the reason, and unfinished work at the end', async () => {
  await using folder = await createFolder();
  const said = { ...message, text: 'All done.', calls: [], reason: 'stop' };
  const told = { type: 'feedback', run: 1, turn: 1, source: 'completion', prompt: 'a/b', calls: 0, failed: [] };
  const given = [{ name: 'files-exist', text: 'Create `a.md`.' }];
  await writeLog(folder.path, 'one', [
    { ...runStart, tools: [] },
    said,
    { ...told, given, events: [], changes: [] },
    { ...said, turn: 2 },
    { ...runEnd, text: 'All done.', unfinished: 'Create `a.md`.' },
  ]);
  const { text } = await show(folder.path);
  expect(text.split('\n').slice(4, -4)).toEqual([
    '',
    'Turn 1  0 calls, ended with stop',
    '  | All done.',
    '  files-exist: Create `a.md`.',
    '',
    'Turn 2  0 calls, ended with stop',
    '',
    'Answer',
    '  | All done.',
    'Not finished: Create `a.md`.',
    '',
    'Status  completed after 4 ms, 2 turns',
  ]);
});

test('shows the newest session, another one by id, and none for a wrong id', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, '20260101-000000-a', [runStart]);
  await writeLog(folder.path, '20260102-000000-b', [runStart]);
  expect((await show(folder.path)).text).toContain('Session 20260102-000000-b');
  expect((await show(folder.path, { id: '20260101-000000-a' })).text).toContain('Session 20260101-000000-a');
  await expect(show(folder.path, { id: 'c' })).rejects.toMatchObject({
    code: 'usage.invalid',
    reason: 'session_unknown',
  });
});

test('raw records with --json', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', [runStart, message]);
  const { text } = await show(folder.path, { json: true });
  expect(
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).type),
  ).toEqual(['session-start', 'run-start', 'model-message']);
});

test('a torn log is reported, and its valid part shown', async () => {
  await using folder = await createFolder();
  const path = await writeLog(folder.path, 'one', [runStart]);
  await appendFile(path, '{"seq":2,"pre');
  const { exitCode, text } = await show(folder.path);
  expect(exitCode).toBe(1);
  expect(text).toContain('Request: Write the report.');
  expect(text).toContain('The log ends before the run');
  expect(text).toMatch(/The log is torn: the last 13 bytes, from byte \d+,/);
  expect((await show(folder.path, { json: true })).warnings).toContain('torn');
});

test('a modified log is reported with the position', async () => {
  await using folder = await createFolder();
  const path = await writeLog(folder.path, 'one', [runStart, message, runEnd]);
  await writeFile(path, (await readFile(path, 'utf8')).replace('Write the report.', 'Delete the report.'));
  const { exitCode, text } = await show(folder.path);
  expect(exitCode).toBe(1);
  expect(text).toContain('The log is broken at record 2');
  expect(text).toContain('log.damaged: chain');
  expect((await show(folder.path, { json: true })).warnings).toContain('log.damaged: chain');
});

test('a grant and the call that it allowed are shown', async () => {
  await using folder = await createFolder();
  const change = (op: string) => ({ slice: 'holdfast/grants', op, key: 'wipe', item: 'd1' });
  const grant = { type: 'event', events: [], changes: [change('upsert')] };
  const withdrawal = { type: 'event', events: [], changes: [change('remove')] };
  const granted = { policy: 'holdfast/dangerous', type: 'allow' as const, reason: 'Granted for the session.' };
  await writeLog(folder.path, 'one', [
    runStart,
    grant,
    callEnd('ok', { name: 'wipe', decisions: [granted] }),
    withdrawal,
  ]);
  const { text } = await show(folder.path);
  expect(text).toContain('  wipe is granted for the session\n');
  expect(text).toContain('  wipe needs approval again: its grant was withdrawn\n');
  expect(text).toContain('allow: granted');
  expect(text).toContain('allow by holdfast/dangerous: Granted for the session.');
});

const resumeLog = [
  runStart,
  message,
  {
    type: 'approval-request',
    pending: pendingApproval({ callId: 'c1', name: 'wipe', expiresAtMs: Date.UTC(2026, 4, 18) }),
  },
  {
    type: 'approval-request',
    pending: pendingApproval({ callId: 'c2', name: 'deploy', expiresAtMs: Date.UTC(2026, 4, 18) }),
  },
  { ...runEnd, status: 'suspended' },
  {
    type: 'approval-answer',
    callId: 'c1',
    digest: 'd',
    answer: { type: 'deny', reason: 'Not\x1b[2J today.' },
    by: 'anna',
  },
];

test('a suspended, answered and resumed run is shown in order', async () => {
  await using folder = await createFolder();
  const answer = {
    type: 'approval-answer',
    callId: 'c2',
    digest: 'd',
    answer: { type: 'approve', grant: true },
    by: 'bo',
  };
  await writeLog(folder.path, 'one', [
    ...resumeLog,
    answer,
    { type: 'run-resume', run: 1, turn: 1 },
    callEnd('denied', {
      callId: 'c1',
      name: 'wipe',
      code: 'approval.denied',
      message: 'No.',
      approval: { type: 'deny', by: 'anna' },
    }),
    { type: 'tool-call-start', callId: 'c2', name: 'deploy', input: {}, repeat: 'never' },
    { type: 'resource-recovery-failed', resource: 'filesystem', message: 'no' },
    { type: 'call-resolution', callId: 'c2', resolution: { type: 'done', value: 7, message: 'I looked.' }, by: 'bo' },
    { type: 'run-resume', run: 1, turn: 1 },
    callEnd('ok', { callId: 'c2', name: 'deploy', approval: { type: 'approve', by: 'bo' } }),
    runEnd,
  ]);
  const { text } = await show(folder.path);
  expect(text.split('\n').slice(7, -6)).toEqual([
    '',
    'Suspended  2026-05-17 00:00:00 UTC',
    '  call c1 was denied by anna: Not\\x1b[2J today.',
    '  call c2 was approved, and granted, by bo',
    '',
    'Resumed  2026-05-17 00:00:00 UTC',
    '  denied    wipe          {"path":"a.txt"}  asked: denied by anna    3 ms  c1',
    '            | No. (approval.denied)',
    '    `filesystem` could not be recovered: no',
    '  call c2 was marked as done by bo, with 7: I looked.',
    '',
    'Resumed  2026-05-17 00:00:00 UTC',
    '  ok        deploy        {"path":"a.txt"}  asked: approved by bo    3 ms  c2',
    '',
    'Answer',
    '  | Written to report.md.',
  ]);
});

test('nothing is pending after a run has ended', async () => {
  await using folder = await createFolder();
  const late = { ...runEnd, status: 'aborted' };
  for (const [id, entries] of [
    ['ended', [...resumeLog, { type: 'run-resume', run: 1, turn: 1 }, late]],
    ['called', [...resumeLog, callEnd('denied', { callId: 'c1' }), callEnd('denied', { callId: 'c2' })]],
  ] as const) {
    await writeLog(folder.path, id, entries);
    expect((await show(folder.path, { id })).text).not.toMatch(/is pending|is denied;/);
  }
});

test('pending calls of a suspended run are listed at the end', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', resumeLog);
  const { text } = await show(folder.path);
  expect(text).toContain('Status  suspended');
  expect(text).toContain('  `wipe` (c1) is denied; the model is told when the run is resumed.\n');
  expect(text).toContain('  `deploy` (c2) is pending until 2026-05-18 00:00:00 UTC.\n');
});

test('a call that never ended is reported, and an unknown record named', async () => {
  await using folder = await createFolder();
  const start = { type: 'tool-call-start', callId: 'c9', name: 'deploy', rawArguments: {} };
  const ended = { ...start, callId: 'c1', name: 'finish' };
  const end = callEnd('ok', { callId: 'c1', name: 'finish' });
  await writeLog(folder.path, 'one', [
    runStart,
    ended,
    end,
    start,
    { type: 'from\x1b[2J the future' },
    { type: 'run-end' },
  ]);
  const { text } = await show(folder.path);
  expect(text).not.toContain('`finish` was started');
  expect(text).toContain('`deploy` was started and never ended');
  expect(text).toContain('record 5: from\\x1b[2J the future');
  expect(text).toContain('record 6: run-end');
});

test('a call whose changes could not be applied counts as no change', async () => {
  await using folder = await createFolder();
  const failed = {
    type: 'resource-apply-failed',
    callId: 'c2',
    message: 'Its changes could not be applied: no space.',
  };
  await writeLog(folder.path, 'one', [runStart, writingCall, failed, runEnd]);
  const { text } = await show(folder.path);
  expect(text).toContain('Its changes could not be applied: no space.');
  expect(text).toContain('No files were changed.');
});

const inChild = (entry: object) => ({ type: 'child-record', callId: 'c1', sessionId: 'one/c1/1', childSeq: 0, entry });

test('nested calls are shown under their parent, and change files only with it', async () => {
  await using folder = await createFolder();
  const nested = { ...writingCall, callId: 'c1/1', parentId: 'c1', nested: true };
  const text = 'It had to stop.';
  await writeLog(folder.path, 'one', [
    runStart,
    message,
    nested,
    inChild({ type: 'session-start', sessionId: 'one/c1/1', slices: [] }),
    inChild({ ...runStart, input: 'Look.' }),
    inChild({ ...message, text: 'I look.' }),
    inChild(callEnd('unknown-tool', { name: 'gone', parentId: 'c1', message: 'No.', code: 'tool.unknown' })),
    inChild({ type: 'from the future' }),
    inChild({ type: 'tool-call-start', callId: 'c9', name: 'deploy', input: {} }),
    inChild({ type: 'run-end', status: 'max-rounds', text, turns: 2 }),
    callEnd('failed', { name: 'delegate', message: 'no', code: 'tool.failed' }),
    runEnd,
  ]);
  const shown = await show(folder.path);
  expect(shown.exitCode).toBe(0);
  const lines = shown.text.split('\n');
  expect(lines.slice(lines.indexOf('  | First a look.') + 1, lines.indexOf('Answer'))).toEqual([
    '  failed    delegate      {"path":"a.txt"}      3 ms  c1',
    '            | no (tool.failed)',
    '    ok        write_file    {"path":"a.txt"}  allow    3 ms  c1/1',
    '              | one',
    '              | two',
    '              | three',
    '              | four',
    '              | … 2 more lines',
    '    max-rounds child run     Look.  2 turns, offline:rules    5 ms',
    '              | It had to stop.',
    '      | I look.',
    '      unknown-tool gone          {"path":"a.txt"}      3 ms  c1',
    '                | No. (tool.unknown)',
    '      record 8: from the future',
    '',
  ]);
  expect(shown.text).toContain('No files were changed.');
  expect(shown.text).toContain('`deploy` was started and never ended');
});

test('late results and other problems are shown', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', [
    { type: 'slice', id: 'x', kind: 'list', retention: 'state', events: [] },
    callEnd('timed-out', { abandoned: true, message: 'too long', code: 'call.timeout' }),
    { type: 'tool-call-late', callId: 'c1', name: 'slow', answer: 'returned', value: { a: 1 } },
    { type: 'tool-call-late', callId: 'c1', name: 'slow', answer: 'threw', message: 'no' },
    { type: 'resource-discard-failed', callId: 'c1', message: 'no space' },
    { type: 'resource-dispose-failed', resource: 'client', message: 'no reply' },
    { type: 'subscriber-error', message: 'no ear' },
    { type: 'restore', toSeq: 1 },
    { type: 'reset' },
    { type: 'import', slices: [{}] },
    { type: 'close-error', message: 'no end' },
    { type: 'child-record', callId: 'c1' },
  ]);
  const { text } = await show(folder.path);
  expect(text.split('\n').slice(2, -3)).toEqual([
    '            | too long (call.timeout)',
    '            The tool did not stop when asked; its late result was discarded.',
    '  late      slow          {"a":1}  returned, ignored',
    '  late      slow          no  threw',
    '    could not clean up staged changes: no space',
    '    `client` could not be disposed of: no reply',
    '    An observer of the session failed: no ear',
    '  The state was restored to 1 record.',
    '  The state was reset.',
    '  The state was replaced: 1 slice imported.',
    '    Error while closing the session: no end',
    '  record 12: child-record',
  ]);
});

test('endlessly nested child sessions do not crash', async () => {
  await using folder = await createFolder();
  let entry: object = callEnd('ok');
  for (let level = 0; level < 500; level += 1) entry = inChild(entry);
  await writeLog(folder.path, 'one', [entry]);
  expect(await show(folder.path)).toMatchObject({
    exitCode: 0,
    text: expect.stringContaining('record 1: child-record'),
  });
});

test('an empty log', async () => {
  await using folder = await createFolder();
  await writeFile(await prepareLogPath(folder.path, 'one'), '');
  expect(await show(folder.path)).toMatchObject({ exitCode: 0, text: expect.stringContaining('The log is empty') });
});

test('the beginning of a very long request is shown', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', [{ ...runStart, input: '读取文件 '.repeat(2_000_000) }, runEnd]);
  const { text } = await show(folder.path);
  expect(text).toContain('(9990000 more characters; use `--json`)');
  expect(text.length).toBeLessThan(20_000);
});

test('what an MCP server asked for, and what was refused, is told in one line each', async () => {
  await using folder = await createFolder();
  const refused = { type: 'mcp-refused', reason: 'tool-name', name: 'files_read' };
  await writeLog(folder.path, 'one', [
    {
      type: 'event',
      events: [
        { type: 'guard-decided', payload: { key: 'c1', callId: 'c1', verdict: 'ask', reason: 'It\x1b deletes.' } },
        { type: 'guard-decided', payload: 7 },
      ],
    },
    { type: 'guard-noted', server: 'files', tool: 'read', inputDigest: 'd', decidedIn: 'mcp-files-1', atMs: 0 },
    { type: 'guard-kept', callId: 'c1', files: 2, left: ['b.bin: larger than 5 bytes'], atMs: 0 },
    { type: 'guard-undone', callId: 'c1', files: ['/w/a.txt'], atMs: 0 },
    { type: 'mcp-trace', callId: 'c1', method: 'tools/call', traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` },
    { type: 'mcp-question', callId: 'c1', server: 'bank', message: 'Which\x1b[2J account?', action: 'accept' },
    { type: 'mcp-refused', reason: 'server-request', callId: 'c1', server: 'bank', method: 'sampling/createMessage' },
    { type: 'mcp-refused', reason: 'no-access', count: 3 },
    { type: 'mcp-refused', reason: 'request-state', name: 'pay' },
    refused,
    { ...refused, last: true },
    { type: 'mcp-refused', reason: 'something else' },
  ]);
  const { text } = await show(folder.path);
  expect(
    text
      .split('\n')
      .slice(1, -2)
      .join('\n')
      .replaceAll(/\n {4,}/g, ' ')
      .split('\n'),
  ).toEqual([
    '  the guard answered c1 with ask: It\\x1b deletes.',
    '  event guard-decided  7',
    expect.stringMatching(/^ {2}`read` of the MCP server `files`: decided and recorded in the session\s+mcp-files-1$/),
    '  2 files kept before the call c1; not kept: b.bin: larger than 5 bytes',
    '  undo of the call c1: /w/a.txt',
    `  the call c1 is in the trace ${'a'.repeat(32)} of its client`,
    '  the MCP server `bank` asked the user, who answered accept: Which\\x1b[2J account?',
    '  refused: sampling/createMessage, asked for by the MCP server `bank`',
    '  refused: 3 requests without access',
    '  refused: an answer for a call of `pay` whose question is over',
    '  refused: a call of `files_read`, which is served under another name',
    expect.stringContaining('further ones are not recorded'),
    '  record 12: mcp-refused',
    '',
  ]);
});
