import type { Json, ToolContext } from '@holdfast/core';
import type { PinnedTool } from '../language/types.ts';

/** Runs the tools of one isolation tier. */
export interface ToolRunner {
  /**
   * Calls the tool's function and returns its result: a tool result, or any other value. Respects `context.signal`.
   *
   * Rejects with the function's error, and with HoldfastError `tool.file.import_failed`, `tool.function.not_function`;
   * outside this process also `tool.process.lost`, `tool.process.not_started`,
   * `tool.process.lost`, `tool.process.not_started`; for another language also with the errors of that language.
   */
  run(tool: PinnedTool, input: Json, context: ToolContext): Promise<unknown>;
  /**
   * Marks a version of a tool as outdated: nothing of it is kept for the next call, though it can still be called.
   * Returns true if its modules stay in the memory of this process. Absent: nothing is kept.
   */
  retire?(tool: PinnedTool): boolean;
  /** Ends all running calls and resolves when they have ended. Later calls are rejected. */
  close(): Promise<void>;
}

/** How a process or thread ended. */
export type ChildEnd =
  | { readonly type: 'not-started'; readonly reason: string }
  | { readonly type: 'out-of-memory' }
  /** In words: `with code 3`, `by SIGSEGV`. */
  | { readonly type: 'exited'; readonly how: string };

/** Receives the events of a process or thread. */
export interface ChildListener {
  /** Bytes of messages. */
  received(chunk: Uint8Array): void;
  /** Bytes of printed text. */
  printed(chunk: Uint8Array): void;
  /** All sent bytes have been accepted. */
  drained(): void;
  /** The last event. */
  ended(end: ChildEnd): void;
}

/** A process or thread of a tool, as seen from the host. */
export interface ToolChild {
  /** True if `kill` stops the tool's code at once; otherwise it may run until `ended`. */
  readonly killsAtOnce: boolean;
  send(frame: Uint8Array): void;
  /** Sent bytes that have not been accepted. */
  backlogBytes(): number;
  /** Pauses or resumes reading. */
  take(taken: boolean): void;
  /** Keeps the host's process alive, or not. */
  hold(held: boolean): void;
  kill(): void;
}

/** Starts a process or thread for one tool. Errors are reported as its end, later. */
export type LaunchChild = (tool: PinnedTool, listener: ChildListener) => ToolChild;
