import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Command, PinnedTool } from '../language/types.ts';

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
  return made === undefined ? new URL(`../${name}.ts`, import.meta.url) : pathToFileURL(join(made, `${name}.mjs`));
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
  return limitProcess(
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
    { memoryMb: memoryLimit(memoryMb) + restMb + (mayAct ? threadsMb : 0) },
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

/** The most that a program may have. */
export interface ProcessLimits {
  /** Of one process. */
  readonly memoryMb: number;
  /** Processes and threads, with all others of the user. Default: as many as the system has, and 4,096 more. */
  readonly tasks?: number;
}

/**
 * Memory outside of the heap has no limit of Node's, and a crash must not fill the disk with what was in it; programs that start programs
 * must not take the machine. Where the system can see to it, the program ends with this process, also when this one is killed and cannot.
 */
export function limitProcess(command: Command, { memoryMb, tasks = countTasks() + 4_096 }: ProcessLimits): Command {
  if (process.platform !== 'linux') return command;
  // A smaller limit that is in force already cannot be raised, and need not be. Shells differ in what they call the one of processes.
  // The shell adds variables of its own.
  const limits = [
    'unset PWD OLDPWD SHLVL',
    'ulimit -c 0 2>/dev/null',
    `ulimit -d ${memoryMb * 1024} 2>/dev/null`,
    `{ ulimit -u ${tasks} || ulimit -p ${tasks}; } 2>/dev/null`,
  ];
  // Not every `setpriv` knows the option.
  const bind = 'setpriv --pdeathsig KILL true 2>/dev/null && exec setpriv --pdeathsig KILL "$0" "$@"';
  return ['/bin/sh', '-c', `${limits.join('; ')}; ${bind}; exec "$0" "$@"`, ...command];
}

/** Processes and threads of the whole system: the limit counts those of the user, which may be all of them. */
function countTasks(): number {
  try {
    return Number(/\/(\d+)/.exec(readFileSync('/proc/loadavg', 'latin1'))?.[1] ?? 0);
  } catch {
    // There is no such file.
    return 0;
  }
}
