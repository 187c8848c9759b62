/**
 * Takes from a tool's JavaScript the ways in which it could signal other processes, the host first of all. What a tool starts, where
 * it may start something, still can.
 */
export function forbidSignals(): void {
  Object.defineProperty(process, 'kill', {
    value: () => {
      throw Object.assign(new Error('A tool may not signal processes.'), { code: 'EPERM', syscall: 'kill' });
    },
  });
  for (const name of ['_kill', '_debugProcess', '_debugEnd']) Reflect.deleteProperty(process, name);
}

/** What nobody catches is printed, as Node does, and ends the call under way; without one it ends the program. */
export function catchStrays(crash: (thrown: unknown) => boolean): void {
  const exit = process.exit.bind(process);
  const print = console.error.bind(console);
  process.on('unhandledRejection', (reason) => print('Unhandled rejection:', reason));
  process.on('uncaughtException', (thrown) => {
    print('Uncaught exception:', thrown);
    if (!crash(thrown)) exit(1);
  });
}
