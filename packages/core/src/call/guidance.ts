import type { Clock, Deadline } from '../basics/clock.ts';
import type { Json, JsonObject } from '../basics/json.ts';
import type { FilesystemReader } from '../state/filesystem.ts';
import type { Operation, SessionReader, Slice } from '../state/slice.ts';
import type { Budget } from './budget.ts';
import type { Prompt, RenderedPrompt } from './prompt.ts';
import type { FeedbackEvent, ThrownError } from './run-event.ts';

/**
 * When a feedback provider is asked, judged when the calls of a turn have ended. `calls`: that many calls of the prompt have ended
 * since it was asked last. `seconds`: that long ago it was asked, or the run began. `file-created`: the file is there, and it
 * had not been seen before; once for each time that the session is reset.
 */
export type FeedbackTrigger =
  | { readonly type: 'calls'; readonly every: number }
  | { readonly type: 'seconds'; readonly every: number }
  | { readonly type: 'file-created'; readonly path: string };

/** The view of feedback providers and completion checkers. Frozen and read-only. */
export interface GuidanceContext {
  /** Committed state. */
  readonly session: SessionReader;
  /** The resource `filesystem`, when the host bound one. */
  readonly filesystem: FilesystemReader | undefined;
  readonly deadline: Deadline;
  /** The budget of the host; `undefined` without one. */
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

/** What a guide uses of a run. */
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
  /** `ended` says why it is over. `onEnd` calls back once it is, and returns what cancels that. */
  readonly lifetime: { readonly ended: string | undefined; onEnd(listener: () => void): () => void };
  /** How long a provider may take. */
  readonly policyTimeoutMs: number;
  readonly run: { readonly startSeq: number; readonly turn: number } | undefined;
  /** Absent when nobody listens. */
  readonly emit: ((event: FeedbackEvent) => void) | undefined;
}

/** A run, its prompt, and the page that the model sees. */
export interface Speaker {
  readonly scope: GuidedRun;
  readonly prompt: Prompt;
  readonly rendered: RenderedPrompt;
}

/** The model's message without calls. */
export interface ModelAnswer {
  readonly text: string;
  /** How often the run has sent the model back to work, and told it what its output lacked. */
  readonly returns: number;
  readonly corrections: number;
  /** Whether it was read back from the log, which has masks where secrets were. */
  readonly recorded: boolean;
  /** Whether time, budget and rounds remain for another message. */
  canGoOn(): boolean;
  /** Whether calls remain to be spent as well. */
  canWork(): boolean;
}

/** What a guide makes of an answer. `unfinished` is what the completion checker misses. */
export type AnswerVerdict =
  | { readonly type: 'done'; readonly output?: unknown; readonly unfinished?: string }
  /** The model is told `text`; the run continues. */
  | { readonly type: 'again'; readonly source: 'completion' | 'output'; readonly text: string }
  /** The model would have to continue, and cannot. */
  | { readonly type: 'stuck'; readonly error?: ThrownError; readonly unfinished?: string }
  | { readonly type: 'wrong'; readonly error: ThrownError; readonly unfinished?: string };

/** The code behind `feedback`, `completion` and `output` of a page. `createPrompt` brings it; a program without it has none. */
export interface Guide {
  /** Counts the `ended` calls of a turn and asks the feedback providers that are due. Returns what to tell the model, `''` for nothing. */
  giveFeedback(speaker: Speaker, turn: { readonly ended: number; readonly startedAtMs: number }): Promise<string>;
  /** Counts the calls of a run's last turn. */
  countLast(speaker: Speaker, ended: number): void;
  /** Decides whether a run is over: first whether the work is done, then whether the text is the output that is wanted. */
  judgeAnswer(answer: ModelAnswer, speaker: Speaker): Promise<AnswerVerdict>;
}
