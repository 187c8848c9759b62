import { DBOS } from '@dbos-inc/dbos-sdk';
import { defineTool, type Model, type ModelEvent, type PendingApproval, type Tool } from '@holdfast/core';
import { approvalTopic, registerSessionWorkflow } from '@holdfast/driver-dbos';
import type { AdvanceOptions } from '@holdfast/executor';
import { postgresStore, readPostgresLog } from '@holdfast/session/postgres';
import type { Pool } from 'pg';
import * as v from 'valibot';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { checkSession, nothingSeen } from './crash-check.ts';
import { launchDbos } from './crash-dbos.ts';
import { postgresPlace, Receiver, sendTo } from './crash-places.ts';
import { crashOptions } from './crash-plan.ts';
import { Worker } from './crash-run.ts';
import { PostgresServer } from './postgres-server.ts';

let server: PostgresServer;
let database: string;
let pool: Pool;
beforeAll(async () => {
  server = await PostgresServer.start();
  database = await server.newDatabase();
  pool = server.pool(database);
});
afterEach(() => DBOS.shutdown());
afterAll(() => server[Symbol.asyncDispose]());

async function start(): Promise<void> {
  DBOS.setConfig({
    name: 'test',
    systemDatabasePool: server.pool(database),
    executorID: 'a',
    applicationVersion: '1',
    logLevel: 'error',
  });
  await DBOS.launch();
}

/** Calls the tool that the request names, once. */
const model: Model = {
  id: 'once',
  async *stream({ messages }): AsyncGenerator<ModelEvent> {
    const first = messages.every(({ role }) => role !== 'assistant');
    if (first) yield { type: 'tool-call', id: 'c', name: messages.at(-1)?.text ?? '', arguments: {} };
    else yield { type: 'text-delta', text: 'Done.' };
    yield { type: 'finish', reason: first ? 'tool-calls' : 'stop' };
  },
};

const ran: string[] = [];
const tool = (name: string, dangerous: boolean, work: (signal: AbortSignal) => Promise<void> = async () => undefined) =>
  defineTool({
    name,
    description: 'Works.',
    inputSchema: v.object({}),
    effects: 'external',
    repeat: 'keyed',
    dangerous,
    async execute(_input, { signal, idempotencyKey }) {
      ran.push(`${name} ${idempotencyKey}`);
      await work(signal);
      return null;
    },
  }) as Tool;

const asked = Promise.withResolvers<PendingApproval>();
const working = Promise.withResolvers<AbortSignal>();
const agent: Omit<AdvanceOptions, 'store' | 'input'> = {
  model,
  instructions: 'Work.',
  tools: [
    tool('pay', true),
    tool('hang', false, (signal) => {
      working.resolve(signal);
      return new Promise((_resolve, reject) => signal.addEventListener('abort', reject));
    }),
  ],
  onEvent: (event) => {
    if (event.type === 'approval-request') asked.resolve(event.pending);
  },
};
const run = registerSessionWorkflow({
  name: 'session',
  options: () => ({ ...agent, store: postgresStore(pool, { leaseMs: 400 }) }),
  retry: { intervalSeconds: 0.1 },
});
const begin = (sessionId: string, input: string) =>
  DBOS.startWorkflow(run, { workflowID: sessionId })(sessionId, input);
test('an approval comes as a message; others change nothing', async () => {
  await start();
  const handle = await begin('approved', 'pay');
  const { callId, digest } = await asked.promise;
  const answer = { type: 'approve' };
  const answers = async (): Promise<number> =>
    (await DBOS.listWorkflowSteps('approved'))?.filter(({ name }) => name === 'answer').length ?? 0;
  const others = ['approve', { callId, digest: 'other', answer }, { callId, digest, answer: { type: 'maybe' } }];
  for (const message of others) await DBOS.send('approved', message, approvalTopic);
  // Messages of one millisecond come in any order.
  await vi.waitFor(async () => expect(await answers()).toBe(3), { timeout: 60_000 });
  await DBOS.send('approved', { callId, digest, answer, by: 'ada' }, approvalTopic);
  expect(await handle.getResult({ pollingIntervalMs: 20 })).toEqual({ status: 'completed', text: 'Done.' });
  expect(ran.filter((each) => each.startsWith('pay'))).toHaveLength(1);
  const { records } = await readPostgresLog(pool, { sessionId: 'approved' });
  expect(records.filter(({ type }) => type === 'approval-answer')).toMatchObject([{ by: 'ada' }]);
  // Started again, it is the same workflow.
  expect(await (await begin('approved', 'pay')).getResult()).toEqual({ status: 'completed', text: 'Done.' });
  expect(await answers()).toBe(4);
});

test('a worker that never returns keeps its workflow until a process with its id starts', async () => {
  await using receiver = new Receiver(() => 0.5);
  await receiver.listen();
  const own = await server.newDatabase();
  const settings = server.settings(own);
  const reader = server.pool(own);
  const worker = new Worker(postgresPlace(reader, settings, 'dbos').place, receiver.path);
  const request = receiver.more(1);
  await worker.run(0, 1);
  await Promise.race([request, worker.ended]);
  worker.signal('SIGSTOP');

  const options = (id: string) => ({ ...crashOptions(id, sendTo(receiver.path)), store: postgresStore(reader) });
  const run = await launchDbos(settings, options, 'second');
  expect(await run('session-1')).toMatchObject({ status: 'completed' });
  expect(await DBOS.getWorkflowStatus('session-0')).toMatchObject({ status: 'PENDING', executorId: 'first' });
  const before = await readPostgresLog(reader, { sessionId: 'session-0' });
  expect(before.records.map(({ type }) => type)).not.toContain('run-end');
  await DBOS.shutdown();

  await (await launchDbos(settings, options, 'first'))('session-0');
  worker.signal('SIGCONT');
  await worker.end();
  const { records } = await readPostgresLog(reader, { sessionId: 'session-0' });
  const requests = receiver.effects.filter(({ session }) => session === 'session-0');
  expect(checkSession(records, requests, new Set(), nothingSeen())).toEqual([]);
});

test('cancelling the workflow aborts the calls', async () => {
  await start();
  await begin('cancelled', 'hang');
  const signal = await working.promise;
  const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
  await DBOS.cancelWorkflow('cancelled');
  await aborted;
  expect(await DBOS.getWorkflowStatus('cancelled')).toMatchObject({ status: 'CANCELLED' });
});
