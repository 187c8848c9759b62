import { allow, ask, definePolicy, defineTool, deny, type Policy } from '@holdfast/core';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { answerApproval, type CallOptions, executeToolCall, pendingApprovals, recoverSession } from '../index.ts';
import { life, yes } from '../test-resume.ts';
import { releaseToolCall } from './release-tool-call.ts';
import { type Report, settleToolCall } from './settle-tool-call.ts';

const shell = defineTool({
  name: 'bash',
  description: 'Runs a command, in the agent.',
  inputSchema: v.object({ command: v.string() }),
  effects: 'external',
  repeat: 'never',
});
const npmTest = { id: 'a', name: 'bash', arguments: { command: 'npm test' } };
const push = { id: 'b', name: 'bash', arguments: { command: 'git push' } };
const commandOf = (input: unknown): string => (input as { command: string }).command;

/** Denies a push until a test has succeeded. */
const testFirst: Policy = definePolicy({
  name: 'test-first',
  initialState: false,
  check: ({ input }, { state }) =>
    commandOf(input) === 'git push' && state !== true ? deny('Run the tests first.') : allow,
  onResult: ({ input }, _result, { state }) => state === true || commandOf(input) === 'npm test',
});

const options: Omit<CallOptions, 'session'> = { tools: [shell], policies: [testFirst] };

describe('a call that is released', () => {
  test('pays into policies when its report says that it succeeded, told in another process', async () => {
    const { clock, session, store, reopen } = life();
    expect(await releaseToolCall(npmTest, { ...options, clock, session })).toEqual({ kind: 'released' });
    expect(store.records.at(-1)).toMatchObject({ type: 'tool-call-start', callId: 'a' });
    expect(await releaseToolCall(push, { ...options, clock, session })).toMatchObject({ kind: 'denied' });

    const second = reopen();
    const outcome = await settleToolCall(
      'a',
      { type: 'ok', value: '12 passed' },
      { ...options, clock, session: second },
    );
    expect(outcome).toMatchObject({ kind: 'ok', value: '12 passed' });
    const third = reopen();
    expect(await releaseToolCall({ ...push, id: 'c' }, { ...options, clock, session: third })).toEqual({
      kind: 'released',
    });
  });

  test.each<[Report, object]>([
    [
      { type: 'failed', message: 'exit code 1' },
      { kind: 'failed', code: 'tool.failed', message: 'exit code 1' },
    ],
    [
      { type: 'failed', message: 'no', code: 'guard.input_changed' },
      { kind: 'failed', code: 'guard.input_changed' },
    ],
    [{ type: 'not-run' }, { kind: 'cancelled', code: 'call.not_done' }],
    [{ type: 'unknown' }, { kind: 'in-doubt', code: 'call.in_doubt' }],
    [
      { type: 'unknown', code: 'guard.unreported' },
      { kind: 'in-doubt', code: 'guard.unreported' },
    ],
  ])('pays into no policy when its report is %j', async (report, outcome) => {
    const { clock, session } = life();
    await releaseToolCall(npmTest, { ...options, clock, session });
    expect(await settleToolCall('a', report, { ...options, clock, session })).toMatchObject(outcome);
    expect(await releaseToolCall(push, { ...options, clock, session })).toMatchObject({ kind: 'denied' });
  });

  test('is settled once', async () => {
    const { clock, session } = life();
    await releaseToolCall(npmTest, { ...options, clock, session });
    const settle = () => settleToolCall('a', { type: 'ok' }, { ...options, clock, session });
    const both = await Promise.allSettled([settle(), settle()]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    await expect(settle()).rejects.toMatchObject({ code: 'work.not_open', reason: 'call' });
  });

  test('keeps its id from other calls, and is in doubt when its session is recovered', async () => {
    const { clock, session, reopen } = life();
    await releaseToolCall(npmTest, { ...options, clock, session });
    await expect(releaseToolCall(npmTest, { ...options, clock, session })).rejects.toMatchObject({
      code: 'work.under_way',
      reason: 'call',
    });
    const { outcomes } = await recoverSession({ ...options, clock, session: reopen() });
    expect(outcomes).toMatchObject([{ kind: 'in-doubt', callId: 'a' }]);
  });

  test('is released once a person has approved it', async () => {
    const { clock, session, reopen } = life();
    const asking = definePolicy({ name: 'asking', check: () => ask('May it?') });
    const asked = { ...options, policies: [asking], clock };
    expect(await releaseToolCall(push, { ...asked, session })).toMatchObject({ kind: 'suspended' });
    expect(await releaseToolCall('b', { ...asked, session })).toMatchObject({ kind: 'suspended' });
    await expect(settleToolCall('b', { type: 'ok' }, { ...asked, session })).rejects.toMatchObject({
      code: 'work.not_open',
      reason: 'call',
    });
    const second = reopen();
    const [pending] = pendingApprovals(second);
    await answerApproval(second, pending ?? '', yes, { clock });
    expect(await releaseToolCall('b', { ...asked, session: reopen() })).toEqual({ kind: 'released' });
    const outcome = await settleToolCall('b', { type: 'ok' }, { ...asked, session: reopen() });
    expect(outcome).toMatchObject({ kind: 'ok' });
  });
});

test('what the policies refuse, or the tool cannot read, is not released', async () => {
  const { clock, session } = life();
  const call = (name: string, input: object) =>
    releaseToolCall({ id: `${name}1`, name, arguments: input as never }, { ...options, clock, session });
  expect(await call('bash', { command: 1 })).toMatchObject({ kind: 'invalid' });
  expect(await call('sh', {})).toMatchObject({ kind: 'unknown-tool' });
  expect(await call('bash', { command: 'git push' })).toMatchObject({ kind: 'denied' });
  expect(session.openWork().calls).toEqual([]);
});

test.each([
  { effects: 'state', repeat: 'never' },
  { effects: 'external', repeat: 'safe' },
] as const)('a tool with %j has no start record and is not released', async (extra) => {
  const { clock, session } = life();
  const tool = defineTool({ name: 'bash', description: 'Runs.', inputSchema: v.looseObject({}), ...extra });
  const outcome = await releaseToolCall(npmTest, { tools: [tool], clock, session });
  expect(outcome).toMatchObject({ kind: 'failed', code: 'tool.not_executable', reason: 'release' });
});

test.each([null, {}, { type: 'done' }, { type: 'failed' }, { type: 'ok', value: 1n }, { type: 'ok', message: 1 }])(
  'the report %o is refused, and the call stays open',
  async (report) => {
    const { clock, session } = life();
    await releaseToolCall(npmTest, { ...options, clock, session });
    await expect(settleToolCall('a', report as never, { ...options, clock, session })).rejects.toMatchObject({
      code: 'options.invalid',
    });
    expect(session.openWork().calls).toMatchObject([{ callId: 'a' }]);
  },
);

test('a tool that is only declared is still not run by `executeToolCall`', async () => {
  const { clock, session } = life();
  const outcome = await executeToolCall(npmTest, { ...options, clock, session });
  expect(outcome).toMatchObject({ kind: 'failed', code: 'tool.not_executable' });
});
