import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { HoldfastError } from '@holdfast/core';
import { findProgram } from '../files/find-program.ts';
import type { Command, PinnedTool } from '../language/types.ts';

/** The sandbox program of this machine, or the reason, as a sentence, why the sandbox tier is unavailable. */
export type SandboxState =
  | { readonly available: true; readonly program: string }
  | { readonly available: false; readonly reason: string };

/** Checks the machine. `path` default: `PATH`. */
export async function findSandbox(path: string = process.env['PATH'] ?? ''): Promise<SandboxState> {
  if (process.platform !== 'linux')
    return { available: false, reason: 'The sandbox needs bubblewrap, which is only available on Linux.' };
  const program = findProgram('bwrap', path);
  if (program === undefined)
    return { available: false, reason: 'The sandbox needs `bwrap` on the PATH: install the package `bubblewrap`.' };
  const [, ...parameters] = sandboxCommand(program, ['/bin/sh', '-c', 'exit 0'], []);
  const problem = await tryProgram(program, parameters);
  if (problem === undefined) return { available: true, program };
  return { available: false, reason: `\`bwrap\` is installed, but cannot create a sandbox: ${problem}` };
}

/**
 * Creates a function that looks for `bwrap` on first use and returns its path. `path` default: `PATH`. The function
 * throws HoldfastError `tool.process.not_started` if the machine has no sandbox.
 */
export function createSandboxFinder(path?: string): (tool: PinnedTool) => Promise<string> {
  let sandbox: Promise<SandboxState> | undefined;
  return async ({ metadata: { name } }) => {
    sandbox ??= findSandbox(path);
    const state = await sandbox;
    if (state.available) return state.program;
    const message = `\`${name}\` requires a sandbox, which this machine does not have. ${state.reason}`;
    throw new HoldfastError('tool.process.not_started', message, { data: { reason: 'isolation' } });
  };
}

// Not all of `/usr` and `/usr/local`: their other folders, such as `var`, may contain data and sockets of services.
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
 * Wraps a command in a sandbox: its own process ids, users and network (none), and read-only access to the system's programs, libraries
 * and settings and to the folders `visible`. UNIX sockets of services are hidden, unless they are in a visible folder.
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
    // Last, because folders had to be created in them. Writable, they would be unlimited memory.
    ...['/dev', '/'].flatMap((folder) => ['--remount-ro', folder]),
    ...['--chdir', '/'],
    '--',
    ...command,
  ];
}

/** Folders that contain private data, or everything. */
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
 * The visible folders for a program: its own, that of a link's target, and the parent of a folder `bin` or `shims`;
 * none so wide that it contains hidden data.
 */
export function findProgramFolders(program: string): readonly string[] {
  const own = [program, realpathSync(program)].map((file) => dirname(file));
  const around = own.filter((folder) => /^(?:s?bin|shims)$/.test(basename(folder))).map((folder) => dirname(folder));
  const hidden = wideFolders();
  return [...own, ...around].filter(
    (folder) => !hidden.some((one) => `${one}/`.startsWith(`${folder}/`.replace('//', '/'))),
  );
}

/** The visible folder for a file: the topmost one with a `package.json` or packages that is narrower than a home, otherwise its own. */
export function findProject(file: string): string {
  const tooWide = new Set(['/', ...wideFolders()]);
  let project = dirname(file);
  for (let folder = project; !tooWide.has(folder); folder = dirname(folder)) {
    if (existsSync(join(folder, 'node_modules')) || existsSync(join(folder, 'package.json'))) project = folder;
  }
  return project;
}
