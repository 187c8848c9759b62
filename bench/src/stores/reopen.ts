import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { defineSlice, type Json, type Slice, upsert } from '@holdfast/core';
import { createSession, type OpenedLog, replay, type SessionStore } from '@holdfast/session';
import { createJsonlLog, openJsonlLog } from '@holdfast/session/jsonl';
import { createSqliteLog, openSqliteLog } from '@holdfast/session/sqlite';
import { compare, type Extent, everything, limitRounds, type Subject } from '../compare.ts';
import type { TimeReport } from '../report.ts';
import { callEntry, fileRead } from './entries.ts';

const filesRead: Slice = defineSlice<Json>({
  id: 'bench/files-read',
  kind: 'keyed',
  reducers: { 'file-read': (_state, payload) => upsert((payload as { readonly path: string }).path, payload as Json) },
});

/** Measures reopening the session of a long log, against reading and parsing it. */
export async function measureReopening(extent: Extent = everything): Promise<TimeReport> {
  const records = Math.min(100_000, extent.largest);
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const whole = join(folder, 'whole.jsonl');
  const parts = join(folder, 'parts.jsonl');
  const database = join(folder, 'sessions.db');
  const never = { snapshotAfterBytes: Number.POSITIVE_INFINITY };
  try {
    writeLog(records, createJsonlLog(whole, never));
    writeLog(records, createJsonlLog(parts));
    writeLog(records, createSqliteLog(database, { sessionId: 'whole', ...never }));
    writeLog(records, createSqliteLog(database, { sessionId: 'parts' }));
    const rows = await compare(
      [
        reading('lines', records, () => parseLines(whole)),
        reopening('JSONL, all', 'lines', () => openJsonlLog(whole, never)),
        reopening('JSONL, snapshots', 'lines', () => openJsonlLog(parts)),
        reading('rows', records, () => parseRows(database)),
        reopening('SQLite, all', 'rows', () => openSqliteLog(database, { sessionId: 'whole', ...never })),
        reopening('SQLite, snapshots', 'rows', () => openSqliteLog(database, { sessionId: 'parts' })),
      ],
      limitRounds({ rounds: 9, warmUpRounds: 2 }, extent),
    );
    const notes = [
      'Until a session is there again: read, verified, replayed. lines, rows: everything read and parsed, no more.',
      'all: from the first record on. snapshots: as written by default, so from the last one on.',
    ];
    return { name: `stores: reopening ${records.toLocaleString('en')} records of 1.5 kB`, notes, rows };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeLog(records: number, store: SessionStore): void {
  const session = createSession({ id: 'bench', slices: [filesRead], store });
  for (let index = 0; index < records; index += 1) {
    const transaction = session.begin();
    transaction.dispatch(fileRead(index));
    transaction.commit(callEntry(index));
  }
  void session.close();
}

function reading(name: string, records: number, read: () => number): Subject {
  return {
    name,
    operations: 1,
    prepare: () => () => {
      const found = read();
      if (found <= records) throw new Error(`${name}: there are only ${found} records`);
    },
  };
}

function reopening(name: string, against: string, open: () => OpenedLog): Subject {
  return {
    name,
    operations: 1,
    against: [{ name: against }],
    prepare: () => () => {
      const { records, store } = open();
      const session = replay(records, { slices: [filesRead], store });
      if (session.snapshot().seq === 0) throw new Error(`${name}: the session is empty`);
      void session.close();
    },
  };
}

function parseLines(path: string): number {
  const lines = readFileSync(path, 'utf8').split('\n');
  lines.pop();
  return lines.map((line) => JSON.parse(line) as unknown).length;
}

function parseRows(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true });
  const records: unknown[] = [];
  const rows = database.prepare('SELECT text FROM holdfast_records WHERE session = 1 ORDER BY seq').iterate();
  for (const { text } of rows) records.push(JSON.parse(String(text)));
  database.close();
  return records.length;
}
