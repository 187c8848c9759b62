import type { PinnedTool } from './pinned-tool.ts';

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
