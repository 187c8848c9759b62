import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { findProgram } from '../files/find-program.ts';
import type { Command, PinnedTool } from '../language/types.ts';

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
 * Looks for `bwrap` once, when a tool first needs it, and gives its path. `path` default: `PATH`. What it gives throws HoldfastError
 * `tool.isolation.unavailable` where this machine has no sandbox.
 */
export function createSandboxFinder(path?: string): (tool: PinnedTool) => Promise<string> {
  let sandbox: Promise<SandboxState> | undefined;
  return async ({ metadata: { name } }) => {
    sandbox ??= findSandbox(path);
    const state = await sandbox;
    if (state.available) return state.program;
    const message = `\`${name}\` may run in a sandbox only, and this machine has none. ${state.reason}`;
    throw new HoldfastError('tool.isolation.unavailable', message);
  };
}

// Not `/usr` and `/usr/local` as a whole: what services keep there, sockets too, is in other folders of them, such as `var`.
const prefixes = ['/', '/usr', '/usr/local'];
const systemFolders = [
  ...prefixes.flatMap((prefix) =>
    ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32', 'libexec', 'share'].map((name) => join(prefix, name)),
  ),
  '/etc',
  '/nix/store',
  '/gnu/store',
];

/**
 * The command that runs another one in a sandbox: with process ids, network and users of its own (no network at all), and with no
 * files but the programs, libraries and settings of the system, and the folders `visible`, all read-only. The UNIX sockets of services
 * are elsewhere; one that lies in a visible folder can be reached.
 */
export function sandboxCommand(program: string, command: Command, visible: readonly string[]): Command {
  const shown = new Set(visible.filter((folder) => !prefixes.includes(folder)));
  return [
    program,
    '--unshare-all',
    '--die-with-parent',
    '--new-session',
    '--cap-drop',
    'ALL',
    ...systemFolders.flatMap((folder) => ['--ro-bind-try', folder, folder]),
    ...['--dev', '/dev'],
    ...['--proc', '/proc'],
    ...['--dir', '/tmp'],
    ...[...shown].flatMap((folder) => ['--ro-bind', folder, folder]),
    // Last of all: until now there had to be folders made in them. What could be written there would be memory without limit.
    ...['/dev', '/'].flatMap((folder) => ['--remount-ro', folder]),
    ...['--chdir', '/'],
    '--',
    ...command,
  ];
}

/** Folders that hold what is nobody's business, or everything. */
function wideFolders(): readonly string[] {
  return [homedir(), '/tmp', '/var/tmp', '/run', '/home', '/root'];
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
