import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom } from '../setup/random.ts';
import { seed } from '../setup/seed.ts';
import { jsonlPlace, type Place, postgresPlace, sqlitePlace } from './crash-places.ts';
import { crash } from './crash-run.ts';
import { PostgresServer } from './postgres-server.ts';

let server: PostgresServer;
const folder = mkdtempSync(join(tmpdir(), 'holdfast-crashes-'));
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function newPostgres(): Promise<Place> {
  const database = await server.newDatabase();
  return postgresPlace(server.pool(database), server.settings(database));
}

const random = createRandom(seed);

test.each([
  { store: 'jsonl', how: 'kill', place: () => jsonlPlace(mkdtempSync(join(folder, 'jsonl-'))) },
  { store: 'sqlite', how: 'two', place: () => sqlitePlace(mkdtempSync(join(folder, 'sqlite-'))) },
  { store: 'postgres', how: 'two', place: newPostgres },
  { store: 'postgres', how: 'stop', place: newPostgres },
] as const)('$store: workers end at any instant ($how), and others finish their sessions', async ({ how, place }) => {
  const seen = await crash({ ...(await place()), how, crashes: 3, random });
  expect(seen.requests).toBeGreaterThan(0);
});

test('postgres: the server crashes and comes back while two workers run', async () => {
  const disturb = async (): Promise<void> => {
    await server.stop('crash');
    await server.resume();
  };
  const seen = await crash({ ...(await newPostgres()), how: 'two', crashes: 2, random, disturb });
  expect(seen.requests).toBeGreaterThan(0);
});
