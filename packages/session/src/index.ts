export { type CallExplanation, type CallUse, explainCall } from './explain/explain-call.ts';
export { checkRedactor } from './live/check-options.ts';
export type { ExportedSlice, SessionExport } from './live/export.ts';
export { createSession } from './live/live-session.ts';
export { type OpenSessionOptions, openSession } from './live/open-session.ts';
export { type ReplayOptions, replay } from './live/replay.ts';
export { openSealed, type SealedPlace, sealContent } from './live/sealed.ts';
export type { Session, SessionOptions, SessionSnapshot } from './live/session.ts';
export type { SessionTransaction } from './live/session-transaction.ts';
export { type SnapshotProblem, type SnapshotVerification, verifySnapshots } from './live/verify-snapshots.ts';
export {
  type LogEntry,
  type LogRecord,
  type MemoryStore,
  memoryStore,
  type OpenedLog,
  type SessionLogs,
  type SessionStore,
} from './log/log.ts';
export type { CallPlace, OpenApproval, OpenCall, OpenStart } from './log/open-call.ts';
export type { OpenPlan, OpenRun, OpenWork } from './log/open-work.ts';
export type { Reservation } from './log/reservation.ts';
export type { SliceDeclaration } from './state/declaration.ts';
