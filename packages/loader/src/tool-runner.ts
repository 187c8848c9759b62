import type { Json, ToolContext } from '@holdfast/core';
import type { PinnedTool } from './pinned-tool.ts';

/** Runs tools of one isolation tier. */
export interface ToolRunner {
  /**
   * What the tool's function came to: a tool result, or whatever it returned. Heeds `context.signal`.
   *
   * Rejects with what the function threw, and with HoldfastError `tool.file.import_failed`, `tool.function.not_function`; outside of
   * this process also `tool.process.exited`, `tool.process.memory`, `tool.process.protocol`, `tool.process.flood`,
   * `tool.process.unresponsive`, `tool.process.stuck`, `tool.process.not_started`, `tool.process.closed`,
   * `tool.isolation.unavailable`; a program in another language with `tool.command.missing`, `tool.command.failed` or
   * `tool.python.unavailable`, too.
   */
  run(tool: PinnedTool, input: Json, context: ToolContext): Promise<unknown>;
  /**
   * Told that a version of a tool is of the past: nothing of it is kept for a next call, though it may still be called. Whether
   * what has been imported stays in the memory of this process all the same. Absent: nothing is kept.
   */
  retire?(tool: PinnedTool): boolean;
  /** Ends what still runs, and resolves when it has ended. Later calls are refused. */
  close(): Promise<void>;
}
