import { defineTool, type Tool } from '@holdfast/core';
import { executeToolCall } from '@holdfast/executor';
import { callBudget, denyTools, observe, requireApproval } from '@holdfast/policy';
import { createSession, type LogRecord, memoryStore, type Session } from '@holdfast/session';
import { expect, test } from 'vitest';
import { listObserved } from './observed.ts';

const policies = [
  observe(callBudget({ maxCalls: 2 })),
  observe(requireApproval({ tools: ['pay'] })),
  denyTools(['write']),
];
const pay = defineTool({ name: 'pay', description: 'Pays.', effects: 'state', execute: () => null });
const write = defineTool({ name: 'write', description: 'Writes.', effects: 'state', execute: () => null });
const group: Tool = defineTool({
  name: 'group',
  description: 'Pays from within, and from a child session.',
  effects: 'external',
  async execute(_input, context) {
    await context.call('pay', {});
    await executeToolCall(
      { id: 'inner', name: 'pay', arguments: {} },
      { tools, policies, session: context.child() as Session },
    );
    return null;
  },
});
const tools: readonly Tool[] = [pay, write, group];

test('decisions of observed policies, by policy', async () => {
  const store = memoryStore();
  const session = createSession({ store });
  for (const name of ['pay', 'write', 'group', 'pay']) {
    await executeToolCall({ id: `${name}-${store.records.length}`, name, arguments: {} }, { tools, policies, session });
  }
  const listed = listObserved(store.records);
  expect(listed.map(({ policy, asked, denied }) => ({ policy, asked, denied }))).toEqual([
    { policy: 'host/require-approval', asked: 4, denied: 0 },
    { policy: 'host/call-budget', asked: 0, denied: 1 },
  ]);
  expect(listed[0]?.decisions.map(({ callId, sessionId }) => [callId, sessionId === undefined])).toEqual([
    [expect.stringMatching(/^pay-/), true],
    [expect.stringMatching(/^group-\d+\/1$/), true],
    ['inner', false],
    [expect.stringMatching(/^pay-/), true],
  ]);
  expect(listed[1]?.decisions).toEqual([
    {
      callId: expect.stringMatching(/^pay-/),
      seq: store.records.length - 1,
      tool: 'pay',
      type: 'deny',
      reason: expect.stringContaining('2'),
    },
  ]);
});

test('edited records are ignored', () => {
  const end = { seq: 0, atMs: 0, type: 'tool-call-end', callId: 'c', name: 'pay' };
  const records = [
    { ...end, decisions: 'none' },
    { ...end, decisions: [null, 'x', { policy: 1, observed: 'deny' }, { policy: 'p', observed: 'allow' }] },
    { ...end, type: 'child-record', entry: null },
    { ...end, decisions: [{ policy: '__proto__', type: 'allow', observed: 'deny' }] },
  ] as unknown as readonly LogRecord[];
  expect(listObserved(records)).toEqual([
    {
      policy: '__proto__',
      asked: 0,
      denied: 1,
      decisions: [{ callId: 'c', seq: 0, tool: 'pay', type: 'deny', reason: '' }],
    },
  ]);
});
