import { writeSync } from 'node:fs';
import { systemClock } from '@holdfast/core';
import manifest from '../package.json' with { type: 'json' };
import { ownCommand } from './help.ts';
import { runProgram } from './program.ts';
import { createColors } from './terminal/colors.ts';
import { formatFailure, interruptionCodes } from './terminal/failure.ts';
import { describeTerminal, type Host, type Interruption } from './terminal/host.ts';

const { stdin, stdout, stderr, env } = process;
const listeners = new Set<(cause: Interruption) => void>();
const suffixLetters = 'abcdefghijklmnopqrstuvwxyz0123456789';

let interrupted = false;

const host: Host = {
  stdin,
  stdout,
  stderr,
  environment: env,
  command: ownCommand,
  directory: process.cwd(),
  clock: systemClock,
  createSuffix: () =>
    Array.from({ length: 4 }, () => suffixLetters[Math.floor(Math.random() * suffixLetters.length)]).join(''),
  openLog: async (path) => (await import('@holdfast/session/jsonl')).createJsonlLog(path),
  fetch: (url, options) => fetch(url, options),
  onInterrupt(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
  guardExit(message) {
    const tell = (): void => {
      // Interrupted by the user, or already failed.
      if (interrupted) return;
      process.exitCode = 1;
      // At exit only synchronous writes are completed.
      writeSync(2, message);
    };
    process.on('exit', tell);
    return () => process.off('exit', tell);
  },
  reserveStdout() {
    const write = stdout.write.bind(stdout);
    // Tools may run in this process; their output must not mix with ours.
    stdout.write = stderr.write.bind(stderr);
    return (text) => {
      write(text);
    };
  },
};

function tell(cause: Interruption): void {
  for (const listener of listeners) listener(cause);
}

// The first signal ends the run cleanly, with the end in its log; the second one exits at once. One Ctrl-C may arrive twice: from the
// terminal, and from npm, which passes it on.
const oneKeyMs = 300;
let interruptedAtMs = 0;
const signals = { SIGINT: 'ctrl-c', SIGTERM: 'terminated', SIGHUP: 'hung-up' } as const;
for (const [signal, cause] of Object.entries(signals)) {
  process.on(signal, () => {
    const nowMs = performance.now();
    if (interrupted && nowMs - interruptedAtMs < oneKeyMs) return;
    if (interrupted || listeners.size === 0) process.exit(interruptionCodes[cause]);
    interrupted = true;
    interruptedAtMs = nowMs;
    tell(cause);
  });
}

// A pipe without a reader, or a closed terminal.
const closedCodes: ReadonlySet<string | undefined> = new Set(['EPIPE', 'EIO']);
stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (!closedCodes.has(error.code)) throw error;
  tell('stdout-closed');
});
stderr.on('error', (error: NodeJS.ErrnoException) => {
  // There is no reader left, and the output on stderr is not essential.
  if (!closedCodes.has(error.code)) throw error;
});

// Late errors of tools are reported at the end: earlier they would disturb the live view.
const strays: unknown[] = [];

function reportStrays(): void {
  const { color } = describeTerminal(stderr, env);
  const style = { colors: createColors(color), debug: env['HOLDFAST_DEBUG'] === '1' };
  for (const thrown of strays.splice(0)) stderr.write(formatFailure(thrown, style));
}

// A promise rejected by a tool must not break the run or its log.
process.on('unhandledRejection', (thrown) => strays.push(thrown));
process.on('uncaughtException', (thrown) => {
  strays.push(thrown);
  // After an uncaught exception, only ending the run is safe.
  const canEnd = !interrupted && listeners.size > 0;
  interrupted = true;
  if (canEnd) return tell('crash');
  reportStrays();
  process.exit(1);
});

const exitCode = await runProgram(process.argv.slice(2), host, manifest.version);
// Late rejections are reported before the next turn of the event loop.
await new Promise((resolve) => setImmediate(resolve));
reportStrays();
// A tool that did not stop could keep the process alive; flush the output, then exit.
for (const stream of [stdout, stderr]) await new Promise<void>((resolve) => stream.write('', () => resolve()));
process.exit(exitCode);
