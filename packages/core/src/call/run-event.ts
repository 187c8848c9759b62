import type { Json } from '../basics/json.ts';
import type { CutReason, FinishReason, ModelUsage } from '../model/model.ts';
import type { SessionEvent } from '../state/slice.ts';
import type { PolicyDecision } from './decision.ts';
import type { RecordedFacts } from './facts.ts';
import type { ApprovalAnswer, Outcome, PendingApproval, RunStatus } from './outcome.ts';

/** What was thrown, for observers. The log leaves the stack out, and a model sees the message only. */
export interface ThrownError {
  readonly name: string;
  readonly message: string;
  /** Of a HoldfastError that a model threw, with its `data`: `model.rate_limited`. */
  readonly code?: string;
  readonly data?: Json;
  readonly stack?: string;
}

/** A call was accepted. One that has no end waits for a person, or for a call before it that does. */
export interface ToolCallStartEvent {
  readonly type: 'tool-call-start';
  readonly callId: string;
  /** The call that this one is nested in. */
  readonly parentId?: string | undefined;
  readonly name: string;
  readonly rawArguments: unknown;
  readonly atMs: number;
}

/** What a tool said by `context.progress`. */
export interface ToolCallProgressEvent {
  readonly type: 'tool-call-progress';
  readonly callId: string;
  readonly name: string;
  readonly message: string;
}

/** A sign of life, given by `context.beat`. */
export interface ToolCallBeatEvent {
  readonly type: 'tool-call-beat';
  readonly callId: string;
  readonly name: string;
  readonly atMs: number;
}

/** What an abandoned tool came to after its call had ended: kept for people, and nothing it did counts. */
export interface ToolCallLateEvent {
  readonly type: 'tool-call-late';
  readonly callId: string;
  readonly name: string;
  readonly answer: 'returned' | 'threw';
  /** What it returned, when that is JSON of at most 64 KiB. */
  readonly value?: Json | undefined;
  /** What it threw, or why there is no `value`. */
  readonly message?: string | undefined;
  readonly atMs: number;
}

/** An attempt of a call failed, and its tool is going to be run again. What the attempt had staged is dropped. */
export interface ToolCallRetryEvent {
  readonly type: 'tool-call-retry';
  readonly callId: string;
  /** The call that this one is nested in. */
  readonly parentId?: string | undefined;
  readonly name: string;
  /** The one that failed, counted from 1. */
  readonly attempt: number;
  readonly code: string;
  readonly message: string;
  /** Until the next one. */
  readonly delayMs: number;
  readonly atMs: number;
}

/** What a log keeps of arguments that were refused and have more than 64 KiB. */
export interface OmittedArguments {
  /** Characters. */
  readonly length: number;
  /** SHA-256 in hex; of a session with a redactor that redactor's own digest, or none. */
  readonly digest?: string | undefined;
}

/** Exactly one for every accepted call. */
export interface ToolCallEndEvent {
  readonly type: 'tool-call-end';
  readonly callId: string;
  /** The call that this one is nested in: its events and changes count when that one commits, whose record repeats them. */
  readonly parentId?: string | undefined;
  /** The run, named by the number of records before it, and its turn, counted from 1; absent for a direct call. */
  readonly run?: number | undefined;
  readonly turn?: number | undefined;
  readonly name: string;
  /** As it came, text or value. In a record null, with `omitted`, where it was refused and has more than 64 KiB. */
  readonly rawArguments: Json;
  readonly omitted?: OmittedArguments | undefined;
  /** Parsed and validated; absent when it never got that far. */
  readonly input?: Json | undefined;
  readonly decisions: readonly PolicyDecision[];
  /** What the call would do, where the host makes facts: of calls that may change something, and where a policy looked. */
  readonly facts?: RecordedFacts | undefined;
  /** How an ask was answered, and by whom: whom `answerApproval` names, else `person`; `host` where asking failed, which is a no. */
  readonly approval?: { readonly type: 'approve' | 'deny'; readonly by: string } | undefined;
  /** A record has of its long texts only what does not follow from the value: `readOutcome` gives all of it. */
  readonly outcome: Outcome;
  /** Staged events that were committed; empty unless the outcome is `ok`. */
  readonly events: readonly SessionEvent[];
  /** Operations on policies' states that were committed: unless the outcome is `ok`, those that `reserve` gave. */
  readonly changes?: readonly Json[] | undefined;
  /** Keys of staged resources that were written, by resource; empty unless the outcome is `ok`. */
  readonly writes: readonly {
    readonly resource: string;
    readonly key: string;
    readonly change: 'created' | 'changed' | 'removed';
  }[];
  /** What staged resources were given to `prepare`: its presence in the log says that what they prepared counts. */
  readonly mark?: string | undefined;
  readonly error?: ThrownError | undefined;
  /** Attempts that failed before the last one, which the outcome tells of; absent where there was one. */
  readonly retries?: readonly { readonly code: string; readonly message: string; readonly atMs: number }[] | undefined;
  /** Work that did not stop when told to: its late result is dropped. */
  readonly abandoned?: boolean | undefined;
  readonly startedAtMs: number;
  /** Without the time that a person took to answer; of a call whose process ended under it, until that was settled. */
  readonly durationMs: number;
  /** That a person took to answer, between start and end; absent for none. */
  readonly waitedMs?: number | undefined;
}

/** What the model is told during a run by others than the user and its tools: one message, of all `given` in order. */
export interface FeedbackEvent {
  readonly type: 'feedback';
  readonly run: number;
  readonly turn: number;
  /** Feedback providers after a turn; the completion checker, or whoever reads the output, when the model had stopped. */
  readonly source: 'provider' | 'completion' | 'output';
  /** The prompt's id, and how many of its calls had ended in the session. */
  readonly prompt: string;
  readonly calls: number;
  readonly given: readonly { readonly name: string; readonly text: string }[];
  /** Those that could not say anything, and why. */
  readonly failed: readonly { readonly name: string; readonly message: string }[];
}

/**
 * What observers of a run or of a direct call see, in order. Times are milliseconds since 1970. What a call that began early tells is
 * kept back until it is certain that the call counts.
 */
export type RunEvent =
  | {
      readonly type: 'run-start';
      readonly sessionId: string;
      /** The run as its records name it: how many records there were before it. */
      readonly run: number;
      readonly model: string;
      readonly prompt: string;
      readonly input: string;
      readonly tools: readonly string[];
      readonly atMs: number;
    }
  /** A run that waited, or whose process ended, is gone on with. */
  | { readonly type: 'run-resume'; readonly run: number; readonly turn: number; readonly atMs: number }
  | { readonly type: 'turn-start'; readonly turn: number }
  | { readonly type: 'text-delta'; readonly turn: number; readonly text: string }
  | {
      readonly type: 'model-message';
      readonly run: number;
      readonly turn: number;
      readonly text: string;
      readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: Json }[];
      readonly reason: FinishReason | CutReason;
      readonly usage?: ModelUsage | undefined;
      readonly providerMetadata?: Json | undefined;
    }
  | ToolCallStartEvent
  | ToolCallProgressEvent
  | ToolCallBeatEvent
  | ToolCallLateEvent
  | ToolCallRetryEvent
  /** An event of a run or call in the session of `context.child()`. */
  | { readonly type: 'child-event'; readonly callId: string; readonly sessionId: string; readonly event: RunEvent }
  | { readonly type: 'approval-request'; readonly pending: PendingApproval }
  | {
      readonly type: 'approval-answer';
      readonly callId: string;
      readonly run?: number | undefined;
      readonly turn?: number | undefined;
      /** Of the question. */
      readonly digest: string;
      readonly answer: ApprovalAnswer;
      /** Who answered, as the host says. */
      readonly by?: string | undefined;
    }
  | ToolCallEndEvent
  | FeedbackEvent
  | {
      readonly type: 'run-end';
      readonly run: number;
      readonly status: RunStatus;
      readonly text: string;
      readonly turns: number;
      readonly usage: ModelUsage;
      readonly error?: ThrownError | undefined;
      /** What is missing, in sentences: what the completion checker still missed, and that the last message was cut. */
      readonly unfinished?: string | undefined;
      /** Why the last message, a text, was cut. */
      readonly cut?: CutReason | undefined;
      readonly atMs: number;
    };
