import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { offlineModel } from '@holdfast/adapter-offline';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import {
  answerApproval,
  defineTool,
  openSession,
  pendingApprovals,
  requireApproval,
  resumeRun,
  runAgent,
  type SessionLogs,
} from './index.ts';
import { jsonlStore } from './jsonl.ts';
import { sqliteStore } from './sqlite.ts';

const folder = mkdtempSync(join(tmpdir(), 'kit-'));
afterAll(() => rmSync(folder, { recursive: true }));

test.each<[string, SessionLogs]>([
  ['jsonl', jsonlStore(join(folder, 'orders.jsonl'))],
  ['sqlite', sqliteStore(join(folder, 'orders.db'))],
])('the kit alone is enough for an approval that is given after a restart: %s', async (_name, store) => {
  const refunded: number[] = [];
  const refund = defineTool({
    name: 'refund',
    description: 'Refund an order.',
    inputSchema: z.object({ order: z.number().describe('Number of the order') }),
    effects: 'external',
    execute: ({ order }) => refunded.push(order),
  });
  const agent = { model: offlineModel(), instructions: 'Help with orders.', tools: [refund] };
  const policies = [requireApproval({ tools: ['refund'] })];
  const session = await openSession(store, { id: 'monday' });
  const asked = await runAgent({ ...agent, policies, session, input: 'Refund the order 17.' });
  await session.close();
  expect([asked.status, refunded]).toEqual(['suspended', []]);

  const again = await openSession(store, { id: 'monday' });
  for (const question of pendingApprovals(again)) await answerApproval(again, question, { type: 'approve' });
  const { status } = await resumeRun({ ...agent, policies, session: again });
  await again.close();
  expect([status, refunded]).toEqual(['completed', [17]]);
});
