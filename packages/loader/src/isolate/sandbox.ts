import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HoldfastError } from '@holdfast/core';
import type { PinnedTool } from '../language/types.ts';
import { findProject, findSandbox, type SandboxState, sandboxCommand } from './bubblewrap.ts';
import { toolEnvironment } from './environment.ts';
import { createToolPool, type RemoteRunnerOptions } from './pool.ts';
import { programUrl, toolCommand } from './process-command.ts';
import { ProcessGroups } from './process-groups.ts';
import { launchProcess } from './subprocess.ts';
import type { ToolRunner } from './types.ts';

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

/**
 * Looks for `bwrap` once, when a tool first needs it, and gives its path. `path` default: `PATH`. What it gives throws HoldfastError
 * `tool.isolation.unavailable` where this machine has no sandbox.
 */
export function createSandboxFinder(path?: string): (tool: PinnedTool) => Promise<string> {
  let sandbox: Promise<SandboxState> | undefined;
  return async ({ metadata: { name } }) => {
    sandbox ??= findSandbox(path);
    const state = await sandbox;
    if (state.available) return state.program;
    throw new HoldfastError(
      'tool.isolation.unavailable',
      `\`${name}\` may run in a sandbox only, and this machine has none. ${state.reason}`,
    );
  };
}
