import type { ExecutableTool, Json } from '@holdfast/core';
import type { Isolation } from './check-extended.ts';
import { toFileTool } from './file-tool.ts';
import { fileChanged } from './import-errors.ts';
import type { PinnedTool } from './pinned-tool.ts';
import { readBounded } from './read-bounded.ts';
import { createTieredRunner } from './tiered-runner.ts';
import { digestOf } from './tool-files.ts';
import type { RemoteRunnerOptions } from './tool-pool.ts';

/** How tools run that do not run in this process. */
export type ToolProcessOptions = Omit<RemoteRunnerOptions, 'verify' | 'clock'>;

/** A tool, and what has to hold before its file is imported. */
export interface RunnableTool {
  readonly tool: PinnedTool;
  /** SHA-256 in hexadecimal of the file to import. */
  readonly fileDigest: string;
  prepare(): Promise<void>;
  /** Told of each call from its beginning to its end. Default: the call alone. */
  around?(call: () => Promise<unknown>): Promise<unknown>;
}

/** Makes tools of verified files, and runs them. */
export interface ToolHost {
  toTool(runnable: RunnableTool): ExecutableTool;
  /** See `ToolRunner.retire`. */
  retire(runnable: RunnableTool): boolean;
  /** Ends the processes in which tools run, and the calls in them. */
  close(): Promise<void>;
}

/** @param isolation - the weakest that tools run in. */
export function createToolHost(isolation: Isolation, processes: ToolProcessOptions): ToolHost {
  const known = new WeakMap<PinnedTool, RunnableTool>();
  const runner = createTieredRunner(isolation, {
    ...processes,
    async verify(tool) {
      const runnable = known.get(tool);
      // The runner runs nothing but these.
      if (runnable === undefined) throw fileChanged(tool.file);
      await runnable.prepare();
      await checkDigest(tool, runnable.fileDigest);
      return runnable.fileDigest;
    },
  });
  return {
    toTool(runnable) {
      const { tool } = runnable;
      known.set(tool, runnable);
      return toFileTool(tool, (input, context) => {
        // The executor has parsed it, and let through what the schema takes.
        const call = (): Promise<unknown> => runner.run(tool, input as Json, context);
        return runnable.around?.(call) ?? call();
      });
    },
    retire: ({ tool }) => runner.retire?.(tool) ?? false,
    close: () => runner.close(),
  };
}

async function checkDigest({ file, entry }: PinnedTool, digest: string): Promise<void> {
  // Something that nobody writes to may have taken its place, for which a plain reading would wait.
  const reading = readBounded(entry, maxFileBytes);
  if (reading.type !== 'read' || digestOf(reading.bytes) !== digest) throw fileChanged(file);
}

// More than any tool file that is let through.
const maxFileBytes = 8 * 1024 * 1024;
