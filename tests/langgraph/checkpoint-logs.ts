import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSession, memoryStore, type OpenedLog, replay, type Session, type SessionStore } from '@holdfast/session';
import { jsonlStore, openJsonlLog } from '@holdfast/session/jsonl';
import { openSqliteLog, sqliteStore } from '@holdfast/session/sqlite';
import { checkpoints, pendingWrites } from './checkpoint-slices.ts';

/** A place for one log: it is begun once, then opened as often as it was closed. */
export interface LogPlace {
  begin(): SessionStore;
  open(): OpenedLog;
}

const slices = [checkpoints, pendingWrites];

export function beginSession(place: LogPlace): Session {
  return createSession({ id: 'checkpoints', slices, store: place.begin() });
}

/** The session as its log tells it; the one before has to be closed. */
export function reopenSession(place: LogPlace): Session {
  const { records, store } = place.open();
  return replay(records, { slices, store });
}

export function jsonlPlace(path: string): LogPlace {
  return { begin: () => jsonlStore(path), open: () => openJsonlLog(path) };
}

export function sqlitePlace(path: string, sessionId: string): LogPlace {
  return { begin: () => sqliteStore(path, { sessionId }), open: () => openSqliteLog(path, { sessionId }) };
}

function memoryPlace(): LogPlace {
  const store = memoryStore();
  return { begin: () => store, open: () => ({ records: store.records, store }) };
}

/** Makes new places in every store that we have, in a folder of its own. */
export class LogPlaces implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'holdfast-checkpoints-'));
  #count = 0;

  /** By the name of the store. */
  readonly byStore: Readonly<Record<string, () => LogPlace>> = {
    memory: memoryPlace,
    jsonl: () => jsonlPlace(join(this.#folder, `${this.#next()}.jsonl`)),
    // One database for all: what one session does shows in no other.
    sqlite: () => sqlitePlace(join(this.#folder, 'sessions.db'), this.#next()),
  };

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #next(): string {
    this.#count += 1;
    return String(this.#count);
  }
}
