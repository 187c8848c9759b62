import { syncBuiltinESMExports } from 'node:module';
import type { Socket } from 'node:net';
import os from 'node:os';
import v8 from 'node:v8';

/**
 * Removes the ways for a tool's JavaScript to signal or slow down other processes, above all the host. Programs started
 * by the tool still can.
 */
export function forbidSignals(): void {
  const forbid = (syscall: string) => () => {
    throw Object.assign(new Error('A tool must not signal processes or change their priority.'), {
      code: 'EPERM',
      syscall,
    });
  };
  Object.defineProperty(process, 'kill', { value: forbid('kill') });
  for (const name of ['_kill', '_debugProcess', '_debugEnd']) Reflect.deleteProperty(process, name);
  os.setPriority = forbid('setpriority');
  // For named imports.
  syncBuiltinESMExports();
}

/** Prevents socket files where no file may be written; Node's permissions do not cover them. `socket`: any UNIX socket. */
export function forbidSocketFiles(socket: Socket): void {
  if (process.permission?.has('fs.write') !== false) return;
  // Their shared prototype is the only way to create such files.
  const handle: unknown = Reflect.get(socket, '_handle');
  const bind = (): number => -os.constants.errno.EACCES;
  Object.defineProperty(Object.getPrototypeOf(handle), 'bind', { value: bind });
}

/** Prevents V8 from writing trace files where no file may be written; Node's permissions do not cover them. */
export function forbidTraces(): void {
  if (process.permission?.has('fs.write') !== false) return;
  v8.setFlagsFromString = () => {
    throw Object.assign(new Error('A tool without permission to write files must not set V8 flags.'), {
      code: 'ERR_ACCESS_DENIED',
    });
  };
  // For named imports.
  syncBuiltinESMExports();
}

/** Prints an uncaught error, as Node does, and ends the running call; without one, the program. */
export function catchStrays(crash: (thrown: unknown) => boolean): void {
  const exit = process.exit.bind(process);
  const print = console.error.bind(console);
  process.on('unhandledRejection', (reason) => print('Unhandled rejection:', reason));
  process.on('uncaughtException', (thrown) => {
    print('Uncaught exception:', thrown);
    if (!crash(thrown)) exit(1);
  });
}
