// A machine that runs sessions until it is killed, for tests: `node crash-worker.ts PLACE`. Says `ready`, waits for a line `FROM TO`, and
// runs those sessions in order. Says `told SESSION CALL` of every success that was reported, and `done NUMBER`, each before anything else.
import { writeSync } from 'node:fs';
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { isHoldfastError } from '@holdfast/core';
import { advance } from '@holdfast/executor';
import type { SessionLogs } from '@holdfast/session';
import { jsonlStore } from '@holdfast/session/jsonl';
import { postgresStore } from '@holdfast/session/postgres';
import { sqliteStore } from '@holdfast/session/sqlite';
import pg from 'pg';
import type { CrashPlace } from './crash-places.ts';
import { crashOptions, type Send } from './crash-plan.ts';

const place = JSON.parse(process.argv[2] ?? '') as CrashPlace & { readonly receiver: string };

function toStores(): (id: string) => SessionLogs {
  if (place.kind !== 'postgres') {
    const { kind, path } = place;
    return (id) => (kind === 'jsonl' ? jsonlStore(`${path}/${id}.jsonl`) : sqliteStore(path));
  }
  const { settings, leaseMs } = place;
  const pool = new pg.Pool({ ...settings, max: 4 });
  // The next statement reports it.
  pool.on('error', () => undefined);
  return () => postgresStore(pool, { leaseMs });
}

const send: Send = (effect, signal) =>
  new Promise((resolve, reject) => {
    const sent = request({ socketPath: place.receiver, method: 'POST', signal }, (response) => {
      response.resume().on('end', resolve);
    });
    sent.on('error', reject).end(JSON.stringify(effect));
  });

const storeOf = toStores();
// Its date is wrong by up to a day; leases must not depend on it.
const clock = {
  now: () => Date.now() + place.skewMs,
  after: (delayMs: number, run: () => void) => {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
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
        onEvent: (event) => {
          if (event.type === 'tool-call-end' && event.outcome.kind === 'ok')
            writeSync(1, `told ${id} ${event.callId}\n`);
        },
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
  for (let number = from; number < to; number += 1) await runToEnd(number);
  process.exit(0);
}
