export type { ChainProblem } from './log/chain.ts';
export type { SnapshotOptions } from './log/snapshot-gauge.ts';
export { createSqliteLog, type OpenSqliteLogOptions, openSqliteLog, sqliteStore } from './stores/sqlite/open.ts';
export {
  listSqliteSessions,
  readSqliteLog,
  type SqliteLogReading,
  type SqliteSession,
} from './stores/sqlite/reading.ts';
export type { SqliteLogProblem } from './stores/sqlite/rows.ts';
export type { SqliteLog, SqliteLogOptions } from './stores/sqlite/store.ts';
