import { openSession } from '@holdfast/session';
import { postgresStore } from '@holdfast/session/postgres';
import { deltaChannelHistoryTests, validate } from '@langchain/langgraph-checkpoint-validation';
import { PostgresServer } from 'holdfast-tests-databases/postgres-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { slices } from './checkpoint-logs.ts';
import { JudgedChecks } from './judged-checks.ts';
import { ReopeningSaver } from './reopening-saver.ts';

let server: PostgresServer;
let pool: ReturnType<PostgresServer['pool']>;
beforeAll(async () => {
  server = await PostgresServer.start();
  pool = server.pool(await server.newDatabase());
});
afterAll(() => server[Symbol.asyncDispose]());

const checks = new JudgedChecks();
checks.provide();
const checkpointerName = 'postgres, opened anew before every call';
let sessions = 0;
const initializer = {
  checkpointerName,
  createCheckpointer: () => {
    sessions += 1;
    const id = `checkpoints ${sessions}`;
    return new ReopeningSaver(() => openSession(postgresStore(pool), { id, slices }));
  },
  destroyCheckpointer: (saver: ReopeningSaver) => saver.close(),
};
validate(initializer);
deltaChannelHistoryTests(initializer);

test('every check ran', () => {
  expect(checks.ranOf(checkpointerName)).toHaveLength(726);
});
