import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Command, PinnedTool } from '../language/types.ts';

const defaultMemoryMb = 256;

// Running from the sources, child programs run from the sources too.
const fromSources = import.meta.url.endsWith('.ts');

/**
 * The URL of one of our programs, beside this file. From the sources, `HOLDFAST_TOOL_PROGRAMS` may provide a compiled
 * one: under permissions, Node does not cache compiled code, and stripping types at every start is slow.
 */
export function programUrl(name: 'tool-process-main' | 'tool-worker-main'): URL {
  if (!fromSources) return new URL(`${name}.js`, import.meta.url);
  const made = process.env['HOLDFAST_TOOL_PROGRAMS'];
  return made === undefined ? new URL(`../${name}.ts`, import.meta.url) : pathToFileURL(join(made, `${name}.mjs`));
}

/** The Node options needed to find our packages. */
export function nodeConditions(): readonly string[] {
  return fromSources ? ['--conditions=holdfast-source'] : [];
}

/** The heap limit in MiB. */
export function memoryLimit(memoryMb: number | undefined): number {
  return memoryMb ?? defaultMemoryMb;
}

/**
 * The command of a process for one tool. Its permissions follow from the tool's declared effects: all may read files
 * and use the network; only an `external` tool may write files, start processes and threads, and load native code.
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
      // Older versions do not restrict the network.
      ...(process.allowedNodeEnvironmentFlags.has('--allow-net') ? ['--allow-net'] : []),
      fileURLToPath(programUrl('tool-process-main')),
    ],
    { memoryMb: memoryLimit(memoryMb) + restMb + (mayAct ? threadsMb : 0) },
  );
}

// SQLite writes files regardless of permissions.
function withoutSqlite(): readonly string[] {
  return process.allowedNodeEnvironmentFlags.has('--experimental-sqlite') ? ['--no-experimental-sqlite'] : [];
}

/** The total memory limit of a program other than Node, in MiB: same as for an `external` JavaScript tool. */
export function programMemoryLimit(memoryMb: number | undefined): number {
  return memoryLimit(memoryMb) + restMb + threadsMb;
}

// Reserved by Node itself, mostly unused: with less, it does not start.
const restMb = 768;
// Each thread reserves 512 MiB for code, mostly unused; without it, the whole process crashes. Room for four.
const threadsMb = 4 * 576;

/** Limits of a program. */
export interface ProcessLimits {
  /** Per process. */
  readonly memoryMb: number;
  /** Processes and threads of the user in total. Default: the current number on the system plus 4,096. */
  readonly tasks?: number;
}

/**
 * Limits total memory, because Node limits only its heap, core dumps, because a crash must not fill the disk, and
 * processes, because of fork bombs. On supported systems, the program also ends when this process ends, even if killed.
 */
export function limitProcess(command: Command, { memoryMb, tasks = countTasks() + 4_096 }: ProcessLimits): Command {
  if (process.platform !== 'linux') return command;
  // An existing lower limit cannot be raised, and need not be. Shells use different options for the process limit. The
  // shell adds variables of its own.
  const limits = [
    'unset PWD OLDPWD SHLVL',
    'ulimit -c 0 2>/dev/null',
    `ulimit -d ${memoryMb * 1024} 2>/dev/null`,
    `{ ulimit -u ${tasks} || ulimit -p ${tasks}; } 2>/dev/null`,
  ];
  // Not every `setpriv` supports the option.
  const bind = 'setpriv --pdeathsig KILL true 2>/dev/null && exec setpriv --pdeathsig KILL "$0" "$@"';
  return ['/bin/sh', '-c', `${limits.join('; ')}; ${bind}; exec "$0" "$@"`, ...command];
}

/** Processes and threads of the whole system: the limit counts those of the user, which may be all of them. */
function countTasks(): number {
  try {
    return Number(/\/(\d+)/.exec(readFileSync('/proc/loadavg', 'latin1'))?.[1] ?? 0);
  } catch {
    // The file does not exist.
    return 0;
  }
}
