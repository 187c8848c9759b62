import { randomUUID } from 'node:crypto';
import type { LogEntry, SessionStore } from '@holdfast/session';
import { openPostgresLog } from '@holdfast/session/postgres';
import type { Pool } from 'pg';
import { type Against, compare, type Extent, limitRounds, type Subject } from '../compare.ts';
import type { TimeReport } from '../report.ts';
import { callEntry, smallEntry } from '../stores/entries.ts';

const records = 64;

/** Measures an append against a bare insert: the same pool, the same bytes, both committed before the caller goes on. */
export async function measureAppends(pool: Pool, extent: Extent): Promise<readonly TimeReport[]> {
  await pool.query(
    'CREATE TABLE bare (session text NOT NULL, seq bigint NOT NULL, text text, PRIMARY KEY (session, seq))',
  );
  const reports: TimeReport[] = [];
  for (const [size, toEntry] of [['300 B', smallEntry] as const, ['1.5 kB', callEntry] as const]) {
    for (const callers of [1, 32]) {
      const goal = callers === 1 ? { goal: 1.5 } : {};
      const subjects = [inserting(pool, toEntry, callers), await appending(pool, toEntry, { callers, ...goal })];
      const rows = await compare(subjects, limitRounds({ rounds: 15, warmUpRounds: 2 }, extent));
      const who = callers === 1 ? 'one caller' : `${callers} callers`;
      reports.push({ name: `durable: a record of ${size}, ${who}`, notes, rows });
    }
  }
  return reports;
}

const notes = [
  'Each record committed before its caller goes on. insert: one row. append: with lease, fence and hash link.',
];

function inserting(pool: Pool, toEntry: (index: number) => LogEntry, callers: number): Subject {
  const prepare = (): (() => Promise<void>) => {
    const session = randomUUID();
    return () =>
      share(callers, async (seq) => {
        const values = [session, seq, JSON.stringify({ ...link, ...toEntry(seq) })];
        await pool.query('INSERT INTO bare (session, seq, text) VALUES ($1, $2, $3)', values);
      });
  };
  return { name: 'insert', operations: records, prepare };
}

const link = { seq: 12_345, prev: '0'.repeat(64), atMs: 1_795_323_214_208 };

async function appending(
  pool: Pool,
  toEntry: (index: number) => LogEntry,
  { callers, ...goal }: { readonly callers: number; readonly goal?: number },
): Promise<Subject> {
  const { store } = await openPostgresLog(pool, { sessionId: randomUUID() });
  let next = 0;
  const prepare = () => () =>
    share(callers, async (seq) => {
      append(store, toEntry(seq), next);
      next += 1;
      await store.sync();
    });
  const against: readonly Against[] = [{ name: 'insert', ...goal }];
  return { name: 'append', operations: records, against, prepare };
}

export function append(store: SessionStore, entry: LogEntry, seq: number): void {
  store.append(entry, seq, link.atMs);
}

/** So many callers, each with the next one when its own is done. */
async function share(callers: number, work: (index: number) => Promise<void>): Promise<void> {
  const rest = Array.from({ length: records }, (_, index) => index).values();
  const call = async (): Promise<void> => {
    for (const index of rest) await work(index);
  };
  await Promise.all(Array.from({ length: callers }, call));
}
