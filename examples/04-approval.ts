// A dangerous tool waits for approval. Without an answer nothing runs; an unattended run denies the call.
import assert from 'node:assert/strict';
import { type ApprovalAnswer, defineTool, toolOk } from '@holdfast/core';
import { type CallOptions, executeToolCall } from '@holdfast/executor';
import { createSession } from '@holdfast/session';
import * as v from 'valibot';

const sent: string[] = [];
const sendInvoice = defineTool({
  name: 'send_invoice',
  description: 'Send an invoice to a customer.',
  inputSchema: v.object({ customer: v.string(), euros: v.pipe(v.number(), v.minValue(0)) }),
  dangerous: true,
  effects: 'external',
  execute({ customer, euros }) {
    sent.push(customer);
    return toolOk({ customer, euros }, `Sent ${customer} an invoice of ${euros} euros.`);
  },
});

const session = createSession();
const send = (customer: string, more: Partial<CallOptions> = {}) => {
  const call = { name: 'send_invoice', arguments: { customer, euros: 40 } };
  return executeToolCall(call, { tools: [sendInvoice], session, ...more });
};

// No approver: the call is suspended with the details that a person needs. Nothing has run.
const waiting = await send('Ada');
assert(waiting.kind === 'suspended');
assert.deepEqual(waiting.pending[0]?.input, { customer: 'Ada', euros: 40 });
assert.equal(waiting.pending[0]?.dangerous, true);

// In an unattended run, calls that need approval are denied.
const unattended = await send('Ada', { unattended: true });
assert.equal(unattended.kind, 'denied');

// A person denies, with a reason for the model.
const no: ApprovalAnswer = { type: 'deny', reason: 'Ada has paid already.' };
const denied = await send('Ada', { approve: () => no });
assert(denied.kind === 'denied');
assert.match(denied.text, /paid already/);
assert.deepEqual(sent, []);

// A person approves once.
const approved = await send('Ben', { approve: () => ({ type: 'approve' }) });
assert.equal(approved.kind, 'ok');
assert.equal((await send('Cleo')).kind, 'suspended');

// Or approves for the rest of the session: a grant.
await send('Cleo', { approve: () => ({ type: 'approve', grant: true }) });
assert.equal((await send('Dan')).kind, 'ok');
assert.deepEqual(sent, ['Ben', 'Cleo', 'Dan']);

console.log('nothing was sent without approval');
