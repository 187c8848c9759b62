import { launchWorker } from './launch-worker.ts';
import { memoryLimit, nodeConditions, programUrl } from './process-command.ts';
import { toolEnvironment } from './tool-environment.ts';
import { createToolPool, type RemoteRunnerOptions } from './tool-pool.ts';
import type { ToolRunner } from './tool-runner.ts';

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
