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
 * Runs each tool in its own process: in its own process group, which is killed when the call's signal fires, with its own environment, no
 * inherited descriptors, Node's permissions by the tool's effects, and limited memory. Changes made through `node:fs`, the network or
 * child programs are not staged. On Linux, a program that leaves the process group is killed too, unless it changes its environment.
 */
export function createSubprocessRunner(options: RemoteRunnerOptions): ToolRunner {
  return createProcessRunner(options, (tool) => toolCommand(tool, options.memoryMb));
}

export interface SandboxRunnerOptions extends RemoteRunnerOptions {
  /** Where `bwrap` is searched. Default: `PATH`. */
  readonly path?: string;
}

/**
 * Runs each tool like `createSubprocessRunner`, within a bubblewrap sandbox: without network, and with read-only access to the system's
 * programs and the tool's own project only. On a machine without a sandbox, every call fails with `tool.process.not_started`.
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
 * Starts a program as the leader of its own process group, with its own environment and no inherited descriptors:
 * messages use a socket at descriptor 3, printed text uses pipes.
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
  if (!(socket instanceof Duplex)) throw new TypeError('Descriptor 3 of a process is not a socket.');
  listen(child, socket, groups, listener);
  return {
    killsAtOnce: true,
    send: (frame) => void socket.write(frame),
    backlogBytes: () => socket.writableLength,
    take: (taken) => void (taken ? socket.resume() : socket.pause()),
    hold: (held) => {
      for (const handle of [child, socket, child.stdout, child.stderr]) {
        // Sockets have both; the type here is that of any stream.
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
    // Programs that it started may still run.
    if (child.pid !== undefined) groups.end(child.pid);
    listener.ended(how);
  };
  socket.on('data', (chunk: Buffer) => listener.received(chunk));
  socket.on('drain', () => listener.drained());
  // It has ended, or will be found unresponsive.
  socket.on('error', () => undefined);
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      lastWords = `${lastWords}${chunk.toString('latin1')}`.slice(-16_384);
      listener.printed(chunk);
    });
  }
  child.on('error', (error) => end({ type: 'not-started', reason: error.message }));
  // Not `close`: programs that it started may keep the pipes open.
  child.on('exit', (code, signal) => end(describeExit(code, signal, lastWords)));
}

function describeExit(code: number | null, signal: string | null, lastWords: string): ChildEnd {
  if (/heap out of memory|FATAL ERROR: .*memory|OOM/.test(lastWords)) return { type: 'out-of-memory' };
  return { type: 'exited', how: signal === null ? `with code ${code}` : `by ${signal}` };
}
