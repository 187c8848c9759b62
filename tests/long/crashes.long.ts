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
beforeAll(async () => {
  server = await PostgresServer.start();
}, 120_000);
afterAll(async () => {
  console.table(table);
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

test.each(Object.entries(crashKinds))('%s', async (name, kind) => {
  const crashes = amount(name.startsWith('memory') ? 4_000 : 58);
  const seen = await kind({ server, folder, random, crashes });
  table[name] = { crashes, ...seen };
  // At once, too: the table comes only at the end.
  console.log(`${name}: ${JSON.stringify(table[name])}`);
  expect(seen.requests).toBeGreaterThanOrEqual(crashes);
});
