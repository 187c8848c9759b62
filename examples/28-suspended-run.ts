// A run without its own session waits for approval. Answering its result resumes it.
import assert from 'node:assert/strict';
import { answerApproval, defineTool, requireApproval, resumeRun, runAgent } from '@holdfast/kit';
import { scriptedModel } from '@holdfast/testing';
import { z } from 'zod';

const refunded: number[] = [];
const refund = defineTool({
  name: 'refund',
  description: 'Refund an order.',
  inputSchema: z.object({ order: z.number(), euros: z.number() }),
  effects: 'external',
  execute: ({ order }) => `Refund ${refunded.push(order)} is made.`,
});
const agent = {
  model: scriptedModel([{ calls: [{ name: 'refund', arguments: { order: 17, euros: 250 } }] }, { text: 'Done.' }]),
  instructions: 'Help with orders.',
  tools: [refund],
  policies: [requireApproval({ tools: [refund], when: ({ euros }) => euros > 100 })],
};

const asked = await runAgent({ ...agent, input: 'Refund order 17, it came broken.' });
assert.deepEqual([asked.status, refunded], ['suspended', []]);

for (const question of asked.pending) await answerApproval(asked, question, { type: 'approve' }, { by: 'Ada' });
const { status, text } = await resumeRun({ ...agent, session: asked.session });
assert.deepEqual([status, text, refunded], ['completed', 'Done.', [17]]);
console.log('a run was suspended, answered and completed: one refund');
