export type { LogFiles } from './disk/files.ts';
export { type LockOwner, newLockOwner, releaseLock, type TakeLockOptions, takeLock } from './disk/lock-file.ts';
export {
  hostProcesses,
  type Processes,
  type ProcessIdentity,
  type ProcessState,
  toProcessIdentity,
} from './disk/processes.ts';
