import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { crashKinds } from '../databases/crash-kinds.ts';
import { PostgresServer } from '../databases/postgres-server.ts';
import { random } from '../setup/random.ts';
import { amount } from './amount.ts';

let server: PostgresServer;
const folder = mkdtempSync(join(tmpdir(), 'holdfast-crashes-'));
const table: Record<string, object> = {};
let kills = 0;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 120_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
}, 120_000);

test.each(Object.entries(crashKinds))('%s', async (name, kind) => {
  const crashes = amount(name.startsWith('memory') ? 4_000 : 40);
  const seen = await kind({ server, folder, random, crashes });
  const { problems, ...row } = seen;
  table[name] = row;
  if (!name.startsWith('memory')) kills += seen.kills;
  // At once, too: the table comes only at the end.
  console.log(`${name}: ${JSON.stringify(table[name])}`);
  expect(problems).toEqual([]);
  expect(seen).toMatchObject({ lost: 0, secondRequests: 0, secondApplications: 0 });
  expect(seen.requests).toBeGreaterThanOrEqual(crashes);
});

test('the table', () => {
  console.table(table);
  console.log(`Workers that were killed: ${kills}, their clocks wrong by up to a day.`);
  expect(kills).toBeGreaterThanOrEqual(amount(400));
});
