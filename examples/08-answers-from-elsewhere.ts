// Five calls of one message wait for approval. Three answers come from another process, in any order; each call runs once.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApprovalAnswer, defineTool, type PendingApproval, toolOk } from '@holdfast/core';
import { isPlainObject } from '@holdfast/core/internal';
import { answerApproval, pendingApprovals, resumeRun, runAgent } from '@holdfast/executor';
import { createPrompt, markdownSection } from '@holdfast/prompt';
import { openSession, type Session } from '@holdfast/session';
import { jsonlStore } from '@holdfast/session/jsonl';
import { scriptedModel } from '@holdfast/testing';
import * as v from 'valibot';

const [role = 'office', folder = mkdtempSync(join(tmpdir(), 'holdfast-'))] = process.argv.slice(2);
const log = join(folder, 'session.jsonl');

const open = (): Promise<Session> => openSession(jsonlStore(log));

const customerOf = ({ input }: PendingApproval): unknown => isPlainObject(input) && input['customer'];

async function answer(session: Session, customer: string, said: ApprovalAnswer): Promise<void> {
  const question = pendingApprovals(session).find((pending) => customerOf(pending) === customer);
  assert(question);
  await answerApproval(session, question, said, { by: role });
}

// The other process needs the log, but neither tools nor model.
if (role === 'elsewhere') {
  const session = await open();
  assert.deepEqual(pendingApprovals(session).map(customerOf), ['Ada', 'Ben', 'Cleo', 'Dan', 'Eve']);
  await answer(session, 'Cleo', { type: 'approve' });
  await answer(session, 'Eve', { type: 'deny', reason: 'Eve has paid.' });
  await answer(session, 'Ada', { type: 'approve' });
  await session.close();
  process.exit();
}

const sent: string[] = [];
const send = defineTool({
  name: 'send_invoice',
  description: 'Send an invoice to a customer.',
  inputSchema: v.object({ customer: v.string() }),
  dangerous: true,
  execute: ({ customer }) => toolOk(sent.push(customer), `${customer} has an invoice.`),
});
const section = markdownSection({ title: 'Invoices', template: 'Send them.', tools: [send] });
const prompt = createPrompt({ ns: 'examples', key: 'invoices', sections: [section] });
const calls = ['Ada', 'Ben', 'Cleo', 'Dan', 'Eve'].map((customer) => ({ name: send.name, arguments: { customer } }));
const model = scriptedModel([{ calls }, { text: 'Eve got none.' }]);

const first = await open();
const asked = await runAgent({ model, prompt, session: first, input: 'Send the invoices.' }).result;
assert.equal(asked.status, 'suspended');
await first.close();
assert.deepEqual(await once(fork(import.meta.filename, ['elsewhere', folder]), 'exit'), [0, null]);

// Calls run in message order: Cleo's is approved, but waits for Ben's.
const session = await open();
const waiting = await resumeRun({ model, prompt, session }).result;
assert.equal(waiting.status, 'suspended');
assert.deepEqual([waiting.pending.map(customerOf), sent], [['Ben', 'Dan'], ['Ada']]);

await answer(session, 'Dan', { type: 'approve' });
await answer(session, 'Ben', { type: 'approve' });
const { status, outcomes } = await resumeRun({ model, prompt, session }).result;
await session.close();
assert.equal(status, 'completed');
assert.deepEqual(sent, ['Ada', 'Ben', 'Cleo', 'Dan']);
assert.deepEqual([outcomes.length, outcomes[4]?.kind], [5, 'denied']);
assert.match(outcomes[4]?.text ?? '', /Eve has paid/);
rmSync(folder, { recursive: true });
console.log('three of five answers came from another process; four invoices were sent once each; one call was denied');
