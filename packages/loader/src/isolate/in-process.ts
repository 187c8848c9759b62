import { describeThrown } from '@holdfast/core';
import { findToolFunction, type ToolFunction } from '../child/tool-function.ts';
import type { PinnedTool } from '../language/types.ts';
import { beginWith } from './begin-with.ts';
import { toImportUrl } from './call-message.ts';
import { importFailed, notFunction } from './failures.ts';
import type { ToolRunner } from './types.ts';

export interface InProcessRunnerOptions {
  /** Asked before a file is imported; rejects when it is not what was pinned. */
  verify(tool: PinnedTool): Promise<unknown>;
}

/**
 * Imports tools into this process, each when it is first called, with all that this process may do. A tool that does not stop when
 * its signal fires cannot be stopped.
 */
export function createInProcessRunner({ verify }: InProcessRunnerOptions): ToolRunner {
  const imported = new Map<string, Promise<ToolFunction>>();
  return {
    async run(tool, input, context) {
      const key = toKey(tool);
      // Importing a tool runs its code, so the call begins before that.
      if (imported.has(key)) await context.begin();
      else await beginWith(verify(tool), context);
      // Two first calls at once may both have asked.
      if (!imported.has(key)) imported.set(key, importFunction(tool));
      const run = await imported.get(key);
      return await run?.(input, context);
    },
    // What has been imported stays: Node forgets no module.
    retire: (tool) => imported.delete(toKey(tool)),
    close: async () => imported.clear(),
  };
}

function toKey({ digest, entry }: PinnedTool): string {
  return `${digest} ${entry}`;
}

async function importFunction(tool: PinnedTool): Promise<ToolFunction> {
  let module: object;
  try {
    module = await import(/* @vite-ignore */ toImportUrl(tool));
  } catch (cause) {
    throw importFailed(tool, describeThrown(cause), cause);
  }
  const run = findToolFunction(module, tool.metadata);
  if (run === undefined) throw notFunction(tool);
  return run;
}
