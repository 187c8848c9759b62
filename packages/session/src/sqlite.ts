export {
  listSqliteSessions,
  readSqliteLog,
  type SqliteLogProblem,
  type SqliteLogReading,
  type SqliteSession,
} from './sqlite-reading.ts';
export { openSqliteLog, type SqliteLogOptions, type SqliteStore, sqliteStore } from './sqlite-store.ts';
