export { listSqliteSessions, readSqliteLog, sqliteStore } from '@holdfast/session/sqlite';
