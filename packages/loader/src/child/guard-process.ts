import { syncBuiltinESMExports } from 'node:module';
import type { Socket } from 'node:net';
import os from 'node:os';
import v8 from 'node:v8';

/**
 * Takes from a tool's JavaScript the ways in which it could signal other processes, the host first of all, or slow them down. What a tool
 * starts, where it may start something, still can.
 */
export function forbidSignals(): void {
  const forbid = (syscall: string) => () => {
    throw Object.assign(new Error('A tool may not signal processes, or change their priority.'), {
      code: 'EPERM',
      syscall,
    });
  };
  Object.defineProperty(process, 'kill', { value: forbid('kill') });
  for (const name of ['_kill', '_debugProcess', '_debugEnd']) Reflect.deleteProperty(process, name);
  os.setPriority = forbid('setpriority');
  // For those who import it by name.
  syncBuiltinESMExports();
}

/** Where no file may be written: nor one for a socket to listen at, which Node's permissions let be made. `socket`: any UNIX socket. */
export function forbidSocketFiles(socket: Socket): void {
  if (process.permission?.has('fs.write') !== false) return;
  // All of them have one prototype, which is all that makes such files.
  const handle: unknown = Reflect.get(socket, '_handle');
  const bind = (): number => -os.constants.errno.EACCES;
  Object.defineProperty(Object.getPrototypeOf(handle), 'bind', { value: bind });
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
