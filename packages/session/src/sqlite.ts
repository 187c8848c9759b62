export type { ChainProblem } from './record-chain.ts';
export type { SnapshotOptions } from './snapshot-gauge.ts';
export { type OpenSqliteLogOptions, openSqliteLog, sqliteStore } from './sqlite-open.ts';
export { listSqliteSessions, readSqliteLog, type SqliteLogReading, type SqliteSession } from './sqlite-reading.ts';
export type { SqliteLogProblem } from './sqlite-rows.ts';
export type { SqliteLogOptions, SqliteStore } from './sqlite-store.ts';
