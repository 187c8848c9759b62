import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isHoldfastError } from '@holdfast/core';
import { trustFolder } from '../commands/set-up/trust.ts';
import { runProgram } from '../program.ts';
import { createFolder, toUserFolder } from './test-folder.ts';
import { createTestHost, type TestHostOptions } from './test-host.ts';

const program = fileURLToPath(new URL('../main.ts', import.meta.url));

/** A tool file whose function has `body`, with its `context`. */
export function toTool(name: string, body: string, effects = 'none'): string {
  return `export const METADATA = {
  name: '${name}', function: 'act', description: 'Acts.', dangerous: false, effects: '${effects}',
  parameters: { type: 'object', properties: {} },
};
export async function act(_, context) { ${body} }
`;
}

/** A model script: one call without arguments for each name, then an answer. */
export function script(...names: readonly string[]): string {
  return JSON.stringify({ turns: [{ calls: names.map((name) => ({ name, arguments: {} })) }, { text: 'Done.' }] });
}

export const jsonRun: readonly string[] = ['run', 'Do it.', '--model', 'script:script.json', '--json'];

/** The same with in-process tools. */
export const trustingRun: readonly string[] = [...jsonRun, '--isolation', 'in-process'];

/** The program as a quoted shell command. */
export const shellCommand: string = [process.execPath, '--conditions=holdfast-source', program]
  .map((word) => `'${word.replaceAll("'", "'\\''")}'`)
  .join(' ');

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunMainOptions {
  readonly files?: Record<string, string>;
  /** An existing folder, instead of one with `files`. */
  readonly folder?: string;
  readonly input?: string;
  /** As for `runHere`. */
  readonly trusted?: boolean;
  readonly environment?: Record<string, string>;
  /** Called with the process on every chunk. */
  readonly onStdout?: (child: ChildProcess, stdout: string) => void;
  readonly onStderr?: (child: ChildProcess, stderr: string) => void;
}

/** Trusts the code found in a folder, as its user. */
export async function trustHere(directory: string): Promise<void> {
  const { host } = createTestHost({ directory });
  try {
    await trustFolder({ folder: '.', remove: false, json: false }, host);
  } catch (thrown) {
    // The command under test reports an invalid configuration.
    if (!isHoldfastError(thrown)) throw thrown;
  }
}

export interface RunHereOptions extends TestHostOptions {
  /** True to trust the code in the folder beforehand. Default true. */
  readonly trusted?: boolean;
}

/** Runs the program in this process. */
export async function runHere(
  argv: readonly string[],
  { trusted = true, ...options }: RunHereOptions = {},
): Promise<Ended> {
  if (trusted) await trustHere(options.directory ?? '.');
  const { host, stdout, stderr } = createTestHost({ environment: { NO_COLOR: '1' }, ...options });
  const exitCode = await runProgram(argv, host, '0');
  return { exitCode, stdout: stdout(), stderr: stderr() };
}

/** Runs the program in a process, in a folder with `files`. */
export async function runMain(argv: readonly string[], options: RunMainOptions = {}): Promise<Ended> {
  return spawnIn(process.execPath, ['--conditions=holdfast-source', program, ...argv], options);
}

/** Runs a bash script, in a folder with `files`. */
export async function runShell(script: string, options: RunMainOptions = {}): Promise<Ended> {
  return spawnIn('bash', ['--noprofile', '--norc', '-c', script], options);
}

async function spawnIn(
  command: string,
  argv: readonly string[],
  { files = {}, folder, input, trusted = true, environment = {}, onStdout, onStderr }: RunMainOptions,
): Promise<Ended> {
  await using made = await createFolder(files);
  const directory = folder ?? made.path;
  if (trusted) await trustHere(directory);
  const child = spawn(command, argv, {
    cwd: directory,
    // The compile cache halves the start time.
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      NODE_OPTIONS: process.env['NODE_OPTIONS'],
      HOLDFAST_TOOL_PROGRAMS: process.env['HOLDFAST_TOOL_PROGRAMS'],
      HOLDFAST_HOME: toUserFolder(directory),
      ...environment,
    },
  });
  // It may end before it has read its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input ?? '');
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    onStdout?.(child, stdout);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
    onStderr?.(child, stderr);
  });
  const exitCode = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { exitCode, stdout, stderr };
}
