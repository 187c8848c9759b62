import { openPostgresLog } from '@holdfast/session/postgres';
import type { Pool } from 'pg';
import { compare, type Extent, limitRounds, type Subject } from '../compare.ts';
import type { TimeReport } from '../report.ts';
import { smallEntry } from '../stores/entries.ts';
import { append } from './appends.ts';

/** Measures what a session costs as it grows: an append, and opening it again. */
export async function measureGrowth(pool: Pool, extent: Extent): Promise<readonly TimeReport[]> {
  const sizes = [100, 10_000, 100_000].map((size) => Math.min(size, extent.largest));
  const [first = 0, ...longer] = [...new Set(sizes)];
  const named = (size: number): string => `${size.toLocaleString('en')} records`;
  const appends: Subject[] = [];
  const opens: Subject[] = [];
  for (const size of [first, ...longer]) {
    const sessionId = named(size);
    const { store } = await openPostgresLog(pool, { sessionId });
    let seq = 0;
    const write = (count: number): void => {
      for (let index = 0; index < count; index += 1, seq += 1) append(store, smallEntry(seq), seq);
    };
    while (seq < size) {
      write(Math.min(1_000, size - seq));
      await store.sync();
    }
    append(store, { ...snapshot, sessionId }, seq);
    seq += 1;
    const against = size === first ? [] : [{ name: named(first) }];
    const one = async (): Promise<void> => {
      for (let index = 0; index < 20; index += 1) {
        write(1);
        await store.sync();
      }
    };
    appends.push({ name: sessionId, operations: 20, against, prepare: () => one });
    const copy = `${sessionId}, closed`;
    await pool.query('INSERT INTO holdfast_sessions (id, records, head, snapshot, fence) VALUES ($1, $2, $3, $4, 1)', [
      copy,
      ...(await endOf(pool, store.sessionId, () => store.sync())),
    ]);
    await pool.query(
      `INSERT INTO holdfast_records SELECT (SELECT key FROM holdfast_sessions WHERE id = $2), seq, text
       FROM holdfast_records WHERE session = (SELECT key FROM holdfast_sessions WHERE id = $1)`,
      [sessionId, copy],
    );
    const open = async (): Promise<void> => {
      const reopened = await openPostgresLog(pool, { sessionId: copy, earlier: 'skip' });
      if (reopened.records.length === 0) throw new Error('nothing was read');
      reopened.store.close();
      await reopened.store.closed();
    };
    opens.push({ name: sessionId, operations: 1, against, prepare: () => open });
  }
  const measure = (subjects: readonly Subject[]) =>
    compare(subjects, limitRounds({ rounds: 15, warmUpRounds: 2 }, extent));
  return [
    { name: 'durable: an append to a session that has so many records', notes: [], rows: await measure(appends) },
    {
      name: 'durable: opening a session that has so many records',
      notes: ['From its last snapshot on, and closed again.'],
      rows: await measure(opens),
    },
  ];
}

const snapshot = { type: 'snapshot', slices: [], open: { runs: [], calls: [] } };

/** The end of a session, whose row has it once all is written. */
async function endOf(pool: Pool, id: string, sync: () => Promise<void>): Promise<readonly unknown[]> {
  await sync();
  const { rows } = await pool.query('SELECT records, head, snapshot FROM holdfast_sessions WHERE id = $1', [id]);
  const { records, head, snapshot: last } = rows[0] as Readonly<Record<string, unknown>>;
  return [records, head, last];
}
