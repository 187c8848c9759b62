/** Whether something thrown is an error of the system with this code, as `ENOENT`. */
export function hasCode(thrown: unknown, code: string): boolean {
  return thrown instanceof Error && 'code' in thrown && thrown.code === code;
}

/** Whether a process of this machine has the number. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // One of another user is there, and may not be asked.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
