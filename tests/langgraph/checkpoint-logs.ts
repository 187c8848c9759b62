import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Slice } from '@holdfast/core';
import { createSession, memoryStore, type OpenedLog, replay, type Session, type SessionStore } from '@holdfast/session';
import { createJsonlLog, openJsonlLog, type SnapshotOptions } from '@holdfast/session/jsonl';
import { createSqliteLog, openSqliteLog, type SqliteLogOptions } from '@holdfast/session/sqlite';
import { checkpoints, pendingWrites } from './checkpoint-slices.ts';

/** A place for one log: created once, then reopened after every close. */
export interface LogPlace {
  begin(): SessionStore;
  open(): OpenedLog;
}

export const slices: readonly Slice[] = [checkpoints, pendingWrites];

export function beginSession(place: LogPlace): Session {
  return createSession({ id: 'checkpoints', slices, store: place.begin() });
}

/** The session rebuilt from its log; close the previous one first. */
export function reopenSession(place: LogPlace): Session {
  const { records, store } = place.open();
  return replay(records, { slices, store });
}

export function jsonlPlace(path: string, options: SnapshotOptions = {}): LogPlace {
  return { begin: () => createJsonlLog(path, options), open: () => openJsonlLog(path, options) };
}

export function sqlitePlace(path: string, options: SqliteLogOptions): LogPlace {
  return { begin: () => createSqliteLog(path, options), open: () => openSqliteLog(path, options) };
}

function memoryPlace(): LogPlace {
  const store = memoryStore();
  return { begin: () => store, open: () => ({ records: store.records, store }) };
}

/** Creates new places in every store, in its own folder. */
export class LogPlaces implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'holdfast-checkpoints-'));
  // One for all: sessions do not affect each other.
  readonly #database = join(this.#folder, 'sessions.db');
  // Keeps the database open, as programs with many sessions do: every full close costs disk time.
  readonly #keeper = createSqliteLog(this.#database, { sessionId: 'keeper' });
  #count = 0;

  /** By the name of the store. */
  readonly byStore: Readonly<Record<string, () => LogPlace>> = {
    memory: memoryPlace,
    jsonl: () => this.#jsonl({}),
    sqlite: () => this.#sqlite({}),
    'jsonl with snapshots': () => this.#jsonl(often),
    'sqlite with snapshots': () => this.#sqlite(often),
  };

  [Symbol.dispose](): void {
    this.#keeper.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #jsonl(options: SnapshotOptions): LogPlace {
    return jsonlPlace(join(this.#folder, `${this.#next()}.jsonl`), options);
  }

  #sqlite(options: SnapshotOptions): LogPlace {
    return sqlitePlace(this.#database, { sessionId: this.#next(), ...options });
  }

  #next(): string {
    this.#count += 1;
    return String(this.#count);
  }
}

/** A snapshot once the new records are three times its size. */
const often: SnapshotOptions = { snapshotAfterBytes: 1 };
