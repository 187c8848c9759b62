import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { tagName } from '../child/tagged-programs.ts';
import type { Command, PinnedTool } from '../language/types.ts';
import { createSandboxFinder, findProject, sandboxCommand } from './bubblewrap.ts';
import { toolEnvironment } from './environment.ts';
import { withoutInherited } from './inherited-descriptors.ts';
import { createToolPool, type RemoteRunnerOptions } from './pool.ts';
import { programUrl, toolCommand } from './process-command.ts';
import { killGroup, ProcessGroups } from './process-groups.ts';
import type { ChildEnd, ChildListener, ToolChild, ToolRunner } from './types.ts';

/**
 * Runs each tool in a process of its own: in its own process group, which is killed when the call's signal fires, with an environment
 * of its own, no descriptor of this process, Node's permissions by what the tool declares, and limited memory. What a tool does with
 * `node:fs`, the network or a program that it starts is not staged; a program that leaves the process group is killed, on Linux, unless
 * it does not have the environment that it was given.
 */
export function createSubprocessRunner(options: RemoteRunnerOptions): ToolRunner {
  return createProcessRunner(options, (tool) => toolCommand(tool, options.memoryMb));
}

export interface SandboxRunnerOptions extends RemoteRunnerOptions {
  /** Where `bwrap` is looked for. Default: `PATH`. */
  readonly path?: string;
}

/**
 * Runs each tool in a process of its own as `createSubprocessRunner` does, within a sandbox of bubblewrap: without network, and with no
 * files in sight but those of the system's programs and of the tool's own project, read-only. Where the machine has no sandbox, every
 * call is refused with `tool.isolation.unavailable`.
 */
export function createSandboxRunner(options: SandboxRunnerOptions): ToolRunner {
  const findSandbox = createSandboxFinder(options.path);
  const ours = [dirname(process.execPath), findProject(fileURLToPath(programUrl('tool-process-main')))];
  let program = '';
  return createProcessRunner(
    {
      ...options,
      async verify(tool) {
        program = await findSandbox(tool);
        return await options.verify(tool);
      },
    },
    (tool) => sandboxCommand(program, toolCommand(tool, options.memoryMb), [...ours, findProject(tool.entry)]),
  );
}

function createProcessRunner(options: RemoteRunnerOptions, toCommand: (tool: PinnedTool) => Command): ToolRunner {
  const groups = new ProcessGroups();
  return createToolPool(
    (tool, listener) =>
      launchProcess(toCommand(tool), { environment: toolEnvironment(options.environment?.(tool)), groups }, listener),
    options,
  );
}

/**
 * Starts a program as the leader of a process group of its own, with an environment of its own and no descriptor of this process:
 * messages go through a socket at descriptor 3, what is printed through pipes.
 */
function launchProcess(
  [program, ...parameters]: Command,
  { environment, groups }: { readonly environment: Record<string, string>; readonly groups: ProcessGroups },
  listener: ChildListener,
): ToolChild {
  const tag = randomUUID();
  const child = withoutInherited(4, (more) =>
    spawn(program, parameters, {
      detached: true,
      env: { ...environment, [tagName]: tag },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', ...more],
      windowsHide: true,
    }),
  );
  const { pid } = child;
  if (pid !== undefined) groups.add(pid, tag);
  const socket = child.stdio[3];
  if (!(socket instanceof Duplex)) throw new TypeError('The descriptor 3 of a process is no socket.');
  listen(child, socket, groups, listener);
  return {
    killsAtOnce: true,
    send: (frame) => void socket.write(frame),
    backlogBytes: () => socket.writableLength,
    take: (taken) => void (taken ? socket.resume() : socket.pause()),
    hold: (held) => {
      for (const handle of [child, socket, child.stdout, child.stderr]) {
        // Sockets have both; their type here is that of any stream.
        const holder = handle as { ref?(): void; unref?(): void } | null;
        if (held) holder?.ref?.();
        else holder?.unref?.();
      }
    },
    kill: () => {
      if (pid !== undefined) killGroup(pid);
    },
  };
}

function listen(child: ChildProcess, socket: Duplex, groups: ProcessGroups, listener: ChildListener): void {
  let lastWords = '';
  let ended = false;
  const end = (how: ChildEnd): void => {
    if (ended) return;
    ended = true;
    // What it has started does not end with it.
    if (child.pid !== undefined) groups.end(child.pid);
    listener.ended(how);
  };
  socket.on('data', (chunk: Buffer) => listener.received(chunk));
  socket.on('drain', () => listener.drained());
  // It has ended, or will be found to be silent.
  socket.on('error', () => undefined);
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      lastWords = `${lastWords}${chunk.toString('latin1')}`.slice(-16_384);
      listener.printed(chunk);
    });
  }
  child.on('error', (error) => end({ type: 'not-started', reason: error.message }));
  // Not `close`: what it has started may keep the pipes open.
  child.on('exit', (code, signal) => end(describeExit(code, signal, lastWords)));
}

function describeExit(code: number | null, signal: string | null, lastWords: string): ChildEnd {
  if (/heap out of memory|FATAL ERROR: .*memory|OOM/.test(lastWords)) return { type: 'out-of-memory' };
  return { type: 'exited', how: signal === null ? `with code ${code}` : `by ${signal}` };
}
