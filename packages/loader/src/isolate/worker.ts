import { Worker } from 'node:worker_threads';
import { toolEnvironment } from './environment.ts';
import { createToolPool, type RemoteRunnerOptions } from './pool.ts';
import { memoryLimit, nodeConditions, programUrl } from './process-command.ts';
import type { ChildEnd, ChildListener, ToolChild, ToolRunner } from './types.ts';

/**
 * Runs each tool in its own thread, so that a tool that loops forever, exits, fills its heap or changes its globals does not harm the
 * host. It shares the host's process: code that blocks outside JavaScript is not stopped (the call ends with the thread), a native crash
 * or a signal ends the host too, and files, network and other processes are accessible. For code that you trust like your own.
 */
export function createWorkerRunner(options: RemoteRunnerOptions): ToolRunner {
  return createToolPool(
    (tool, listener) =>
      launchWorker(
        {
          program: programUrl('tool-worker-main'),
          conditions: nodeConditions(),
          environment: toolEnvironment(options.environment?.(tool)),
          memoryMb: memoryLimit(options.memoryMb),
        },
        listener,
      ),
    options,
  );
}

export interface WorkerOptions {
  readonly program: URL;
  readonly conditions: readonly string[];
  readonly environment: Record<string, string>;
  readonly memoryMb: number;
}

/** Starts a thread for one tool. A thread that blocks outside JavaScript ends when it returns, or never. */
function launchWorker(
  { program, conditions, environment, memoryMb }: WorkerOptions,
  listener: ChildListener,
): ToolChild {
  const worker = new Worker(program, {
    env: environment,
    execArgv: [...conditions],
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    stdin: false,
    stdout: true,
    stderr: true,
  });
  let end: ChildEnd | undefined;
  worker.on('message', (message: unknown) => {
    // A tool can post anything. Other values become bytes that are not a valid message.
    listener.received(message instanceof Uint8Array ? message : new Uint8Array(8));
  });
  worker.on('messageerror', () => listener.received(new Uint8Array(8)));
  for (const stream of [worker.stdout, worker.stderr]) stream.on('data', (chunk: Buffer) => listener.printed(chunk));
  worker.on('error', (error: unknown) => {
    end ??= describeError(error);
  });
  worker.on('exit', (code) => listener.ended(end ?? { type: 'exited', how: `with code ${code}` }));
  return {
    killsAtOnce: false,
    send: (frame) => worker.postMessage(frame),
    // A message port cannot report its backlog.
    backlogBytes: () => 0,
    take: () => undefined,
    hold: (held) => {
      if (held) worker.ref();
      else worker.unref();
    },
    kill: () => void worker.terminate(),
  };
}

function describeError(error: unknown): ChildEnd {
  if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return { type: 'out-of-memory' };
  return { type: 'exited', how: 'by what it threw' };
}
