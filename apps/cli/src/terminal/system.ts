/** True if `thrown` is a system error with this code, such as `ENOENT`. */
export function hasCode(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === code;
}

/** True if a process with this id runs on this machine. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user exists, but must not be signaled.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
