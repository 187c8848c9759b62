import { appendFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { callEnd, pendingApproval } from '../../testing/test-events.ts';
import { createFolder } from '../../testing/test-folder.ts';
import { createTestHost } from '../../testing/test-host.ts';
import { writeLog } from '../../testing/test-log.ts';
import { explainWhy } from './why.ts';

interface Asked {
  readonly id?: string;
  readonly json?: boolean;
  readonly columns?: number;
}

async function why(workspace: string, call: string, { id, json = false, columns }: Asked = {}) {
  const terminal = columns === undefined ? {} : { terminals: ['stdout'] as const, columns };
  const { host, stdout, stderr } = createTestHost({
    directory: workspace,
    environment: { NO_COLOR: '1' },
    ...terminal,
  });
  const exitCode = await explainWhy({ id, call, workspace: '.', json }, host);
  return { exitCode, text: stdout(), lines: stdout().trimEnd().split('\n').slice(2), warnings: stderr() };
}

const ask = (id: string, text = 'First a look.') => ({
  type: 'model-message',
  turn: 1,
  text,
  calls: [{ id, name: 'wipe', arguments: '{"path":"a.txt"}' }],
  reason: 'tool-calls',
});
const asks = [{ policy: 'holdfast/dangerous', type: 'ask' as const, reason: 'It is dangerous.' }];
const request = { type: 'approval-request', pending: { callId: 'c1', name: 'wipe', input: {}, dangerous: true, asks } };
const answer = { type: 'approval-answer', callId: 'c1', answer: { type: 'approve', grant: true } };
const start = { type: 'tool-call-start', callId: 'c1', name: 'wipe', input: { path: 'a.txt', force: false } };

test('a call that was asked for, approved, done: everything about it', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', [
    ask('c1'),
    request,
    answer,
    start,
    callEnd('ok', { callId: 'c1/1', parentId: 'c1', name: 'read_file' }),
    callEnd('ok', {
      name: 'wipe',
      turn: 1,
      input: { path: 'a.txt', force: false },
      message: 'Wiped.',
      decisions: [
        { policy: 'holdfast/dangerous', type: 'allow', reason: 'Granted for the session.' },
        { policy: 'files/read-before-write', type: 'allow' },
        { policy: 'host/deny-tools', type: 'allow', observed: 'deny', reason: 'Files are kept.' },
      ],
      approval: { type: 'approve', by: 'person' },
      writes: [{ resource: 'filesystem', key: 'a.txt', change: 'removed' }],
      events: [{ type: 'wiped', payload: 1 }],
      changes: [{ slice: 'policy:x', op: 'replace', value: 2 }],
    }),
    { type: 'resource-dispose-failed', callId: 'c1', resource: 'client', message: 'no reply' },
  ]);
  const { exitCode, text, lines } = await why(folder.path, 'c1');
  expect(exitCode).toBe(0);
  expect(text).toMatch(/^Session one {2}.+one\.jsonl\n\n/);
  expect(lines).toEqual([
    'Call c1  wipe  ok  asked: approved by person',
    '  asked by   the model in turn 1: First a look.',
    '  arguments  {"path":"a.txt"}',
    '  input      {"path":"a.txt","force":false}',
    '  policies   allow by holdfast/dangerous: Granted for the session.',
    '             allow by files/read-before-write',
    '             would deny by host/deny-tools: Files are kept.',
    '  approval   asked by holdfast/dangerous (It is dangerous.), approved, and granted for the session after 1 ms',
    '  outcome    ok after 3 ms: Wiped.',
    '  changed    - removed a.txt',
    '             event wiped  1',
    '             policy state  {"slice":"policy:x","op":"replace","value":2}',
    '  problems   resource-dispose-failed: no reply',
    '  records    1 asked for',
    '             4 begun 2026-05-17 00:00:00 UTC',
    '             6 ended 2026-05-17 00:00:00 UTC',
    '  nested',
    '    ok        read_file     {"path":"a.txt"}  allow    3 ms  c1/1',
  ]);
});

const inChild = (entry: object) => ({ type: 'child-record', callId: 'c1', sessionId: 'one/c1/1', childSeq: 0, entry });

test.each([
  {
    what: 'denied',
    entries: [
      ask('c1', ''),
      callEnd('denied', {
        name: 'wipe',
        input: {},
        code: 'policy.denied',
        message: 'Denied.',
        decisions: [{ policy: 'host/order', type: 'deny', reason: 'Not yet.' }],
      }),
    ],
    says: [
      'Call c1  wipe  denied  deny: order',
      'deny by host/order: Not yet.',
      'outcome    denied (policy.denied) after 3 ms: Denied.',
    ],
  },
  {
    what: 'of malformed arguments',
    entries: [
      callEnd('invalid', { rawArguments: '{', turn: 3, code: 'arguments.invalid', reason: 'not_json', message: 'No.' }),
    ],
    says: ['the model in turn 3', 'not parsed', 'none ran', 'changed    nothing'],
  },
  { what: 'not come to', entries: [ask('c1')], says: ['Call c1  wipe  not begun', 'no decision was made'] },
  {
    what: 'waiting for a person',
    entries: [ask('c1'), request],
    says: ['Call c1  wipe  waiting', 'ask by holdfast/dangerous: It is dangerous.', 'not answered'],
  },
  {
    what: 'answered, and not resumed',
    entries: [ask('c1'), request, { ...answer, by: 'anna' }],
    says: ['approved by anna, and granted for the session', 'answered, waiting for `holdfast resume`'],
  },
  {
    what: 'resolved by a person',
    entries: [
      start,
      { type: 'call-resolution', callId: 'c1', resolution: { type: 'done', value: 7, message: 'I looked.' }, by: 'bo' },
      callEnd('ok', { name: 'wipe' }),
    ],
    says: ['resolution marked as done by bo, 2026-05-17 00:00:00 UTC, with 7: I looked.'],
  },
  {
    what: 'that waits, and no model of ours asked for: with what its question says',
    entries: [
      {
        type: 'approval-request',
        pending: pendingApproval({
          name: 'bash',
          input: { command: 'npm i x' },
          facts: { runs: [], reads: [], writes: [], deletes: [], hosts: [], untrusted: true, unclear: [] },
        }),
      },
    ],
    says: [
      'arguments  {"command":"npm i x"}',
      'facts      returns text written by outsiders',
      'none: waiting for a person',
    ],
  },
  {
    what: 'begun without an end',
    entries: [start],
    says: ['Call c1  wipe  unended', 'asked by   the host', 'its effect is unknown'],
  },
  {
    what: 'abandoned, with a late result',
    entries: [
      callEnd('timed-out', {
        abandoned: true,
        input: {},
        rawArguments: '{}',
        error: { name: 'TimeoutError', message: 'too long' },
      }),
      { type: 'tool-call-late', callId: 'c1', name: 'slow', answer: 'returned', value: 7, atMs: 1 },
    ],
    says: [
      'input      same as the arguments',
      'did not stop when asked',
      'it returned after its call had ended, so the result was ignored: 7',
      'TimeoutError: too long',
    ],
  },
  {
    what: 'tried again',
    entries: [
      callEnd('failed', {
        code: 'tool.threw',
        message: 'Tried 2 times. busy',
        retries: [{ code: 'tool.threw', message: 'not yet', atMs: 0 }],
      }),
    ],
    says: ['failed     attempt 1 (tool.threw) 1970-01-01 00:00:00 UTC: not yet', 'after 3 ms: Tried 2 times. busy'],
  },
  {
    what: 'nested in one that failed',
    id: 'c1/1',
    entries: [
      callEnd('ok', {
        callId: 'c1/1',
        parentId: 'c1',
        nested: true,
        writes: [{ resource: 'filesystem', key: 'a.txt', change: 'created' }],
      } as object),
      callEnd('failed', { message: 'no', code: 'tool.failed' }),
    ],
    says: ['the tool of call c1', 'nothing: the enclosing call failed or has not ended', '+ created a.txt'],
  },
  {
    what: 'of the session of a child in one that failed',
    id: 'inner',
    entries: [
      inChild(
        callEnd('ok', {
          callId: 'inner',
          parentId: 'c1',
          writes: [{ resource: 'filesystem', key: 'a.txt', change: 'created' }],
        }),
      ),
      callEnd('failed', { message: 'no', code: 'tool.failed' }),
    ],
    says: ['nothing: the enclosing call', '+ created a.txt'],
  },
  {
    what: 'in the session of a child',
    entries: [{ type: 'child-record', callId: 'c0', sessionId: 'one/c0/1', childSeq: 0, entry: ask('c1') }],
    says: ['in child session one/c0/1'],
  },
  {
    what: 'that is in doubt, answered no',
    entries: [
      start,
      request,
      { ...answer, answer: { type: 'deny', reason: 'Better not.' } },
      callEnd('in-doubt', { code: 'call.in_doubt', message: 'Unknown.' }),
    ],
    says: ['denied after 1 ms: Better not.', 'effects outside files and state are not recorded'],
  },
])('a call $what', async ({ entries, says, id = 'c1' }) => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', entries);
  const { text } = await why(folder.path, id);
  for (const part of says) expect(text).toContain(part);
});

test('every call of one id, in order, in the session that was named; a beginning will do', async () => {
  await using folder = await createFolder();
  const [first, second] = [callEnd('failed', { callId: 'call_long_id' }), callEnd('ok', { callId: 'call_long_id' })];
  await writeLog(folder.path, '20260101-a', [first, second]);
  await writeLog(folder.path, '20260102-b', [callEnd('denied', { callId: 'call_long_id' })]);
  const { text } = await why(folder.path, 'call_lo', { id: '20260101-a' });
  expect(text.match(/^Call call_long_id {2}read_file {2}\S+/gm)).toEqual([
    'Call call_long_id  read_file  failed',
    'Call call_long_id  read_file  ok',
  ]);
  expect((await why(folder.path, 'call_lo')).text).toContain('read_file  denied');
});

test.each([
  { call: 'c9', reason: 'call_unknown', says: 'Nearest: `c1`, `c2`. Run `holdfast show one` for all ids.' },
  {
    call: 'c',
    reason: 'call_ambiguous',
    says: 'matches 2 calls of session `one`: `c1`, `c2`. Use a longer prefix',
  },
  { call: 'one', reason: 'call_unknown', says: '`one` is a session: use `holdfast why one CALL`' },
  { call: 'c1', id: 'empty', reason: 'call_unknown', says: 'Its log has no calls.' },
  { call: 'c1', id: 'gone', reason: 'session_unknown', says: 'Unknown session `gone`' },
])('$call of $id is an error that helps: $says', async ({ call, id, reason, says }) => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'empty', []);
  await writeLog(folder.path, 'one', [callEnd('ok', { callId: 'c1' }), callEnd('ok', { callId: 'c2' })]);
  const thrown = expect.objectContaining({ code: 'usage.invalid', reason, message: expect.stringContaining(says) });
  await expect(why(folder.path, call, id === undefined ? {} : { id })).rejects.toEqual(thrown);
});

test('as JSON; and a damaged log is said to be one', async () => {
  await using folder = await createFolder();
  const path = await writeLog(folder.path, 'one', [callEnd('ok')]);
  const whole = await why(folder.path, 'c1', { json: true });
  expect(whole).toMatchObject({ exitCode: 0, warnings: '' });
  expect(JSON.parse(whole.text)).toMatchObject({ callId: 'c1', uses: [{ status: 'ended', changed: { kept: true } }] });
  await appendFile(path, '{"seq":2,');
  expect(await why(folder.path, 'c1', { json: true })).toMatchObject({
    exitCode: 1,
    warnings: expect.stringContaining('the log is torn'),
  });
  const { exitCode, text } = await why(folder.path, 'c1');
  expect(exitCode).toBe(1);
  expect(text).toContain('The 2 complete records are searched.');
});

test('arguments and results of megabytes are shown within bounds', async () => {
  await using folder = await createFolder();
  const large = 'x '.repeat(1_000_000);
  await writeLog(folder.path, 'one', [callEnd('ok', { rawArguments: large, message: large, input: { large } })]);
  const { text } = await why(folder.path, 'c1', { columns: 60 });
  expect(text.length).toBeLessThan(10_000);
  expect(text.replaceAll(/[\s|]+/g, ' ').match(/\(\d+ more characters; use `--json`\)/g)).toEqual([
    '(1999000 more characters; use `--json`)',
    '(1999012 more characters; use `--json`)',
    '(1999000 more characters; use `--json`)',
  ]);
  for (const line of text.split('\n').slice(2)) expect(line.length).toBeLessThan(60);
});

const noFacts = { runs: [], reads: [], writes: [], deletes: [], hosts: [], untrusted: false, unclear: [] };
const command = { environment: [], decides: true, background: false, after: [], written: false };
test.each([
  { what: 'nothing', facts: {}, lines: ['no known reads, writes or commands'] },
  {
    what: 'commands',
    facts: {
      runs: [
        { ...command, program: 'git', arguments: ['push', null], folder: '/w' },
        { ...command, program: './x.sh', arguments: [], written: true, background: true },
      ],
    },
    lines: ['runs git push ? (in /w)', 'runs ./x.sh (written by this session, in the background)'],
  },
  {
    what: 'files',
    facts: {
      reads: [{ path: '/w/.env', inside: true }],
      writes: [{ path: '/tmp/a', inside: false }],
      deletes: [{ path: '/w/d', inside: true, recursive: { skips: [] } }],
    },
    lines: ['reads /w/.env', 'writes /tmp/a (outside the workspace)', 'deletes /w/d and its contents'],
  },
  {
    what: 'hosts and unclear facts',
    facts: {
      hosts: [
        { scheme: 'https', host: 'a.example', sends: false },
        { scheme: 'http', host: 'b.example', port: 8080, method: 'POST', sends: true },
      ],
      untrusted: true,
      unclear: [{ kind: 'code', reason: 'the text of `python` is code' }],
      cut: true,
    },
    lines: [
      'reaches https://a.example',
      'sends to POST http://b.example:8080',
      'returns text written by outsiders',
      'unclear: the text of `python` is code',
      '…',
    ],
  },
])('facts of a call: $what', async ({ facts, lines: expected }) => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', [
    ask('c1'),
    callEnd('ok', { name: 'wipe', turn: 1, facts: { ...noFacts, ...facts } as never }),
  ]);
  const { lines } = await why(folder.path, 'c1');
  const from = lines.findIndex((line) => line.startsWith('  facts'));
  const until = lines.findIndex((line) => line.startsWith('  policies'));
  expect(lines.slice(from, until).map((line) => line.slice(13))).toEqual(expected);
});
