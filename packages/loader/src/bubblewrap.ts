import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { findProgram } from './find-program.ts';
import type { Command } from './process-command.ts';

/** Whether this machine can run the sandbox tier, and where from; or why it cannot, in a sentence. */
export type SandboxState =
  | { readonly available: true; readonly program: string }
  | { readonly available: false; readonly reason: string };

/** Asks the machine. `path` default: `PATH`. */
export async function findSandbox(path: string = process.env['PATH'] ?? ''): Promise<SandboxState> {
  if (process.platform !== 'linux')
    return { available: false, reason: 'The sandbox needs bubblewrap, which there is only for Linux.' };
  const program = findProgram('bwrap', path);
  if (program === undefined)
    return { available: false, reason: 'The sandbox needs `bwrap` on the PATH: install the package `bubblewrap`.' };
  const [, ...parameters] = sandboxCommand(program, ['/bin/sh', '-c', 'exit 0'], []);
  const problem = await tryProgram(program, parameters);
  if (problem === undefined) return { available: true, program };
  return { available: false, reason: `\`bwrap\` is here, and cannot make a sandbox: ${problem}` };
}

/**
 * The command that runs another one in a sandbox: with process ids, network and users of its own (no network at all), everything
 * read-only, and empty folders, read-only too, where the home of the user, temporary files and sockets of services are. `visible` are
 * folders that are shown although they lie in one of those.
 */
export function sandboxCommand(program: string, command: Command, visible: readonly string[]): Command {
  return [
    program,
    '--unshare-all',
    '--die-with-parent',
    '--new-session',
    '--cap-drop',
    'ALL',
    ...['--ro-bind', '/', '/'],
    ...['--dev', '/dev'],
    ...['--proc', '/proc'],
    ...hiddenFolders().flatMap((folder) => ['--tmpfs', folder]),
    ...[...new Set(visible)].flatMap((folder) => ['--ro-bind', folder, folder]),
    // Last of all: until now there had to be folders made in them. What could be written there would be memory without limit.
    ...['/dev', ...hiddenFolders()].flatMap((folder) => ['--remount-ro', folder]),
    ...['--chdir', '/'],
    '--',
    ...command,
  ];
}

/** Folders that hold what is nobody's business, or everything. */
function wideFolders(): readonly string[] {
  return [...new Set([homedir(), '/tmp', '/var/tmp', '/run', '/home', '/root'])].filter(isShown);
}

/** Without what lies in another one of them, such as most homes in `/home`: it goes with that. */
function hiddenFolders(): readonly string[] {
  const wide = wideFolders();
  return wide.filter((folder) => !wide.some((other) => folder.startsWith(`${other}/`)));
}

/** A folder of the machine: not a link, which cannot be mounted on. */
function isShown(folder: string): boolean {
  return isAbsolute(folder) && folder !== '/' && existsSync(folder) && realpathSync(folder) === folder;
}

function tryProgram(program: string, parameters: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, parameters, { timeout: 30_000, env: {} }, (error, _stdout, stderr) => {
      if (error === null) resolve(undefined);
      else resolve((stderr.trim() || error.message).slice(0, 300));
    });
  });
}

/**
 * The folders to show for a program: its own, that of the file which a link leads to, and what lies around a folder `bin` or `shims`; none
 * of them so wide that it has in it what is hidden.
 */
export function findProgramFolders(program: string): readonly string[] {
  const own = [program, realpathSync(program)].map((file) => dirname(file));
  const around = own.filter((folder) => /^(?:s?bin|shims)$/.test(basename(folder))).map((folder) => dirname(folder));
  const hidden = wideFolders();
  return [...own, ...around].filter(
    (folder) => !hidden.some((one) => `${one}/`.startsWith(`${folder}/`.replace('//', '/'))),
  );
}

/** The folder to show for a file: the uppermost one with a `package.json` or packages, but none as wide as a home, or its own. */
export function findProject(file: string): string {
  const tooWide = new Set(['/', ...wideFolders()]);
  let project = dirname(file);
  for (let folder = project; !tooWide.has(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'node_modules')) || existsSync(join(folder, 'package.json'))) project = folder;
  }
  return project;
}
