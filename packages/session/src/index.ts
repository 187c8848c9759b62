export { type LogEntry, type LogRecord, type MemoryStore, memoryStore, type SessionStore } from './log.ts';
export { createSession, type Session, type SessionOptions, type SessionSnapshot } from './session.ts';
export type { SessionTransaction } from './transaction.ts';
