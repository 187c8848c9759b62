import { ask, definePolicy } from '@holdfast/core';
import { expect, test } from 'vitest';
import { call, playing, stop, testSession } from '../fixtures.ts';
import { answerApproval, pendingApprovals, resumeRun, resumeToolCall, runAgent } from '../index.ts';
import { file, kindOf, source, tools } from '../test-facts.ts';
import { life } from '../test-resume.ts';

test.each([
  { what: 'nothing else', later: '/w/a', kind: 'ok' },
  { what: 'other facts', later: '/etc/passwd', kind: 'suspended' },
])('a yes to a call that waits, which is $what by then: $kind', async ({ later, kind }) => {
  let path = '/w/a';
  const facts = source(() => ({ reads: [file(path)] }));
  const { session, reopen, clock } = life();
  const policies = [
    definePolicy({ name: 'asking', check: ({ facts: seen }) => ask(`May it, with ${seen?.reads.length} reads?`) }),
  ];
  const options = { tools, policies, facts, clock };
  expect(await kindOf('act', {}, { ...options, session })).toBe('suspended');
  expect(pendingApprovals(session)[0]?.facts).toMatchObject({ reads: [file('/w/a')] });
  await answerApproval(session, 'c', { type: 'approve' }, { clock });
  path = later;
  const reopened = reopen();
  expect((await resumeToolCall('c', { ...options, session: reopened })).kind).toBe(kind);
  if (kind === 'ok') return;
  // The new question can be answered, and that holds.
  await answerApproval(reopened, 'c', { type: 'approve' }, { clock });
  expect((await resumeToolCall('c', { ...options, session: reopened })).kind).toBe('ok');
});

test('what changes while a host answers is asked about again, and a grant of the first answer does not count', async () => {
  let path = '/w/a';
  const asked: string[] = [];
  const { session, ends } = testSession();
  const facts = source(() => ({ reads: [file(path)] }));
  const policies = [
    definePolicy({ name: 'asking', check: ({ facts: seen }) => ask(`May it read ${seen?.reads[0]?.path}?`) }),
  ];
  const outcome = await kindOf(
    'act',
    {},
    {
      tools,
      session,
      policies,
      facts,
      approve({ asks: [question] }) {
        asked.push(question?.reason ?? '');
        path = '/etc/passwd';
        return asked.length === 1 ? { type: 'approve', grant: true } : { type: 'deny', reason: 'Not that.' };
      },
    },
  );
  expect(outcome).toBe('denied');
  expect(asked).toEqual(['May it read /w/a?', 'May it read /etc/passwd?']);
  expect(ends()[0]).toMatchObject({ approval: { type: 'deny' }, facts: { reads: [file('/etc/passwd')] } });
});

test('a run: `request` is its input, also when it is resumed; an answer holds as long as the facts do', async () => {
  let path = '/w/a';
  const requests: (string | undefined)[] = [];
  const { session, reopen, clock } = life();
  const policies = [
    definePolicy({
      name: 'asking',
      check: (_call, { request }) => {
        requests.push(request);
        return ask('May it?');
      },
    }),
  ];
  const options = { instructions: '', tools, policies, facts: source(() => ({ reads: [file(path)] })), clock };
  const model = () => playing([call('act', {}, 'c'), stop], [stop]);
  expect((await runAgent({ ...options, model: model(), session, input: 'Do it.' })).status).toBe('suspended');
  await answerApproval(session, 'c', { type: 'approve' }, { clock });
  path = '/etc/passwd';
  const reopened = reopen();
  expect((await resumeRun({ ...options, model: playing([stop]), session: reopened })).status).toBe('suspended');
  expect(pendingApprovals(reopened)).toHaveLength(1);
  await answerApproval(reopened, 'c', { type: 'approve' }, { clock });
  expect((await resumeRun({ ...options, model: playing([stop]), session: reopened })).status).toBe('completed');
  expect(new Set(requests)).toEqual(new Set(['Do it.']));
});
