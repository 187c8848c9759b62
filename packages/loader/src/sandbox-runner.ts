import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProject, sandboxCommand } from './bubblewrap.ts';
import { launchProcess } from './launch-process.ts';
import type { PinnedTool } from './pinned-tool.ts';
import { programUrl, toolCommand } from './process-command.ts';
import { ProcessGroups } from './process-groups.ts';
import { createSandboxFinder } from './sandbox-finder.ts';
import { toolEnvironment } from './tool-environment.ts';
import { createToolPool, type RemoteRunnerOptions } from './tool-pool.ts';
import type { ToolRunner } from './tool-runner.ts';

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
  const groups = new ProcessGroups();
  const findSandbox = createSandboxFinder(options.path);
  let program = '';
  return createToolPool(
    (tool, listener) =>
      launchProcess(
        sandboxCommand(program, toolCommand(tool, options.memoryMb), visibleFolders(tool)),
        { environment: toolEnvironment(options.environment?.(tool)), groups },
        listener,
      ),
    {
      ...options,
      async verify(tool) {
        program = await findSandbox(tool);
        return await options.verify(tool);
      },
    },
  );
}

function visibleFolders({ entry }: PinnedTool): readonly string[] {
  return [dirname(process.execPath), findProject(fileURLToPath(programUrl('tool-process-main'))), findProject(entry)];
}
