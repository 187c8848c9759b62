import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Host } from '../terminal/host.ts';

/** The parts of a host that a hook has. */
export type GuardHost = Pick<Host, 'environment' | 'directory'>;

/**
 * The folder with the logs of guarded sessions, the user's own: `HOLDFAST_HOME`, else where the system keeps the state of programs.
 * It is laid out as a workspace, so that `pending`, `approve`, `show` and `why` find its sessions.
 */
export function guardFolder({ environment, directory }: GuardHost): string {
  const { HOLDFAST_HOME: own, XDG_STATE_HOME: xdg, LOCALAPPDATA: local } = environment;
  if (own !== undefined && own !== '') return join(resolve(directory, own), 'guard');
  const state = process.platform === 'win32' ? local : xdg;
  if (state !== undefined && isAbsolute(state)) return join(state, 'holdfast', 'guard');
  const home = environment['HOME'] ?? homedir();
  return process.platform === 'win32'
    ? join(home, 'AppData', 'Local', 'holdfast', 'guard')
    : join(home, '.local', 'state', 'holdfast', 'guard');
}

/** Made if it is missing, and without links: the logs of MCP servers lie there too, out of reach of workspaces. */
export function openGuardFolder(host: GuardHost): string {
  const folder = guardFolder(host);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return resolveLinks(folder);
}

export function resolveLinks(path: string): string {
  // A folder that is gone: the path as it is named is all there is to judge. Hooks look at many that are, and an exception is slow.
  if (!existsSync(path)) return resolve(path);
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
