import { HoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import type { LogFiles } from '../../disk/files.ts';
import { type LockOwner, newLockOwner, releaseLock, takeLock } from '../../disk/lock-file.ts';

/**
 * Locks the log against other writers, in this process or another; returns the function that unlocks. The lock is the file
 * `<logPath>.lock`. The lock of a process that has ended is taken over.
 *
 * @throws HoldfastError `log.locked` with `process` and `lock` in `data`; `log.write_failed` if the lock file cannot be created.
 */
export function lockLog(logPath: string, files: LogFiles): () => void {
  const path = `${logPath}.lock`;
  const mine = newLockOwner();
  let holder: LockOwner | 'unknown' | undefined;
  try {
    holder = takeLock(path, mine, { files });
  } catch (cause) {
    throw new HoldfastError(
      'log.write_failed',
      `The session log \`${logPath}\` cannot be locked for writing: ${describeThrown(cause)}`,
      { data: { reason: 'open' }, cause },
    );
  }
  if (holder !== undefined) throw locked(logPath, path, holder);
  return () => releaseLock(path, mine, files);
}

function locked(logPath: string, path: string, holder: LockOwner | 'unknown'): HoldfastError {
  const who = holder === 'unknown' ? 'an unknown process' : `process ${holder.pid} on \`${holder.host}\``;
  return new HoldfastError(
    'log.locked',
    `The session log \`${logPath}\` is already open for writing in ${who}. Close the session there or end that process. Remove \`${path}\` only if you are sure that it has ended.`,
    { data: { lock: path, ...(holder === 'unknown' ? {} : { process: holder.pid, host: holder.host }) } },
  );
}
