export type { ChainProblem } from './log/chain.ts';
export type { SnapshotOptions } from './log/snapshot-gauge.ts';
export type { PostgresDatabase } from './stores/postgres/database.ts';
export {
  type OpenedPostgresLog,
  type OpenPostgresLogOptions,
  openPostgresLog,
  type PostgresOptions,
  postgresStore,
} from './stores/postgres/open.ts';
export {
  deletePostgresSession,
  type ListPostgresSessionsOptions,
  listPostgresSessions,
  type PostgresLogReading,
  type PostgresSession,
  readPostgresLog,
} from './stores/postgres/reading.ts';
export type { PostgresLogProblem } from './stores/postgres/rows.ts';
export type { PostgresLog } from './stores/postgres/writer.ts';
