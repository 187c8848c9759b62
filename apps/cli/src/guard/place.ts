import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { type GuardHost, resolveLinks } from '../user/guard-folder.ts';

/** The home of the user whose agent it is. */
export function homeFolder({ environment }: GuardHost): string {
  const home = process.platform === 'win32' ? environment['USERPROFILE'] : environment['HOME'];
  return home !== undefined && isAbsolute(home) ? home : homedir();
}

/** Where programs that follow the XDG rules keep a user's settings. */
export function configFolder(host: GuardHost): string {
  const { XDG_CONFIG_HOME: config } = host.environment;
  return config !== undefined && isAbsolute(config) ? config : join(homeFolder(host), '.config');
}

export interface WorkFolder {
  /** Links resolved. */
  readonly folder: string;
  /** The top of the Git worktree that the folder is in, else the folder. */
  readonly workspace: string;
}

export function findWorkFolder(cwd: string, exists: (path: string) => boolean): WorkFolder {
  const folder = resolveLinks(cwd);
  for (let top = folder; ; top = dirname(top)) {
    // A file in a linked worktree.
    if (exists(join(top, '.git'))) return { folder, workspace: top };
    if (dirname(top) === top) return { folder, workspace: folder };
  }
}
