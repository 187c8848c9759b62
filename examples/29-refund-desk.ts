// A refund desk: refunds above 100 euros need approval, the process may restart while it waits, and the log says why each was allowed.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  answerApproval,
  callBudget,
  defineTool,
  explainCall,
  openSession,
  pendingApprovals,
  requireApproval,
  resumeRun,
  runAgent,
  toolError,
} from '@holdfast/kit';
import { sqliteStore } from '@holdfast/kit/sqlite';
import { scriptedModel } from '@holdfast/testing';
import { z } from 'zod';

const orders = new Map([[17, { euros: 250, refunds: new Set<string>() }]]);
const refund = defineTool({
  name: 'refund',
  description: 'Refund an order.',
  inputSchema: z.object({ order: z.number(), euros: z.number().positive() }),
  effects: 'external',
  repeat: 'keyed',
  execute: ({ order, euros }, { idempotencyKey }) => {
    const found = orders.get(order);
    if (found === undefined || euros > found.euros) return toolError('No such order, or it cost less.');
    found.refunds.add(idempotencyKey);
    return { order, euros };
  },
});
const agent = {
  model: scriptedModel([{ calls: [{ name: 'refund', arguments: { order: 17, euros: 250 } }] }, { text: 'Refunded.' }]),
  instructions: 'Help with orders.',
  tools: [refund],
  policies: [callBudget({ maxCalls: 20 }), requireApproval({ tools: [refund], when: ({ euros }) => euros > 100 })],
};
const folder = mkdtempSync(join(tmpdir(), 'holdfast-'));
const open = () => openSession(sqliteStore(join(folder, 'desk.db')), { id: 'monday' });

const first = await open();
assert.equal((await runAgent({ ...agent, session: first, input: 'Refund order 17.' })).status, 'suspended');
await first.close(); // The process ends. Another one continues tomorrow.
const session = await open();
for (const question of pendingApprovals(session))
  await answerApproval(session, question, { type: 'approve' }, { by: 'Ada' });
const { text, outcomes } = await resumeRun({ ...agent, session });
const why = explainCall([...session.records()], outcomes[0]?.callId ?? '');
await session.close();
rmSync(folder, { recursive: true });
assert.deepEqual([text, orders.get(17)?.refunds.size], ['Refunded.', 1]);
assert.equal(why?.uses[0]?.approvals[0]?.answer?.by, 'Ada');
console.log('refunded once, after a restart:', why.uses[0].decisions);
