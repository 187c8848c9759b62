import { type ExecutableTool, HoldfastError, type Json } from '@holdfast/core';
import type { Isolation } from '../check/types.ts';
import { readBounded } from '../files/read-bounded.ts';
import {
  askEnvironment,
  type GrantEnvironment,
  type GrantedEnvironment,
  missingEnvironment,
} from '../isolate/environment.ts';
import { fileChanged } from '../isolate/failures.ts';
import type { RemoteRunnerOptions } from '../isolate/pool.ts';
import { createTieredRunner } from '../isolate/tiers.ts';
import type { Language, PinnedTool } from '../language/types.ts';
import { digestOf } from '../scan/tool-files.ts';
import { toFileTool } from './file-tool.ts';

/** Options for tools that run outside this process. */
export type ToolProcessOptions = Omit<RemoteRunnerOptions, 'verify' | 'clock' | 'environment'>;

/** A tool with the conditions for importing its file. */
export interface RunnableTool {
  readonly tool: PinnedTool;
  /** SHA-256 in hexadecimal of the file to import. */
  readonly fileDigest: string;
  prepare(): Promise<void>;
  /** Wraps each call. Default: the call alone. */
  around?(call: () => Promise<unknown>): Promise<unknown>;
}

/** Creates and runs tools of verified files. */
export interface ToolHost {
  /**
   * Asks for the environment variables that a tool declares, unless already answered.
   *
   * @param findDigest - see `EnvironmentRequest`.
   */
  grant(tool: PinnedTool, findDigest: () => string | undefined | Promise<string | undefined>): Promise<void>;
  toTool(runnable: RunnableTool): ExecutableTool;
  /** See `ToolRunner.retire`. */
  retire(runnable: RunnableTool): boolean;
  /** Ends all running calls and their processes. */
  close(): Promise<void>;
}

export interface ToolHostOptions {
  /** The weakest isolation. */
  readonly isolation: Isolation;
  readonly processes: ToolProcessOptions;
  /** Default: grants nothing. */
  readonly environment: GrantEnvironment | undefined;
  readonly languages: readonly Language[] | undefined;
}

export function createToolHost({ isolation, processes, environment, languages }: ToolHostOptions): ToolHost {
  const known = new WeakMap<PinnedTool, RunnableTool>();
  const granted = new WeakMap<PinnedTool, GrantedEnvironment>();
  /** By name and digest. */
  const answers = new Map<string, GrantedEnvironment>();
  const runner = createTieredRunner(isolation, {
    ...processes,
    languages,
    environment: (tool) => granted.get(tool) ?? {},
    async verify(tool) {
      const runnable = known.get(tool);
      // The runner runs only these.
      if (runnable === undefined) throw fileChanged(tool.file);
      await runnable.prepare();
      await checkDigest(tool, runnable.fileDigest);
      return runnable.fileDigest;
    },
  });
  return {
    async grant(tool, findDigest) {
      if (environment === undefined || tool.metadata.environment === undefined || granted.has(tool)) return;
      const digest = await findDigest();
      const key = `${tool.metadata.name} ${digest}`;
      const answer = answers.get(key) ?? (await askEnvironment(tool, digest, environment));
      if (digest !== undefined) answers.set(key, answer);
      granted.set(tool, answer);
    },
    toTool(runnable) {
      const { tool } = runnable;
      known.set(tool, runnable);
      return toFileTool(tool, async (input, context) => {
        // The call has not started, so no start is recorded.
        const missing = missingEnvironment(tool, granted.get(tool) ?? {});
        if (missing !== undefined) throw new HoldfastError(missing.code, missing.message);
        // The executor has parsed and validated it.
        const call = (): Promise<unknown> => runner.run(tool, input as Json, context);
        return await (runnable.around?.(call) ?? call());
      });
    },
    retire: ({ tool }) => runner.retire?.(tool) ?? false,
    close: () => runner.close(),
  };
}

async function checkDigest({ file, entry }: PinnedTool, digest: string): Promise<void> {
  // A FIFO may have replaced it, on which an ordinary read would block.
  const reading = readBounded(entry, maxFileBytes);
  if (reading.type !== 'read' || digestOf(reading.bytes) !== digest) throw fileChanged(file);
}

// Larger than any accepted tool file.
const maxFileBytes = 8 * 1024 * 1024;
