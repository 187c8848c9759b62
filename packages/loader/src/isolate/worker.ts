import { Worker } from 'node:worker_threads';
import { toolEnvironment } from './environment.ts';
import { createToolPool, type RemoteRunnerOptions } from './pool.ts';
import { memoryLimit, nodeConditions, programUrl } from './process-command.ts';
import type { ChildEnd, ChildListener, ToolChild, ToolRunner } from './types.ts';

/**
 * Runs each tool in a thread of its own: a tool that loops for ever, ends its process, fills its heap or changes its globals is no
 * harm to the host. It is the same process all the same: what blocks outside of JavaScript is not stopped (a call counts as ended
 * when its thread has), a crash of native code or a signal takes the host with it, and files, network and other processes are open to
 * it: it is for code that is trusted as the host's own.
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

/** Starts a thread for one tool. A thread that is blocked outside of JavaScript ends when it comes back from there, or never. */
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
    // Anything can be posted. What is no bytes is made some that are no message.
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
    // A message port has no limit that could be asked for.
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
