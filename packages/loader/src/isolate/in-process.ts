import { describeThrown } from '@holdfast/core/internal';
import { findToolFunction, type ToolFunction } from '../child/tool-function.ts';
import type { PinnedTool } from '../language/types.ts';
import { beginWith } from './begin-with.ts';
import { toImportUrl } from './call-message.ts';
import { importFailed, notFunction } from './failures.ts';
import type { ToolRunner } from './types.ts';

export interface InProcessRunnerOptions {
  /** Called before a file is imported; rejects if it differs from the pinned one. */
  verify(tool: PinnedTool): Promise<unknown>;
}

/**
 * Imports tools into this process on their first call, with all rights of this process. A tool that ignores its signal cannot be stopped.
 */
export function createInProcessRunner({ verify }: InProcessRunnerOptions): ToolRunner {
  const imported = new Map<string, Promise<ToolFunction>>();
  return {
    async run(tool, input, context) {
      const key = toKey(tool);
      // The import runs the tool's code, so the call starts before it.
      if (imported.has(key)) await context.begin();
      else await beginWith(verify(tool), context);
      // Two concurrent first calls may both get here.
      if (!imported.has(key)) imported.set(key, importFunction(tool));
      const run = await imported.get(key);
      return await run?.(input, context);
    },
    // Imported modules stay in memory: Node never unloads them.
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
