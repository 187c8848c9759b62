import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, statSync, utimesSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../terminal/system.ts';
import type { GuardHost } from '../../user/guard-folder.ts';
import { daemonFolder, isPrivate, keptEnvironment, toSocket } from './place.ts';

/** A daemon that has not come up by then may be started again. */
const startsWithinMs = 10_000;

/** Made by the hook that starts a daemon; the daemon removes it. */
export function startingPath(folder: string): string {
  return join(folder, 'starting');
}

/**
 * Starts the daemon, which outlives this process. Of hooks that try at once one does it; which daemon stays is decided by their lock.
 * Its stderr goes to `errors.txt`.
 *
 * @throws what the system answers.
 */
export function startDaemon(program: string, host: GuardHost): void {
  const folder = daemonFolder(host);
  if (toSocket(folder, '00000000') === undefined) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!isPrivate(folder) || isStarting(startingPath(folder))) return;
  const errors = openSync(join(folder, 'errors.txt'), 'w', 0o600);
  const child = spawn(process.execPath, [...process.execArgv, program, 'daemon'], {
    cwd: folder,
    detached: true,
    windowsHide: true,
    env: { ...keptEnvironment(host), ...optionsOf(program, host) },
    stdio: ['ignore', 'ignore', errors],
  });
  child.once('error', (thrown) => writeSync(errors, `${thrown.message}\n`));
  child.unref();
}

/** Keeps hooks from starting a daemon for a day, as if one was about to come up. */
export function keepFromStarting(host: GuardHost): void {
  const folder = daemonFolder(host);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(startingPath(folder), '', { mode: 0o600 });
  const later = Date.now() / 1000 + 86_400;
  utimesSync(startingPath(folder), later, later);
}

/** Sources need the options of their hook's process; an installed daemon takes none from outside. */
function optionsOf(program: string, { environment }: GuardHost): Readonly<Record<string, string>> {
  const { NODE_OPTIONS: options, NODE_COMPILE_CACHE: cache } = environment;
  if (!program.endsWith('.ts') || options === undefined) return {};
  return { NODE_OPTIONS: options, ...(cache === undefined ? {} : { NODE_COMPILE_CACHE: cache }) };
}

function isStarting(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600));
    return false;
  } catch (thrown) {
    if (!hasCode(thrown, 'EEXIST')) throw thrown;
  }
  const now = Date.now();
  const since = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now;
  if (now - since < startsWithinMs) return true;
  utimesSync(path, now / 1000, now / 1000);
  return false;
}
