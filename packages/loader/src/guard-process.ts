import { syncBuiltinESMExports } from 'node:module';
import v8 from 'node:v8';

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

/** Where no file may be written: takes away what V8 writes for those who look into it, of which Node's permissions know nothing. */
export function forbidTraces(): void {
  if (process.permission?.has('fs.write') !== false) return;
  v8.setFlagsFromString = () => {
    throw Object.assign(new Error('A tool that may not write files may not set flags of V8.'), {
      code: 'ERR_ACCESS_DENIED',
    });
  };
  // For those who import it by name.
  syncBuiltinESMExports();
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
