import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LogEntry } from '@holdfast/session';
import { type Against, compare, type Extent, everything, limitRounds, type Subject } from '../compare.ts';
import type { TimeReport } from '../report.ts';
import { callEntry, smallEntry } from './entries.ts';
import {
  bareInsert,
  bareInsertInOneList,
  bareInsertOnDisk,
  bareLine,
  bareLineOnDisk,
  barePush,
  jsonl,
  jsonlOnDisk,
  memory,
  type OpenLog,
  sqlite,
  sqliteOnDisk,
} from './logs.ts';

/** A way to store a record, and its baselines. */
interface Way {
  readonly name: string;
  readonly open: OpenLog;
  readonly records: number;
  readonly against?: readonly Against[];
}

// A process-safe log with hash link adds at most 5 us a record.
const goalOverNs = 5_000;

const unsynced: readonly Way[] = [
  { name: 'push', open: barePush, records: 4_000 },
  { name: 'memory', open: memory, records: 4_000, against: [{ name: 'push' }] },
  { name: 'line', open: bareLine, records: 2_000 },
  { name: 'JSONL', open: jsonl, records: 2_000, against: [{ name: 'line', goalOverNs }] },
  { name: 'insert', open: bareInsert, records: 2_000 },
  { name: 'insert, one list', open: bareInsertInOneList, records: 2_000 },
  {
    name: 'SQLite',
    open: sqlite,
    records: 2_000,
    against: [{ name: 'insert', goalOverNs }, { name: 'insert, one list' }],
  },
];

const synced: readonly Way[] = [
  { name: 'line, synced', open: bareLineOnDisk, records: 64 },
  { name: 'JSONL, synced', open: jsonlOnDisk, records: 64, against: [{ name: 'line, synced' }] },
  { name: 'insert, synced', open: bareInsertOnDisk, records: 64 },
  { name: 'SQLite, synced', open: sqliteOnDisk, records: 64, against: [{ name: 'insert, synced' }] },
];

const notes = {
  unsynced: [
    'push: an array. line: JSON.stringify and writeSync. insert: JSON.stringify and a prepared INSERT, write-ahead log, synchronous NORMAL,',
    'one list: into a table without an index by session. What survives is the same: nothing, or the end of the process.',
  ],
  synced: [
    'Each record on the disk before its caller goes on. line: and fdatasync. insert: synchronous FULL. JSONL, SQLite: append, then sync(),',
    'which callers share.',
  ],
};

/** Measures storing a record: each store against its baseline, for one caller and for 32 at once. */
export async function measureAppends(extent: Extent = everything): Promise<readonly TimeReport[]> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const reports: TimeReport[] = [];
  try {
    for (const [size, toEntry] of [['300 B', smallEntry] as const, ['1.5 kB', callEntry] as const]) {
      for (const callers of [1, 32]) {
        for (const [promise, ways, rounds] of [['', unsynced, 40] as const, [', synced', synced, 15] as const]) {
          const kept = ways.map((way) => toSubject(way, { folder, toEntry, callers, extent }));
          const subjects = kept.map(({ subject }) => subject);
          const rows = await compare(subjects, limitRounds({ rounds, warmUpRounds: 8 }, extent));
          for (const { close } of kept) close();
          const who = callers === 1 ? 'one caller' : `${callers} callers`;
          const name = `stores: a record of ${size}${promise}, ${who}`;
          reports.push({ name, notes: promise === '' ? notes.unsynced : notes.synced, rows });
        }
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return reports;
}

interface Setting {
  readonly folder: string;
  readonly toEntry: (index: number) => LogEntry;
  readonly callers: number;
  readonly extent: Extent;
}

function toSubject(
  { name, open, records, against = [] }: Way,
  { folder, toEntry, callers, extent }: Setting,
): { readonly subject: Subject; close(): void } {
  const entries = Array.from({ length: Math.min(records, extent.largest) }, (_, index) => toEntry(index));
  let close = (): void => undefined;
  const prepare: Subject['prepare'] = () => {
    close();
    const place = mkdtempSync(join(folder, 'log-'));
    const log = open(join(place, 'log'));
    close = () => {
      close = () => undefined;
      log.close();
      rmSync(place, { recursive: true });
    };
    if (callers === 1 && log.sync === undefined) {
      return () => {
        for (const entry of entries) log.append(entry);
      };
    }
    const rest = entries.values();
    const call = async (): Promise<void> => {
      for (const entry of rest) {
        log.append(entry);
        await log.sync?.();
      }
    };
    return () => Promise.all(Array.from({ length: callers }, call));
  };
  return { subject: { name, operations: entries.length, against, prepare }, close: () => close() };
}
