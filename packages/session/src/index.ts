export { type CallExplanation, explainCall } from './explain/explain-call.ts';
export type { ExportedSlice, SessionExport } from './live/export.ts';
export { createSession } from './live/live-session.ts';
export { type OpenSessionOptions, openSession } from './live/open-session.ts';
export { replay } from './live/replay.ts';
export type { Session, SessionOptions, SessionSnapshot } from './live/session.ts';
export type { SessionTransaction } from './live/session-transaction.ts';
export { type SnapshotVerification, verifySnapshots } from './live/verify-snapshots.ts';
export {
  type LogEntry,
  type LogRecord,
  type MemoryStore,
  memoryStore,
  type OpenedLog,
  type SessionLogs,
  type SessionStore,
} from './log/log.ts';
