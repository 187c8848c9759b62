// A machine that runs sessions until it is killed, for tests: `node crash-worker.ts PLACE`. Says `ready`, waits for a line `FROM TO`, and
// runs those sessions in order. Says `told SESSION CALL` of every success that was reported, and `done NUMBER`, each before anything else.
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { isHoldfastError, type RunEvent } from '@holdfast/core';
import { advance } from '@holdfast/executor';
import type { SessionLogs } from '@holdfast/session';
import { jsonlStore } from '@holdfast/session/jsonl';
import { postgresStore } from '@holdfast/session/postgres';
import { sqliteStore } from '@holdfast/session/sqlite';
import pg from 'pg';
import { launchDbos } from './crash-dbos.ts';
import { type CrashPlace, sendTo } from './crash-places.ts';
import { crashOptions } from './crash-plan.ts';

const place = JSON.parse(process.argv[2] ?? '') as CrashPlace & { readonly receiver: string };

function toStores(): (id: string) => SessionLogs {
  if (place.kind === 'jsonl' || place.kind === 'sqlite') {
    const { kind, path } = place;
    return (id) => (kind === 'jsonl' ? jsonlStore(`${path}/${id}.jsonl`) : sqliteStore(path));
  }
  const { settings, leaseMs } = place as { readonly settings: object; readonly leaseMs: number };
  const pool = new pg.Pool({ ...settings, max: 4 });
  // The next statement reports it.
  pool.on('error', () => undefined);
  return () => postgresStore(pool, { leaseMs });
}

const send = sendTo(place.receiver);
const storeOf = toStores();
// Its date is wrong by up to a day; leases must not depend on it.
const clock = {
  now: () => Date.now() + place.skewMs,
  after: (delayMs: number, run: () => void) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};

const onEvent =
  (id: string) =>
  (event: RunEvent): void => {
    if (event.type === 'tool-call-end' && event.outcome.kind === 'ok') writeSync(1, `told ${id} ${event.callId}\n`);
  };

async function runToEnd(number: number): Promise<void> {
  const id = `session-${number}`;
  const options = crashOptions(id, send);
  for (;;) {
    try {
      const { done, waits } = await advance(id, {
        ...options,
        store: storeOf(id),
        clock,
        maxTurns: 3,
        onEvent: onEvent(id),
      });
      if (done) break;
      const [busy] = waits;
      if (busy?.type === 'busy') await wait(Math.min(busy.leaseMs ?? 10, 50));
    } catch (thrown) {
      // The database is gone for a while; everything else is a defect, and ends this process.
      if (!isHoldfastError(thrown) || thrown.reason !== 'unreachable') throw thrown;
      await wait(20);
    }
  }
  writeSync(1, `done ${number}\n`);
}

writeSync(1, 'ready\n');
for await (const line of createInterface(process.stdin)) {
  const [from = 0, to = 0] = line.split(' ').map(Number);
  const run =
    place.kind === 'dbos'
      ? await launchDbos(place.settings, (id) => ({
          ...crashOptions(id, send),
          store: storeOf(id),
          clock,
          maxTurns: 3,
          onEvent: onEvent(id),
        }))
      : undefined;
  for (let number = from; number < to; number += 1) {
    if (run === undefined) await runToEnd(number);
    else {
      await run(`session-${number}`);
      writeSync(1, `done ${number}\n`);
    }
  }
  process.exit(0);
}
