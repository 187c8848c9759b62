import { type ApprovalAnswer, allow, ask, deny, type PolicyDecision } from '@holdfast/core';
import { createBudget } from '@holdfast/executor';
import * as v from 'valibot';
import { expect } from 'vitest';
import { hang, thenable, thrown } from '../call-fixtures.ts';
import {
  aborting,
  breaking,
  type Cause,
  ends,
  external,
  guard,
  inputSchema,
  notNested,
  refusing,
  repeatable,
  watched,
} from './cause.ts';

const denied = ends('denied');
const timedOut = ends('timed-out');
const cancelled = ends('cancelled');
const inDoubt = ends('in-doubt');

const no = (reason: string): object => ({ decisions: [watched, { policy: 'host/guard', type: 'deny', reason }] });
const dangerous: PolicyDecision = {
  policy: 'holdfast/dangerous',
  type: 'ask',
  reason: '`write` is marked as dangerous.',
};
const unapproved = { tool: { dangerous: true }, reached: 'authorise' } as const;
const answered = { approval: { type: 'deny' }, decisions: [watched, dangerous] };

const waits: Pick<Cause, 'does' | 'end'> = { does: (_context, { clock }) => hang(clock), end: { abandoned: true } };
const inTime = (durationMs: number): object => ({ abandoned: true, durationMs });
const breaksAfterwards = guard(
  () => allow,
  () => thrown(new Error('broke')),
);

export const refusals: readonly Cause[] = [
  ends('unknown-tool')('there is no such tool', 'tool.unknown', {
    call: { name: 'wriet', arguments: '{"q":1}' },
    outcome: { name: 'wriet', text: 'There is no tool `wriet`. Did you mean `write`?' },
    end: { name: 'wriet' },
    reached: 'parse',
  }),
  ends('truncated')('the message was cut', 'call.truncated', {
    by: ['byModel'],
    options: () => ({ finish: 'length' }),
    reached: 'parse',
  }),
  denied('a policy denies', 'policy.denied', {
    tool: { inputSchema },
    call: { arguments: '{"q":"x"}' },
    policies: [guard(() => deny('Never.'))],
    outcome: { message: 'Denied: Never.' },
    end: { input: { q: 'x' }, ...no('Never.') },
    reached: 'authorise',
  }),
  denied('a policy throws', 'policy.denied', {
    policies: [guard(() => thrown(new Error('broke')))],
    end: no('The policy failed: broke'),
    reached: 'authorise',
  }),
  denied('a policy says nothing', 'policy.denied', {
    policies: [guard(() => undefined)],
    end: no('The policy did not return a decision (`allow`, `ask` or `deny`).'),
    reached: 'authorise',
  }),
  denied('a person says no', 'approval.denied', {
    policies: [guard(() => ask('Sure?'))],
    options: () => ({ approve: () => ({ type: 'deny', reason: 'too late' }) }),
    outcome: { message: expect.stringContaining('too late. Sure?') as string },
    end: {
      approval: { type: 'deny', by: 'person' },
      decisions: [watched, { policy: 'host/guard', type: 'ask', reason: 'Sure?' }],
    },
    reached: 'authorise',
  }),
  denied('a person cannot be asked', 'approval.denied', {
    ...unapproved,
    options: () => ({ approve: () => thrown(new Error('no line')) }),
    end: answered,
  }),
  denied('a person answers nonsense', 'approval.denied', {
    ...unapproved,
    options: () => ({ approve: () => true as unknown as ApprovalAnswer }),
    end: answered,
  }),
  denied('nobody is there', 'approval.unattended', {
    ...unapproved,
    options: () => ({ unattended: true }),
    end: { decisions: [watched, dangerous] },
  }),
  denied('it is nested and would have to wait', 'approval.nested', {
    ...unapproved,
    by: ['nested'],
    end: { decisions: [watched, dangerous] },
  }),
  denied('the budget is used up', 'budget.used: calls', {
    by: ['nested'],
    options: () => ({ budget: createBudget({ maxCalls: 1 }) }),
    reached: 'authorise',
  }),
];

export const stops: readonly Cause[] = [
  timedOut('it takes too long', 'call.timeout', { ...waits, tool: { timeoutMs: 100 }, end: inTime(100) }),
  timedOut('its thenable never settles', 'call.timeout', {
    ...waits,
    tool: { timeoutMs: 100 },
    does: (_context, { clock }) => thenable(() => void hang(clock)),
  }),
  timedOut('a repeatable effect takes too long', 'call.timeout', { ...waits, tool: { ...repeatable, timeoutMs: 100 } }),
  timedOut('the time of all of it is over', 'call.deadline', {
    ...waits,
    options: () => ({ timeoutMs: 50 }),
    status: 'deadline',
    end: inTime(50),
  }),
  cancelled('the caller aborts', 'call.aborted', aborting({ effects: 'state' })),
  cancelled('the caller aborts a repeatable effect', 'call.aborted', aborting(repeatable)),
  cancelled('the caller has aborted before', 'call.aborted', {
    by: ['directly'],
    options: () => ({ signal: AbortSignal.abort() }),
    end: { decisions: [] },
    reached: 'authorise',
  }),
  inDoubt('an effect takes too long', 'call.timeout', { ...waits, tool: { ...external, timeoutMs: 100 } }),
  inDoubt('the time is over during an effect', 'call.deadline', {
    ...waits,
    tool: external,
    options: () => ({ timeoutMs: 50 }),
    status: 'deadline',
  }),
  inDoubt('the caller aborts an effect', 'call.aborted', aborting(external)),
  inDoubt('the caller aborts a keyed effect', 'call.aborted', aborting({ effects: 'external', repeat: 'keyed' })),
  inDoubt('an effect returns undefined', 'output.invalid: undefined', { tool: external, does: () => undefined }),
  inDoubt('an effect returns no JSON', 'output.invalid: not_json', { tool: external, does: () => 1n }),
  inDoubt('an effect returns what its schema refuses', 'output.invalid', {
    tool: { ...external, outputSchema: v.string() },
    does: () => 1,
  }),
  inDoubt('an onResult throws after an effect', 'commit.failed', { tool: external, policies: [breaksAfterwards] }),
  inDoubt('a resource cannot be prepared after an effect', 'commit.failed', {
    ...notNested,
    tool: external,
    options: (world) => ({ resources: { filesystem: breaking(world, 'prepare') } }),
  }),
  inDoubt('the log refuses the commit of an effect', 'commit.failed', {
    ...notNested,
    tool: external,
    world: refusing('tool-call-end'),
  }),
];
