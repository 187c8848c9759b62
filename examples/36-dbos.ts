// A session as a workflow of DBOS: killed while it works, it is recovered by the next process with its executor id, waits for an approval
// that comes as a message, and ends. In the PostgreSQL of `DATABASE_URL=postgres://...`, or in one of its own.
import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { DBOS, DBOSClient } from '@dbos-inc/dbos-sdk';
import { defineTool, type Model, type ModelEvent, type RunEvent } from '@holdfast/core';
import { type ApprovalMessage, approvalTopic, registerSessionWorkflow } from '@holdfast/driver-dbos';
import { postgresStore } from '@holdfast/session/postgres';
import { PostgresServer } from 'holdfast-tests-databases/postgres-server';
import pg from 'pg';
import { z } from 'zod';

/** Answers by the conversation alone, the same in every worker. */
const model: Model = {
  id: 'shop',
  async *stream({ messages }): AsyncGenerator<ModelEvent> {
    const name = ['pack', 'pay'][messages.filter(({ role }) => role === 'assistant').length];
    if (name) yield { type: 'tool-call', id: name, name, arguments: { order: 17 } };
    else yield { type: 'text-delta', text: 'Order 17 is on its way.' };
    yield { type: 'finish', reason: name ? 'tool-calls' : 'stop' };
  },
};
const toTool = (name: string, extra: { readonly repeat?: 'keyed'; readonly dangerous?: boolean }) =>
  defineTool({
    name,
    description: `Asks the shop to ${name} an order.`,
    inputSchema: z.object({ order: z.number() }),
    effects: 'external',
    ...extra,
    async execute({ order }, { idempotencyKey }) {
      process.send?.(`${name} ${idempotencyKey}`);
      await once(process, 'message');
      return `${name} ${order}: done.`;
    },
  });

async function work(settings: pg.PoolConfig): Promise<void> {
  process.once('disconnect', () => process.exit());
  const store = postgresStore(new pg.Pool(settings), { leaseMs: 1_000 });
  const tools = [toTool('pack', { repeat: 'keyed' }), toTool('pay', { dangerous: true })];
  const onEvent = (event: RunEvent): unknown => event.type === 'approval-request' && process.send?.(event.pending);
  const options = () => ({ model, instructions: 'Send orders.', tools, store, onEvent });
  const sendOrder = registerSessionWorkflow({ name: 'send-order', options });
  const kept = { systemDatabasePool: new pg.Pool(settings), executorID: 'worker-1', applicationVersion: '1' };
  DBOS.setConfig({ name: 'shop', logLevel: 'error', ...kept });
  await DBOS.launch();
  const handle = await DBOS.startWorkflow(sendOrder, { workflowID: 'order-17' })('order-17', 'Send order 17.');
  process.send?.(await handle.getResult({ pollingIntervalMs: 50 }));
}

const [given] = process.argv.slice(2);
if (given !== undefined) await work(JSON.parse(given));
else {
  const { DATABASE_URL: connectionString = '' } = process.env;
  await using server = connectionString === '' ? await PostgresServer.start() : undefined;
  const settings = server ? server.settings(await server.newDatabase()) : { connectionString };
  const start = () => fork(import.meta.filename, [JSON.stringify(settings)]);
  const next = async (worker: ChildProcess) => (await once(worker, 'message'))[0];
  const first = start();
  const request = await next(first);
  first.kill('SIGKILL');
  const second = start();
  // Recovered, it asks with the same key: the shop packs once.
  assert.equal(await next(second), request);
  second.send('packed');
  const { callId, digest } = await next(second);
  const pool = new pg.Pool(settings);
  const client = await DBOSClient.create({ systemDatabaseUrl: connectionString, systemDatabasePool: pool });
  const message: ApprovalMessage = { callId, digest, answer: { type: 'approve' } };
  await client.send('order-17', message, approvalTopic);
  assert.match(await next(second), /^pay /);
  second.send('paid');
  assert.deepEqual(await next(second), { status: 'completed', text: 'Order 17 is on its way.' });
  second.disconnect();
  await Promise.all([once(second, 'exit'), client.destroy()]);
  await pool.end();
  console.log('killed while packing, recovered, approved by a message: packed once, paid once');
}
