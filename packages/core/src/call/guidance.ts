import type { Deadline } from '../basics/clock.ts';
import type { FilesystemReader } from '../state/filesystem.ts';
import type { SessionReader } from '../state/slice.ts';
import type { Budget } from './budget.ts';

/**
 * When a feedback provider is asked, judged when the calls of a turn have ended. `calls`: that many calls of the prompt have ended
 * since it was asked last. `seconds`: that long ago it was asked, or the run began. `file-created`: the file is there, and it
 * had not been seen before; once for each time that the session is reset.
 */
export type FeedbackTrigger =
  | { readonly type: 'calls'; readonly every: number }
  | { readonly type: 'seconds'; readonly every: number }
  | { readonly type: 'file-created'; readonly path: string };

/** What those who speak to the model during a run may look at. Frozen, reading only. */
export interface GuidanceContext {
  /** What is committed. */
  readonly session: SessionReader;
  /** The resource `filesystem`, when the host bound one. */
  readonly filesystem: FilesystemReader | undefined;
  readonly deadline: Deadline;
  /** What the host allows; `undefined` without a budget. */
  readonly budget: Budget | undefined;
  /** Calls of the prompt that have ended in the session, whatever their outcome; calls nested in them are theirs. */
  readonly calls: number;
}

/** Tells the model something from time to time. */
export interface FeedbackProvider {
  /** Lower case words joined by `-`, one of its kind in a prompt: its cadence is kept by it. */
  readonly name: string;
  /** Any of them. Empty: it is never asked. */
  readonly triggers: readonly FeedbackTrigger[];
  /** What the model is told, as a message of its own; nothing for an empty text or `undefined`. Throwing is recorded and breaks nothing. */
  provide(context: GuidanceContext): string | undefined | Promise<string | undefined>;
}

/** Whether the work is done; `feedback` tells the model what is missing. */
export type Completion = { readonly complete: true } | { readonly complete: false; readonly feedback: string };

/** Judges whether the work is done when the model stops. Throwing counts as not complete. */
export interface CompletionChecker {
  /** Lower case words joined by `-`. */
  readonly name: string;
  check(context: CompletionContext): Completion | Promise<Completion>;
}

export interface CompletionContext extends GuidanceContext {
  /** The message with which the model stopped. */
  readonly text: string;
}

/** When a run may end as completed. */
export interface CompletionRule {
  readonly checker: CompletionChecker;
  /** How many times in a run the model is sent back to work. */
  readonly maxReturns: number;
}
