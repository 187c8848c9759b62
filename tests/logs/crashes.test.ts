import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkSession, nothingSeen } from '../databases/crash-check.ts';
import { crashKinds } from '../databases/crash-kinds.ts';
import type { Effect } from '../databases/crash-plan.ts';
import { PostgresServer } from '../databases/postgres-server.ts';
import { random } from '../setup/random.ts';

let server: PostgresServer;
const folder = mkdtempSync(join(tmpdir(), 'holdfast-crashes-'));
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

// Many more in `npm run long`.
test.each(Object.entries(crashKinds))('%s', async (name, kind) => {
  const crashes = name.startsWith('memory') ? 200 : 2;
  const seen = await kind({ server, folder, random, crashes });
  expect(seen).toMatchObject({ problems: [], lost: 0, secondRequests: 0, secondApplications: 0 });
  expect(seen.requests).toBeGreaterThanOrEqual(crashes);
  if (name.startsWith('memory')) expect(seen.inDoubt * seen.repeated).toBeGreaterThan(0);
});

const effect = (callId: string, key = 'k'): Effect => ({ session: 's', callId, tool: 'never', key });
const start = (callId: string): object => ({ type: 'tool-call-start', callId });
const end = (callId: string, kind = 'ok'): object => ({ type: 'tool-call-end', callId, outcome: { kind } });

test.each([
  { what: 'nothing', entries: [start('never-1'), end('never-1')], effects: [effect('never-1')], problems: [] },
  {
    what: 'a second request for `never`',
    entries: [start('never-1'), end('never-1')],
    effects: [effect('never-1'), effect('never-1')],
    problems: ['never-1 was sent 2 times'],
  },
  {
    what: 'a request without a start record',
    entries: [],
    effects: [effect('never-1')],
    problems: ['never-1 ran without a start record'],
  },
  {
    what: 'another key',
    entries: [start('keyed-1'), end('keyed-1')],
    effects: [effect('keyed-1', 'a'), effect('keyed-1', 'b')],
    problems: ['keyed-1 was sent with different keys'],
  },
  {
    what: 'a lost end',
    entries: [start('never-1')],
    effects: [],
    told: ['never-1'],
    problems: ['the success of never-1 is lost'],
  },
  {
    what: 'a `keyed` call in doubt, and a success without a request',
    entries: [end('keyed-1', 'in-doubt'), end('safe-1')],
    effects: [],
    problems: ['keyed-1 is in doubt', 'safe-1 ended well and was never sent'],
  },
])('the check finds $what', ({ entries, effects, told = [], problems }) => {
  const records = [...entries, { type: 'run-end' }].map((entry, seq) => ({ seq, atMs: 0, type: '', ...entry }));
  expect(checkSession(records, effects, new Set(told), nothingSeen())).toEqual(problems);
});
