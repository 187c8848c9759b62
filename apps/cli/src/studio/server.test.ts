import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openJsonlLog, readLog } from '@holdfast/session/jsonl';
import { describe, expect, test } from 'vitest';
import { callEnd, pendingApproval } from '../testing/test-events.ts';
import { createFolder, type TestFolder } from '../testing/test-folder.ts';
import { bash, createHookWorld, startHook, toEvent, untilRecorded } from '../testing/test-hook.ts';
import { createTestHost } from '../testing/test-host.ts';
import { writeLog } from '../testing/test-log.ts';
import { askToWrite, openTestStudio, runTestPlan, type TestStudio } from '../testing/test-studio.ts';
import { guardFolder } from '../user/guard-folder.ts';
import { findLog } from '../workspace/session-logs.ts';
import { serveStudio } from './server.ts';

const runStart = { type: 'run-start', run: 1, model: 'offline:rules', input: 'Tidy up.', tools: ['wipe'] };
const question = (callId: string, changes: Parameters<typeof pendingApproval>[0] = {}) => ({
  type: 'approval-request',
  pending: pendingApproval({ callId, name: 'wipe', ...changes }),
});
const entries = [runStart, question('c1'), question('c2'), { ...callEnd('ok'), callId: 'c0' }];

async function readAnswers({ path }: TestFolder, id = 'one') {
  return readLog((await findLog(path, id)).path).records.filter(({ type }) => type === 'approval-answer');
}

async function nonces(studio: TestStudio): Promise<readonly string[]> {
  const { questions } = (await studio.read('inbox')) as { readonly questions: readonly { readonly nonce: string }[] };
  return questions.map(({ nonce }) => nonce);
}

describe('anything but the own page', () => {
  test.each<[string, (studio: TestStudio) => Parameters<TestStudio['send']>[0]]>([
    ['no secret', () => ({ path: '/api/inbox' })],
    ['a wrong secret', () => ({ path: '/api/inbox', headers: { authorization: `Bearer ${'a'.repeat(43)}` } })],
    ['the secret in the address', ({ own }) => ({ path: `/api/inbox?read=${own.read['authorization']?.slice(7)}` })],
    ['another name for this machine', ({ own }) => ({ path: '/', headers: { ...own.read, host: 'localhost' } })],
    [
      'a name that was pointed here',
      ({ own }) => ({ path: '/api/inbox', headers: { ...own.read, host: 'evil.example' } }),
    ],
    ['a foreign page', ({ own }) => ({ path: '/api/inbox', headers: { ...own.read, origin: 'https://evil.example' } })],
    ['another port', ({ own }) => ({ path: '/page.js', headers: { ...own.read, origin: 'http://127.0.0.1:1' } })],
    ['a script tag elsewhere', () => ({ path: '/page.js', headers: { 'sec-fetch-site': 'same-site' } })],
    [
      'a frame elsewhere',
      () => ({ path: '/', headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' } }),
    ],
    ['a question before a request', ({ own }) => ({ method: 'OPTIONS', path: '/api/answer', headers: own.answer })],
  ])('%s: reads nothing', async (_, ask) => {
    await using folder = await createFolder();
    await writeLog(folder.path, 'one', entries);
    await using studio = await openTestStudio({ directory: folder.path });
    const { status, text, headers } = await studio.send(ask(studio));
    expect({ status, text }).toEqual({ status: 403, text: '' });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  const without = (headers: Readonly<Record<string, string>>, name: string) =>
    Object.fromEntries(Object.entries(headers).filter(([other]) => other !== name));
  test.each<
    [string, (studio: TestStudio) => { readonly method?: string; readonly headers: Readonly<Record<string, string>> }]
  >([
    ['a link preview, which only gets', ({ own }) => ({ method: 'GET', headers: own.answer })],
    ['HEAD', ({ own }) => ({ method: 'HEAD', headers: own.answer })],
    ['the secret for reading alone', ({ own }) => ({ headers: without(own.answer, 'x-holdfast-answer') })],
    ['the secret for answering alone', ({ own }) => ({ headers: without(own.answer, 'authorization') })],
    [
      'one secret for both',
      ({ own }) => ({ headers: { ...own.answer, 'x-holdfast-answer': own.read['authorization']?.slice(7) ?? '' } }),
    ],
    ['no origin', ({ own }) => ({ headers: without(own.answer, 'origin') })],
    ['a foreign origin', ({ own }) => ({ headers: { ...own.answer, origin: 'https://evil.example' } })],
    ['a sandboxed frame', ({ own }) => ({ headers: { ...own.answer, origin: 'null' } })],
    ['a form', ({ own }) => ({ headers: { ...own.answer, 'content-type': 'text/plain' } })],
  ])('%s: answers nothing', async (_, ask) => {
    await using folder = await createFolder();
    await writeLog(folder.path, 'one', entries);
    await using studio = await openTestStudio({ directory: folder.path });
    const [nonce] = await nonces(studio);
    const body = JSON.stringify({ nonce, type: 'approve' });
    const asked = { method: 'POST', path: '/api/answer', ...ask(studio) };
    const { status, text } = await studio.send(['GET', 'HEAD'].includes(asked.method) ? asked : { ...asked, body });
    expect({ isRefused: status === 403 || status === 404, text: status === 404 ? '' : text }).toEqual({
      isRefused: true,
      text: '',
    });
    expect(await readAnswers(folder)).toEqual([]);
  });
});

test('the files of the page hold nothing, and let no script or frame in', async () => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', entries);
  await using studio = await openTestStudio({ directory: folder.path });
  for (const path of ['/', '/page.js', '/page.css', '/trace.css']) {
    const { status, headers, text } = await studio.send({ path });
    expect(status).toBe(200);
    expect(text).not.toMatch(/wipe|Tidy/);
    const { 'set-cookie': cookie, 'content-security-policy': policy, ...rest } = headers;
    expect(cookie).toBeUndefined();
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(rest).toMatchObject({
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
    });
  }
  // A link in a mail or a chat may be followed to the page, which has no secret then.
  const followed = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
  expect((await studio.send({ path: '/', headers: followed })).status).toBe(200);
});

test('an inbox over all sessions; an answer holds for what was shown, once', async () => {
  await using folder = await createFolder();
  const asks = [{ policy: 'host/p', type: 'ask', reason: 'Are\u202e you sure?', grantable: false }] as const;
  await writeLog(folder.path, 'one', entries);
  await writeLog(folder.path, 'two', [
    question('late', { expiresAtMs: 5 }),
    question('c9', { asks, input: { text: 'a\nb' } }),
  ]);
  await using studio = await openTestStudio({ directory: folder.path });
  const { questions, problems } = await studio.read('inbox');
  expect(problems).toEqual([]);
  expect(questions).toMatchObject([
    {
      session: 'one',
      callId: 'c1',
      name: 'wipe',
      dangerous: true,
      grantable: true,
      request: 'Tidy up.',
      model: 'offline:rules',
    },
    {
      session: 'two',
      callId: 'c9',
      grantable: false,
      asks: [{ policy: 'host/p', reason: 'Are\\u{202e} you sure?' }],
      arguments: ['{', '  "text": text of 3 characters', '    | a', '    | b', '}'],
    },
    { session: 'one', callId: 'c2' },
  ]);
  const [first, third, second] = await nonces(studio);
  // Two tabs, at once.
  const both = await Promise.all([
    studio.answer({ nonce: first, type: 'approve', grant: true }),
    studio.answer({ nonce: first, type: 'deny' }),
  ]);
  expect(both.map(({ status }) => status)).toEqual([200, 409]);
  expect(JSON.parse(both[1]?.text ?? '')).toMatchObject({ code: 'approval.answered' });
  expect((await studio.answer({ nonce: second, type: 'deny', reason: 'Not today.' })).status).toBe(200);
  expect((await studio.answer({ nonce: third, type: 'approve', grant: true })).status).toBe(200);
  expect(await readAnswers(folder)).toMatchObject([
    { callId: 'c1', answer: { type: 'approve', grant: true }, by: 'person' },
    { callId: 'c2', answer: { type: 'deny', reason: 'Not today.' } },
  ]);
  expect(await readAnswers(folder, 'two')).toMatchObject([{ callId: 'c9', answer: { type: 'approve', grant: false } }]);
  expect(await nonces(studio)).toEqual([]);
});

test.each([
  { body: { type: 'approve' }, status: 400, code: 'command.failed', reason: 'studio.answer' },
  { body: { nonce: 'x', type: 'later' }, status: 400, code: 'command.failed', reason: 'studio.answer' },
  {
    body: { nonce: 'x', type: 'deny', reason: 'a'.repeat(70_000) },
    status: 400,
    code: 'command.failed',
    reason: 'studio.answer',
  },
  { body: { nonce: 'x', type: 'approve' }, status: 409, code: 'approval.mismatch' },
])('$body.type is refused: $code', async ({ body, status, code, reason }) => {
  await using folder = await createFolder();
  await writeLog(folder.path, 'one', entries);
  await using studio = await openTestStudio({ directory: folder.path });
  await nonces(studio);
  const answered = await studio.answer(body);
  expect({ status: answered.status, ...JSON.parse(answered.text) }).toMatchObject({
    status,
    code,
    ...(reason && { reason }),
  });
  expect(await readAnswers(folder)).toEqual([]);
});

test('a plan is drawn, and its boxes lead to the calls', async () => {
  await using folder = await createFolder();
  await runTestPlan(folder.path, 'planned', 'Get \u202eit.');
  // A plan inside of a call has calls of the same ids.
  const { store, records } = openJsonlLog((await findLog(folder.path, 'planned')).path);
  const inner = JSON.parse(JSON.stringify(callEnd('ok', { callId: 'plan_1_a', name: 'fetch' })));
  store.append({ type: 'child-record', sessionId: 'planned/1', childSeq: 1, entry: inner }, records.length, 1);
  store.close();
  await using studio = await openTestStudio({ directory: folder.path });
  const { calls } = (await studio.read('calls?limit=9')) as {
    readonly calls: readonly {
      readonly key: number;
      readonly callId: string;
      readonly child: string;
      readonly ref: string;
    }[];
  };
  expect(calls.map(({ child }) => child).toSorted()).toEqual(['', '', 'planned/1']);
  const keyOf = (callId: string): number | undefined =>
    calls.find((call) => call.callId === callId && call.child === '')?.key;
  const { plans } = await studio.read(`session?session=${calls[0]?.ref}`);
  expect(plans).toMatchObject([
    {
      title: 'Plan run 1',
      summary: 'failed: 1 of 3 nodes succeeded',
      graph: {
        boxes: [
          {
            label: 'a fetch',
            tone: 'ok',
            target: keyOf('plan_1_a'),
            told: expect.stringContaining('Get \\u{202e}it.'),
          },
          { label: 'b fail', tone: 'bad', target: keyOf('plan_1_b') },
          { label: 'c fetch', tone: 'skipped', target: -1, isFinal: true },
        ],
        paths: [expect.stringMatching(/^M/), expect.stringMatching(/^M/)],
      },
    },
  ]);
});

test('what the page does not ask for is not there', async () => {
  await using folder = await createFolder();
  await using studio = await openTestStudio({ directory: folder.path });
  const { status, text } = await studio.send({ path: '/api/nothing', headers: studio.own.read });
  expect({ status, ...JSON.parse(text) }).toMatchObject({
    status: 404,
    code: 'command.failed',
    reason: 'studio.unknown',
  });
});

test('a staged change is shown, and a yes does not hold for another one', async () => {
  await using folder = await createFolder({ 'a.txt': 'one\ntwo\n' });
  await askToWrite(folder.path, { id: 'files', path: 'a.txt', content: 'one\nthree\n' });
  await using studio = await openTestStudio({ directory: folder.path });
  const { questions } = await studio.read('inbox');
  expect(questions).toMatchObject([
    { changes: [{ title: expect.stringContaining('a.txt (+1 -1'), diff: expect.arrayContaining(['-two', '+three']) }] },
  ]);
  const [nonce] = await nonces(studio);
  await writeFile(join(folder.path, 'a.txt'), 'changed meanwhile\n');
  const answered = await studio.answer({ nonce, type: 'approve' });
  expect({ status: answered.status, ...JSON.parse(answered.text) }).toMatchObject({
    status: 409,
    code: 'approval.mismatch',
  });
  expect(await readAnswers(folder, 'files')).toEqual([]);
});

test('a damaged log is told, and the questions of the others stay', async () => {
  await using folder = await createFolder();
  const path = await writeLog(folder.path, 'bad', [question('c1')]);
  await writeLog(folder.path, 'good', [question('c3')]);
  await writeFile(path, 'not a record\n{"type":"approval-request","seq":9,"atMs":1,"pending":{"callId":"x"}}\n');
  await using studio = await openTestStudio({ directory: folder.path });
  const { questions, problems } = await studio.read('inbox');
  expect(questions).toMatchObject([{ session: 'good' }]);
  expect(problems).toEqual([expect.stringContaining('Session bad: ')]);
});

test('a guarded agent waits, its question has facts, a yes here lets the call through, and two policies are compared over it', async () => {
  await using world = await createHookWorld('here');
  const { folder, host } = world;
  const install = bash('npm install left-pad');
  const event = toEvent(folder.path, 'PreToolUse', 't1', install, { permission_mode: 'bypassPermissions' });
  const held = startHook(event, folder.path, 'claude-code', [], ['--wait=100']);
  await untilRecorded(host, 'approval-request');
  await using studio = await openTestStudio({ directory: folder.path, environment: host.environment });
  const { questions } = await studio.read('inbox');
  expect(questions).toMatchObject([
    {
      session: 'claude-code-s-1',
      workspace: guardFolder(host),
      facts: expect.arrayContaining(['unclear: `npm install` installs `left-pad`']),
    },
  ]);
  const [nonce] = await nonces(studio);
  expect((await studio.answer({ nonce, type: 'approve' })).status).toBe(200);
  expect(await held.answer).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(await world.start('PostToolUse', 't1', install, { tool_response: 'ok' }).answer).toMatchObject({ code: 0 });

  const { calls } = (await studio.read('calls?limit=1')) as { readonly calls: readonly { key: number; ref: string }[] };
  // The timeline says why: the decision beside the bar, and the reason of the question.
  expect(await studio.read(`session?session=${calls[0]?.ref}`)).toMatchObject({
    timeline: {
      rows: [
        {
          label: expect.stringMatching(/^bash npm install/),
          told: expect.stringMatching(/for a person, asked: approved by person, .*`npm install` installs/),
          decided: 'asked: approved by person',
        },
      ],
    },
  });
  const { uses } = (await studio.read(`call?key=${calls[0]?.key}`)) as { readonly uses: unknown };
  expect(JSON.stringify(uses)).toMatch(
    /"approval",\["asked by \S+ \([^"]*`npm install` installs[^"]*\), approved by person/,
  );
  const compare = `compare?session=${calls[0]?.ref}&pack=shell-guard`;
  expect(await studio.read(`${compare}&from=recommended&to=strict`)).toMatchObject({
    counts: { tightened: 1, widened: 0 },
    calls: [
      {
        key: calls[0]?.key,
        callId: 't1',
        name: 'bash',
        change: 'tightened',
        before: 'ask',
        after: 'deny',
        reasons: expect.arrayContaining([expect.stringContaining('npm install')]),
      },
    ],
  });
  expect(await studio.read(`${compare}&from=strict&to=strict`)).toMatchObject({ counts: { same: 1 }, calls: [] });
  for (const other of ['&from=recommended&to=constructor', '&from=recommended'])
    expect(await studio.read(`${compare}${other}`)).toMatchObject({ code: 'command.failed', reason: 'studio.unknown' });
  expect(await studio.read('compare?session=nowhere&pack=./evil.js&from=a&to=b')).toMatchObject({
    code: 'command.failed',
    reason: 'studio.unknown',
  });
}, 60_000);

test('a port that is taken', async () => {
  await using folder = await createFolder();
  await using studio = await openTestStudio({ directory: folder.path });
  const port = Number(new URL(studio.link).port);
  const { host } = createTestHost({ directory: folder.path });
  await expect(serveStudio({ page: new Map(), port }, host)).rejects.toMatchObject({
    code: 'command.failed',
    reason: 'studio.port',
  });
});
