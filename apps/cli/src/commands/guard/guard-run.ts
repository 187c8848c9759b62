import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { HoldfastError } from '@holdfast/core';
import { describeThrown } from '@holdfast/core/internal';
import { reportRun } from '../../guard/runs.ts';
import type { Host } from '../../terminal/host.ts';
import { toPrintable } from '../../terminal/text.ts';
import { resolveLinks } from '../../user/guard-folder.ts';

/**
 * Runs a command with this process's streams, leaves its exit code for the guard, and returns it.
 *
 * @throws HoldfastError `guard.failed` if the command cannot be started.
 */
export async function runReported(words: readonly string[], host: Host): Promise<number> {
  const [program = '', ...rest] = words;
  const startedAtMs = Date.now();
  const child = spawn(program, rest, {
    cwd: host.directory,
    env: { ...host.environment },
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  const exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', (cause) => {
      const message = `Cannot start \`${toPrintable(program)}\`: ${describeThrown(cause)}`;
      reject(new HoldfastError('guard.failed', message, { data: { reason: 'run' }, cause }));
    });
    child.once('close', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
  await reportRun({ words, folder: resolveLinks(host.directory), exitCode, startedAtMs }, host);
  return exitCode;
}
