import { allow, ask, definePolicy, defineTool, deny } from '@holdfast/core';
import * as v from 'valibot';
import { expect, test } from 'vitest';
import { answerApproval, type CallOptions, executeToolCall, resumeToolCall } from '../index.ts';
import { life } from '../test-resume.ts';
import { askToolCall } from './ask-tool-call.ts';

const ran: unknown[] = [];
const pay = defineTool({
  name: 'pay',
  description: 'Pays an order.',
  inputSchema: v.object({ order: v.number() }),
  effects: 'external',
  execute: (input) => {
    ran.push(input);
    return 'paid';
  },
});
/** Denies 1, asks about 2, allows the rest. */
const byOrder = definePolicy({
  name: 'by-order',
  check({ input }) {
    const { order } = input as { readonly order: number };
    return order === 1 ? deny('Closed.') : order === 2 ? ask('May it?') : allow;
  },
});
const options: Omit<CallOptions, 'session'> = { tools: [pay], policies: [byOrder] };
const call = (order: unknown) => ({ id: 'a', name: 'pay', arguments: { order } });

test('a call that is allowed leaves no record, and runs later', async () => {
  const { clock, session, store } = life();
  const before = store.records.length;
  expect(await askToolCall(call(3), { ...options, clock, session })).toEqual({ kind: 'unasked' });
  expect(store.records).toHaveLength(before);
  expect(ran).toEqual([]);
  expect(await executeToolCall(call(3), { ...options, clock, session })).toMatchObject({ kind: 'ok', value: 'paid' });
  expect(ran.splice(0)).toEqual([{ order: 3 }]);
});

test.each([
  [1, { kind: 'denied', code: 'policy.denied' }],
  ['x', { kind: 'invalid', code: 'arguments.invalid' }],
])('a call with order %o ends at once', async (order, outcome) => {
  const { clock, session, store } = life();
  expect(await askToolCall(call(order), { ...options, clock, session })).toMatchObject(outcome);
  expect(store.records.at(-1)).toMatchObject({ type: 'tool-call-end', outcome });
});

test('a question is recorded, and its answer holds when the call runs in another process', async () => {
  const { clock, session, reopen } = life();
  expect(await askToolCall(call(2), { ...options, clock, session })).toMatchObject({
    kind: 'suspended',
    pending: [{ callId: 'a', asks: [{ reason: 'May it?' }] }],
  });
  const second = reopen();
  await answerApproval(second, 'a', { type: 'approve' }, { clock });
  expect(await resumeToolCall('a', { ...options, clock, session: second })).toMatchObject({ kind: 'ok' });
  expect(ran.splice(0)).toEqual([{ order: 2 }]);
});
