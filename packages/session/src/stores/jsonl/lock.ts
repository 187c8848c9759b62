import { HoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import type { LogFiles } from '../../disk/files.ts';
import { type LockOwner, newLockOwner, releaseLock, takeLock } from '../../disk/lock-file.ts';

/**
 * Keeps every other writer, in this process or another, from the log until the answer is called. The lock is the file
 * `<logPath>.lock`; one whose process has ended is taken over.
 *
 * @throws HoldfastError `log.locked` with `process` and `lock` in `data`; `log.unwritable` where the lock file cannot be made.
 */
export function lockLog(logPath: string, files: LogFiles): () => void {
  const path = `${logPath}.lock`;
  const mine = newLockOwner();
  let holder: LockOwner | 'unknown' | undefined;
  try {
    holder = takeLock(path, mine, { files });
  } catch (cause) {
    throw new HoldfastError(
      'log.unwritable',
      `The session log \`${logPath}\` cannot be locked for writing: ${describeThrown(cause)}`,
      { cause },
    );
  }
  if (holder !== undefined) throw locked(logPath, path, holder);
  return () => releaseLock(path, mine, files);
}

function locked(logPath: string, path: string, holder: LockOwner | 'unknown'): HoldfastError {
  const who = holder === 'unknown' ? 'somebody' : `process ${holder.pid} on \`${holder.host}\``;
  return new HoldfastError(
    'log.locked',
    `The session log \`${logPath}\` has a writer already: ${who}. Close the session there, or end that process; only when you are sure that it has ended, remove \`${path}\`.`,
    { data: { lock: path, ...(holder === 'unknown' ? {} : { process: holder.pid, host: holder.host }) } },
  );
}
