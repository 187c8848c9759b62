import type { Clock, Deadline } from '../basics/clock.ts';
import type { Json, JsonObject } from '../basics/json.ts';
import type { FilesystemReader } from '../state/filesystem.ts';
import type { Operation, SessionReader, Slice } from '../state/slice.ts';
import type { Budget } from './budget.ts';
import type { Prompt, RenderedPrompt } from './prompt.ts';
import type { FeedbackEvent, ThrownError } from './run-event.ts';

/**
 * When a feedback provider runs, checked after the calls of a turn. `calls`: after that many further calls of the prompt. `seconds`: that
 * long after it last ran, or the run began. `file-created`: when a file exists for the first time; once per reset of the session.
 */
export type FeedbackTrigger =
  | { readonly type: 'calls'; readonly every: number }
  | { readonly type: 'seconds'; readonly every: number }
  | { readonly type: 'file-created'; readonly path: string };

/** The view of feedback providers and completion checkers. Frozen and read-only. */
export interface GuidanceContext {
  /** Committed state. */
  readonly session: SessionReader;
  /** The resource `filesystem`, if the host bound one. */
  readonly filesystem: FilesystemReader | undefined;
  readonly deadline: Deadline;
  /** The host's budget; `undefined` without one. */
  readonly budget: Budget | undefined;
  /** Ended calls of the prompt in the session, with any outcome; nested calls do not count. */
  readonly calls: number;
}

/** Sends messages to the model during a run. */
export interface FeedbackProvider {
  /** Lower case words joined by `-`, unique in a prompt: its schedule is stored under it. */
  readonly name: string;
  /** Any trigger suffices. Empty: it never runs. */
  readonly triggers: readonly FeedbackTrigger[];
  /** Returns the text of a separate message to the model; an empty text or `undefined` sends none. Errors are recorded and break nothing. */
  provide(context: GuidanceContext): string | undefined | Promise<string | undefined>;
}

/** The state of the work; `feedback` tells the model what is missing. */
export type Completion = { readonly complete: true } | { readonly complete: false; readonly feedback: string };

/** Judges whether the work is done when the model stops. An error counts as not complete. */
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
  /** Maximum number of times per run that the model is sent back to work. */
  readonly maxReturns: number;
}

/** The guide's view of a run. */
export interface GuidedRun {
  readonly session: SessionReader & {
    begin(): {
      readonly changes: readonly Json[];
      apply(slice: Slice, operations: readonly Operation[]): void;
      commit(entry: JsonObject & { readonly type: string }): void;
      discard(): void;
    };
  };
  readonly surroundings: Pick<GuidanceContext, 'session' | 'filesystem' | 'deadline'>;
  readonly budget: Budget | undefined;
  readonly clock: Clock;
  /** `ended`: why it is over. `onEnd` calls back once it is, and returns a function that cancels that. */
  readonly lifetime: { readonly ended: string | undefined; onEnd(listener: () => void): () => void };
  /** Time limit of a provider. */
  readonly policyTimeoutMs: number;
  readonly run: { readonly startSeq: number; readonly turn: number } | undefined;
  /** Absent without listeners. */
  readonly emit: ((event: FeedbackEvent) => void) | undefined;
}

/** A run, its prompt, and the rendered prompt. */
export interface Speaker {
  readonly scope: GuidedRun;
  readonly prompt: Prompt;
  readonly rendered: RenderedPrompt;
}

/** A message of the model without calls. */
export interface ModelAnswer {
  readonly text: string;
  /** How often the run has sent the model back to work, or back to correct its output. */
  readonly returns: number;
  readonly corrections: number;
  /** True if read from the log, which has masks in place of secrets. */
  readonly recorded: boolean;
  /** True if time, budget and rounds remain for another message. */
  canGoOn(): boolean;
  /** True if calls remain, too. */
  canWork(): boolean;
}

/** A guide's verdict on an answer. `unfinished`: the missing work, from the completion checker. */
export type AnswerVerdict =
  | { readonly type: 'done'; readonly output?: unknown; readonly unfinished?: string }
  /** The model is told `text`; the run continues. */
  | { readonly type: 'again'; readonly source: 'completion' | 'output'; readonly text: string }
  /** The model should continue, but cannot. */
  | { readonly type: 'stuck'; readonly error?: ThrownError; readonly unfinished?: string }
  | { readonly type: 'wrong'; readonly error: ThrownError; readonly unfinished?: string };

/** The code behind `feedback`, `completion` and `output`, part of prompts of `createPrompt`. */
export interface Guide {
  /** Counts the `ended` calls of a turn and runs the feedback providers that are due. Returns the message to the model, `''` for none. */
  giveFeedback(speaker: Speaker, turn: { readonly ended: number; readonly startedAtMs: number }): Promise<string>;
  /** Counts the calls of a run's last turn. */
  countLast(speaker: Speaker, ended: number): void;
  /** Decides whether a run is over: whether the work is done, and then whether the text is valid output. */
  judgeAnswer(answer: ModelAnswer, speaker: Speaker): Promise<AnswerVerdict>;
}
