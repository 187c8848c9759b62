import { HoldfastError } from '@holdfast/core';
import { findSandbox, type SandboxState } from './bubblewrap.ts';
import type { PinnedTool } from './pinned-tool.ts';

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
