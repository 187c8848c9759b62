import type { Json } from '../basics/json.ts';
import type { CutReason, FinishReason, ModelUsage } from '../model/model.ts';
import type { SessionEvent } from '../state/slice.ts';
import type { PolicyDecision } from './decision.ts';
import type { RecordedFacts } from './facts.ts';
import type { ApprovalAnswer, Outcome, PendingApproval, RunStatus } from './outcome.ts';

/** A thrown error, for observers. The log omits the stack, and a model sees only the message. */
export interface ThrownError {
  readonly name: string;
  readonly message: string;
  /** Set for a HoldfastError thrown by a model, with its `data`: `model.rate_limited`. */
  readonly code?: string;
  readonly data?: Json;
  readonly stack?: string;
}

/** A call was accepted. Without an end event it waits for approval, or for an earlier call that does. */
export interface ToolCallStartEvent {
  readonly type: 'tool-call-start';
  readonly callId: string;
  /** The outer call. */
  readonly parentId?: string | undefined;
  readonly name: string;
  readonly rawArguments: unknown;
  readonly atMs: number;
}

/** A message from `context.progress`. */
export interface ToolCallProgressEvent {
  readonly type: 'tool-call-progress';
  readonly callId: string;
  readonly name: string;
  readonly message: string;
}

/** A heartbeat from `context.beat`. */
export interface ToolCallBeatEvent {
  readonly type: 'tool-call-beat';
  readonly callId: string;
  readonly name: string;
  readonly atMs: number;
}

/** The late result of an abandoned tool, kept for people; its changes are discarded. */
export interface ToolCallLateEvent {
  readonly type: 'tool-call-late';
  readonly callId: string;
  readonly name: string;
  readonly answer: 'returned' | 'threw';
  /** The returned value, if it is JSON of at most 64 KiB. */
  readonly value?: Json | undefined;
  /** The error, or why there is no `value`. */
  readonly message?: string | undefined;
  readonly atMs: number;
}

/** An attempt failed and the tool will run again. The attempt's staged changes are discarded. */
export interface ToolCallRetryEvent {
  readonly type: 'tool-call-retry';
  readonly callId: string;
  /** The outer call. */
  readonly parentId?: string | undefined;
  readonly name: string;
  /** The failed attempt, counted from 1. */
  readonly attempt: number;
  readonly code: string;
  readonly reason?: string | undefined;
  readonly message: string;
  /** Delay before the next attempt. */
  readonly delayMs: number;
  readonly atMs: number;
}

/** The logged replacement for refused arguments over 64 KiB. */
export interface OmittedArguments {
  /** Characters. */
  readonly length: number;
  /** SHA-256 in hex; with a redactor its keyed digest, or none. */
  readonly digest?: string | undefined;
}

/** One per accepted call. */
export interface ToolCallEndEvent {
  readonly type: 'tool-call-end';
  readonly callId: string;
  /** The outer call: this call's events and changes count when that one commits, whose record repeats them. */
  readonly parentId?: string | undefined;
  /** The run, identified by the number of records before it, and its turn, counted from 1; absent for a direct call. */
  readonly run?: number | undefined;
  readonly turn?: number | undefined;
  readonly name: string;
  /** The raw text or value. Null in a record with `omitted`: refused arguments over 64 KiB. */
  readonly rawArguments: Json;
  readonly omitted?: OmittedArguments | undefined;
  /** Validated input; absent if the call ended before that. */
  readonly input?: Json | undefined;
  readonly decisions: readonly PolicyDecision[];
  /** The call's effects, if the host has facts: for calls that may change something, and if a policy read them. */
  readonly facts?: RecordedFacts | undefined;
  /** The answer to an ask. `by`: the name passed to `answerApproval`, else `person`; `host` if asking failed, which denies. */
  readonly approval?: { readonly type: 'approve' | 'deny'; readonly by: string } | undefined;
  /** In a record, long texts that can be derived are left out; `readOutcome` restores them. */
  readonly outcome: Outcome;
  /** Committed events; empty unless the outcome is `ok`. */
  readonly events: readonly SessionEvent[];
  /** Committed operations on policy states; unless the outcome is `ok`, those of `reserve`. */
  readonly changes?: readonly Json[] | undefined;
  /** Written keys of staged resources, by resource; empty unless the outcome is `ok`. */
  readonly writes: readonly {
    readonly resource: string;
    readonly key: string;
    readonly change: 'created' | 'changed' | 'removed';
  }[];
  /** The mark passed to `prepare` of staged resources: if it is in the log, the prepared changes count. */
  readonly mark?: string | undefined;
  readonly error?: ThrownError | undefined;
  /** Failed attempts before the last one, which is in the outcome; absent for a single attempt. */
  readonly retries?:
    | readonly {
        readonly code: string;
        readonly reason?: string | undefined;
        readonly message: string;
        readonly atMs: number;
      }[]
    | undefined;
  /** True if work did not stop when told to; its late result is dropped. */
  readonly abandoned?: boolean | undefined;
  readonly startedAtMs: number;
  /** Excludes the time of an approval. For an interrupted call: until it was settled. */
  readonly durationMs: number;
  /** Time spent waiting for approval; absent for none. */
  readonly waitedMs?: number | undefined;
}

/** Messages to the model during a run that are not from the user or tools: one message of all `given`, in order. */
export interface FeedbackEvent {
  readonly type: 'feedback';
  readonly run: number;
  readonly turn: number;
  /** `provider` after a turn; `completion` or `output` when the model had stopped. */
  readonly source: 'provider' | 'completion' | 'output';
  /** The prompt's id, and the number of its ended calls in the session. */
  readonly prompt: string;
  readonly calls: number;
  readonly given: readonly { readonly name: string; readonly text: string }[];
  /** Providers that failed, and why. */
  readonly failed: readonly { readonly name: string; readonly message: string }[];
}

/** The events of a run or direct call, in order. Times are milliseconds since 1970. Events of an early call are held back until it counts. */
export type RunEvent =
  | {
      readonly type: 'run-start';
      readonly sessionId: string;
      /** The run, identified by the number of records before it. */
      readonly run: number;
      readonly model: string;
      readonly prompt: string;
      readonly input: string;
      readonly tools: readonly string[];
      readonly atMs: number;
    }
  /** A suspended or interrupted run is resumed. */
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
      /** The question's digest. */
      readonly digest: string;
      readonly answer: ApprovalAnswer;
      /** Who answered, according to the host. */
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
      /** Missing parts, in sentences: open points of the completion checker, and a cut last message. */
      readonly unfinished?: string | undefined;
      /** Why the last message was cut, if it is text. */
      readonly cut?: CutReason | undefined;
      readonly atMs: number;
    };
