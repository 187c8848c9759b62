import { launchProcess } from './launch-process.ts';
import { toolCommand } from './process-command.ts';
import { ProcessGroups } from './process-groups.ts';
import { toolEnvironment } from './tool-environment.ts';
import { createToolPool, type RemoteRunnerOptions } from './tool-pool.ts';
import type { ToolRunner } from './tool-runner.ts';

/**
 * Runs each tool in a process of its own: in its own process group, which is killed when the call's signal fires, with an environment
 * of its own, no descriptor of this process, Node's permissions by what the tool declares, and limited memory. What a tool does with
 * `node:fs`, the network or a program that it starts is not staged; a program that leaves the process group is killed, on Linux, unless
 * it does not have the environment that it was given.
 */
export function createSubprocessRunner(options: RemoteRunnerOptions): ToolRunner {
  const groups = new ProcessGroups();
  return createToolPool(
    (tool, listener) =>
      launchProcess(
        toolCommand(tool, options.memoryMb),
        { environment: toolEnvironment(options.environment?.(tool)), groups },
        listener,
      ),
    options,
  );
}
