export { type CallExplanation, type CallUse, explainCall } from './explain-call.ts';
export { createSession } from './live-session.ts';
export {
  type LogEntry,
  type LogRecord,
  type MemoryStore,
  memoryStore,
  type OpenedLog,
  type SessionStore,
} from './log.ts';
export type { CallPlace, OpenApproval, OpenCall, OpenStart } from './open-call.ts';
export type { OpenPlan, OpenRun, OpenWork } from './open-work.ts';
export { maskRecord } from './redact-record.ts';
export { type ReplayOptions, replay } from './replay.ts';
export type { Reservation } from './reservation.ts';
export { openSealed, type SealedPlace, sealContent } from './sealed.ts';
export type { Session, SessionOptions, SessionSnapshot } from './session.ts';
export type { ExportedSlice, SessionExport } from './session-export.ts';
export type { SessionTransaction } from './session-transaction.ts';
export type { SliceDeclaration } from './slice-declaration.ts';
export { type SnapshotProblem, type SnapshotVerification, verifySnapshots } from './verify-snapshots.ts';
