import type { Json, ToolContext } from '@holdfast/core';
import type { PinnedTool } from '../language/types.ts';

/** Runs tools of one isolation tier. */
export interface ToolRunner {
  /**
   * What the tool's function came to: a tool result, or whatever it returned. Heeds `context.signal`.
   *
   * Rejects with what the function threw, and with HoldfastError `tool.file.import_failed`, `tool.function.not_function`; outside of
   * this process also `tool.process.exited`, `tool.process.memory`, `tool.process.protocol`, `tool.process.flood`,
   * `tool.process.unresponsive`, `tool.process.stuck`, `tool.process.not_started`, `tool.process.closed`,
   * `tool.isolation.unavailable`; a tool in another language with what its language says, too.
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

/** How a process or thread ended. */
export type ChildEnd =
  | { readonly type: 'not-started'; readonly reason: string }
  | { readonly type: 'out-of-memory' }
  /** In words: `with code 3`, `by SIGSEGV`. */
  | { readonly type: 'exited'; readonly how: string };

/** Who hears of a process or thread. */
export interface ChildListener {
  /** Bytes of messages. */
  received(chunk: Uint8Array): void;
  /** Bytes that the tool has printed. */
  printed(chunk: Uint8Array): void;
  /** All that was sent has been taken. */
  drained(): void;
  /** The last thing to be heard. */
  ended(end: ChildEnd): void;
}

/** A process or thread in which a tool runs, seen from the host. */
export interface ToolChild {
  /** Whether nothing of the tool runs on after `kill`; otherwise not before it has ended. */
  readonly killsAtOnce: boolean;
  send(frame: Uint8Array): void;
  /** Bytes that were sent and have not been taken. */
  backlogBytes(): number;
  /** Whether further messages are taken. */
  take(taken: boolean): void;
  /** Whether it keeps the host's process alive. */
  hold(held: boolean): void;
  kill(): void;
}

/** Starts a process or thread for one tool. What goes wrong is heard as its end, later. */
export type LaunchChild = (tool: PinnedTool, listener: ChildListener) => ToolChild;
