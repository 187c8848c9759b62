import type { ToolCallEndEvent, TraceEntry } from '@holdfast/core';

/** How one call is made, beyond what its tool declares. */
export interface CallManner {
  /**
   * Longest that one attempt may take, in milliseconds. The tool's own `timeoutMs` holds for all of them. Default: only that.
   */
  readonly attemptTimeoutMs?: number;
  /**
   * How often the tool may be run, the first included, where it fails, or where the time of an attempt is over and it has stopped.
   * Only for tools that may be repeated; at most 11. Default: as the tool declares.
   */
  readonly attempts?: number;
  /** What is waited after the attempt of that number, counted from 1, in milliseconds. Default: as the tool declares, else doubling from 1,000 to 60,000. */
  readonly delayMs?: (attempt: number) => number;
  /** What the tool sees as `context.trace`. */
  readonly trace?: () => readonly TraceEntry[];
  /** Gets the one end event of the call, once the log has it. */
  readonly onEnd?: (event: ToolCallEndEvent) => void;
}
