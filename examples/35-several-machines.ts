// A run that is killed in one process goes on in another, waits for an approval that a third one gives, and ends. In SQLite, or with
// `DATABASE_URL=postgres://...` in PostgreSQL, where the processes may be on different machines.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { defineTool } from '@holdfast/core';
import { type Advanced, advance, answerApproval, pendingApprovals } from '@holdfast/executor';
import { openSession } from '@holdfast/session';
import { postgresStore } from '@holdfast/session/postgres';
import { sqliteStore } from '@holdfast/session/sqlite';
import { scriptedModel } from '@holdfast/testing';
import pg from 'pg';
import { z } from 'zod';

const [role = 'main', folder = mkdtempSync(join(tmpdir(), 'holdfast-'))] = process.argv.slice(2);
const { DATABASE_URL: connectionString } = process.env;
const pool = connectionString === undefined ? undefined : new pg.Pool({ connectionString });
const store = pool ? postgresStore(pool, { leaseMs: 1_000 }) : sqliteStore(join(folder, 'sessions.db'));

const toTool = (name: string, extra: { readonly repeat?: 'keyed'; readonly dangerous?: boolean }) =>
  defineTool({
    name,
    description: `Asks the shop to ${name} an order.`,
    inputSchema: z.object({ order: z.number() }),
    effects: 'external',
    ...extra,
    async execute({ order }, { idempotencyKey }) {
      // The shop does once what it is asked with the same key.
      appendFileSync(join(folder, 'requests'), `${name} ${idempotencyKey}\n`);
      process.send?.('asked');
      // Killed while it waits for the answer.
      if (role === 'first') await once(process, 'message');
      return `${name} ${order}: done.`;
    },
  });
const tools = [toTool('pack', { repeat: 'keyed' }), toTool('pay', { dangerous: true })];
const calls = (name: string) => [{ calls: [{ name, arguments: { order: 17 } }] }];

/** Every process runs the same; only the model's next message is written here for each. */
async function work(replies: Parameters<typeof scriptedModel>[0]): Promise<Advanced> {
  const agent = { model: scriptedModel(replies), instructions: 'Send orders.', tools, input: 'Send order 17.' };
  for (;;) {
    const advanced = await advance('order-17', { ...agent, store });
    const [first] = advanced.waits;
    if (first?.type !== 'busy') return advanced;
    await wait(first.leaseMs ?? 50);
  }
}

if (role === 'first') await work(calls('pack'));
if (role === 'second') assert.equal((await work(calls('pay'))).waits[0]?.type, 'approval');
if (role === 'third') {
  const session = await openSession(store, { id: 'order-17' });
  for (const question of pendingApprovals(session)) await answerApproval(session, question, { type: 'approve' });
  await session.close();
}
if (role === 'main') {
  const first = fork(import.meta.filename, ['first', folder]);
  first.once('message', () => first.kill('SIGKILL'));
  assert.deepEqual(await once(first, 'exit'), [null, 'SIGKILL']);
  for (const next of ['second', 'third']) {
    assert.deepEqual(await once(fork(import.meta.filename, [next, folder]), 'exit'), [0, null]);
  }
  const { done, text } = await work([{ text: 'Order 17 is on its way.' }]);
  assert.deepEqual([done, text], [true, 'Order 17 is on its way.']);
  const requests = readFileSync(join(folder, 'requests'), 'utf8').trim().split('\n');
  assert.deepEqual([requests.length, new Set(requests).size], [3, 2]);
  rmSync(folder, { recursive: true });
  console.log('killed in one process, continued in a second, approved in a third: packed once, paid once');
}
await pool?.end();
