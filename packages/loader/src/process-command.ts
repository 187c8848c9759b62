import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { PinnedTool } from './pinned-tool.ts';

/** A program and its arguments. */
export type Command = readonly [program: string, ...parameters: string[]];

const defaultMemoryMb = 256;

// From the sources, everything of ours is run from the sources.
const fromSources = import.meta.url.endsWith('.ts');

/**
 * The file of one of our programs, beside this one. From the sources it may be one in plain JavaScript that `HOLDFAST_TOOL_PROGRAMS` holds:
 * under permissions Node keeps no compiled code, and taking the types out at every start costs more than the rest of it.
 */
export function programUrl(name: 'tool-process-main' | 'tool-worker-main'): URL {
  if (!fromSources) return new URL(`${name}.js`, import.meta.url);
  const made = process.env['HOLDFAST_TOOL_PROGRAMS'];
  return made === undefined ? new URL(`${name}.ts`, import.meta.url) : pathToFileURL(join(made, `${name}.mjs`));
}

/** What Node has to be told to find our packages. */
export function nodeConditions(): readonly string[] {
  return fromSources ? ['--conditions=holdfast-source'] : [];
}

/** The limit of the heap in MiB. */
export function memoryLimit(memoryMb: number | undefined): number {
  return memoryMb ?? defaultMemoryMb;
}

/**
 * The command of a process for one tool. What it may do follows from the effects that the tool declares: everything may read files and
 * use the network; only an `external` tool may write files, start processes and threads, and load native code.
 */
export function toolCommand({ metadata }: PinnedTool, memoryMb: number | undefined): Command {
  const mayAct = metadata.effects === 'external';
  return limitMemory(
    [
      process.execPath,
      `--max-old-space-size=${memoryLimit(memoryMb)}`,
      ...nodeConditions(),
      '--disable-warning=ExperimentalWarning',
      '--disable-warning=SecurityWarning',
      '--permission',
      '--allow-fs-read=*',
      ...(mayAct ? [] : withoutSqlite()),
      ...(mayAct
        ? ['--allow-fs-write=*', '--allow-child-process', '--allow-worker', '--allow-addons', '--allow-wasi']
        : []),
      // Older ones do not limit the network.
      ...(process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : []),
      fileURLToPath(programUrl('tool-process-main')),
    ],
    memoryLimit(memoryMb) + restMb + (mayAct ? threadsMb : 0),
  );
}

// It writes files without asking whether it may.
function withoutSqlite(): readonly string[] {
  return process.allowedNodeEnvironmentFlags.has('--experimental-sqlite') ? ['--no-experimental-sqlite'] : [];
}

/** The limit of all memory of a program that is not Node, in MiB: as much as an `external` tool of JavaScript has. */
export function programMemoryLimit(memoryMb: number | undefined): number {
  return memoryLimit(memoryMb) + restMb + threadsMb;
}

// What Node itself takes, most of it never used: a smaller limit keeps it from starting.
const restMb = 768;
// Each thread takes 512 MiB for code, most of it never used, and without it the whole process ends. Room for four.
const threadsMb = 4 * 576;

/**
 * Memory outside of the heap has no limit of Node's, and a crash must not fill the disk with what was in it. Where the system can see to
 * it, the program ends with this process, also when this one is killed and cannot.
 */
export function limitMemory(command: Command, limitMb: number): Command {
  if (process.platform !== 'linux') return command;
  // A smaller limit that is in force already cannot be raised, and need not be.
  // The shell adds variables of its own.
  const limit = `unset PWD OLDPWD SHLVL; ulimit -c 0 2>/dev/null; ulimit -d ${limitMb * 1024} 2>/dev/null`;
  // Not every `setpriv` knows the option.
  const bind = 'setpriv --pdeathsig KILL true 2>/dev/null && exec setpriv --pdeathsig KILL "$0" "$@"';
  return ['/bin/sh', '-c', `${limit}; ${bind}; exec "$0" "$@"`, ...command];
}
