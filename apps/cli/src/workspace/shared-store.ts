import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { isHoldfastError } from '@holdfast/core';
import { readRuleFile } from '@holdfast/registry/rules';
import type { SessionLogs } from '@holdfast/session';
import type { LogReading } from '@holdfast/session/jsonl';
import type { ListPostgresSessionsOptions, PostgresSession } from '@holdfast/session/postgres';
import { userFolder } from '../user/folder.ts';
import type { GuardHost } from '../user/guard-folder.ts';

/** A database with the sessions of guarded agents and MCP servers, for several processes or machines. */
export interface SharedStore {
  /** For messages, without a password. */
  readonly name: string;
  logs(options?: { readonly snapshotAfterBytes?: number }): SessionLogs;
  /** @throws HoldfastError `log.missing`, `log.database`, `log.unreadable`. */
  read(sessionId: string): Promise<LogReading>;
  has(sessionId: string): Promise<boolean>;
  /** True if a process has the session open for writing; an SQLite file does not say. */
  isOpen(sessionId: string): Promise<boolean>;
  /** The ids of its sessions, oldest first. */
  list(): Promise<readonly string[]>;
}

/** How long the session of a process that was killed stays locked: less than the eight seconds in which a hook must answer. */
const leaseMs = 6_000;

const opened = new Map<string, Promise<SharedStore>>();

/**
 * The store that the user's own `holdfast.policy.json` names; `undefined`: sessions are files.
 *
 * @throws HoldfastError `config.invalid`, `log.database`.
 */
export async function findSharedStore(host: GuardHost): Promise<SharedStore | undefined> {
  const store = (await readRuleFile(userFolder(host), 'user'))?.store;
  return store === undefined ? undefined : openSharedStore(store);
}

/** One for each place and process. @throws HoldfastError `log.database`. */
export function openSharedStore(place: string): Promise<SharedStore> {
  const known = opened.get(place) ?? (/^postgres(?:ql)?:/.test(place) ? openPostgres(place) : openSqlite(place));
  opened.set(place, known);
  return known;
}

async function openPostgres(url: string): Promise<SharedStore> {
  const { listPostgresSessions, postgresStore, readPostgresLog } = await import('@holdfast/session/postgres');
  const { default: pg } = await import('pg');
  // A process may end while connections are idle.
  const pool = new pg.Pool({ connectionString: url, max: 4, allowExitOnIdle: true, connectionTimeoutMillis: 5_000 });
  // An idle connection broke; the next statement reports it.
  pool.on('error', () => undefined);
  const name = withoutPassword(url);
  const list = async (options: ListPostgresSessionsOptions): Promise<readonly PostgresSession[]> => {
    try {
      return (await listPostgresSessions(pool, options)).filter(({ deletedAtMs }) => deletedAtMs === undefined);
    } catch (thrown) {
      // The first session makes the tables.
      if (isHoldfastError(thrown) && thrown.reason === 'schema.missing') return [];
      throw thrown;
    }
  };
  return {
    name,
    logs: (options) => postgresStore(pool, { ...options, leaseMs }),
    read: async (sessionId) => placed(await readPostgresLog(pool, { sessionId }), name),
    has: async (sessionId) => (await list({ sessionId })).length > 0,
    isOpen: async (sessionId) => (await list({ sessionId })).some(({ leaseMs: left }) => left !== undefined),
    list: async () => (await list({ limit: 1_000_000 })).map(({ sessionId }) => sessionId),
  };
}

async function openSqlite(path: string): Promise<SharedStore> {
  const { listSqliteSessions, readSqliteLog, sqliteStore } = await import('@holdfast/session/sqlite');
  // The first session makes the file.
  const list = (): readonly string[] =>
    existsSync(path) ? listSqliteSessions(path).map(({ sessionId }) => sessionId) : [];
  return {
    name: path,
    logs: (options) => sqliteStore(path, options),
    read: async (sessionId) => placed(readSqliteLog(path, { sessionId }), basename(path)),
    has: async (sessionId) => list().includes(sessionId),
    isOpen: async () => false,
    list: async () => list(),
  };
}

type StoreReading = Omit<LogReading, 'problem'> & {
  readonly problem?: Omit<NonNullable<LogReading['problem']>, 'offset' | 'path'>;
};

function placed({ problem, ...reading }: StoreReading, path: string): LogReading {
  return { ...reading, ...(problem && { problem: { ...problem, path, offset: 0 } }) };
}

function withoutPassword(url: string): string {
  return url.replace(/^(\w+:\/\/[^:@/?]*):[^@/?]*@/, '$1@').replace(/\?.*$/s, '');
}
