import type { PolicyDecision } from './decision.ts';
import type { Json } from './json.ts';
import type { FinishReason, ModelUsage } from './model.ts';
import type { ApprovalAnswer, Outcome, PendingApproval, RunStatus } from './outcome.ts';
import type { SessionEvent } from './slice.ts';

/** What was thrown, for observers. The log leaves the stack out, and a model sees the message only. */
export interface ThrownError {
  readonly name: string;
  readonly message: string;
  /** Of a HoldfastError that a model threw, with its `data`: `model.rate_limited`. */
  readonly code?: string;
  readonly data?: Json;
  readonly stack?: string;
}

export interface ToolCallStartEvent {
  readonly type: 'tool-call-start';
  readonly callId: string;
  readonly name: string;
  readonly rawArguments: unknown;
  readonly atMs: number;
}

export interface ToolCallProgressEvent {
  readonly type: 'tool-call-progress';
  readonly callId: string;
  readonly name: string;
  readonly message: string;
}

/** Exactly one for every accepted call. */
export interface ToolCallEndEvent {
  readonly type: 'tool-call-end';
  readonly callId: string;
  readonly name: string;
  /** As it came, text or value. */
  readonly rawArguments: Json;
  /** Parsed and validated; absent when it never got that far. */
  readonly input?: Json | undefined;
  readonly decisions: readonly PolicyDecision[];
  /** How an ask was answered, and by `person`. */
  readonly approval?: { readonly type: 'approve' | 'deny'; readonly by: string } | undefined;
  readonly outcome: Outcome;
  /** Staged events that were committed; empty unless the outcome is `ok`. */
  readonly events: readonly SessionEvent[];
  /** Operations on policies' states that were committed; empty unless the outcome is `ok`. */
  readonly changes?: readonly Json[] | undefined;
  /** Keys of staged resources that were written, by resource; empty unless the outcome is `ok`. */
  readonly writes: readonly {
    readonly resource: string;
    readonly key: string;
    readonly change: 'created' | 'changed' | 'removed';
  }[];
  readonly error?: ThrownError | undefined;
  /** Work that did not stop when told to: its late result is dropped. */
  readonly abandoned?: boolean | undefined;
  readonly startedAtMs: number;
  /** Without the time that a person took to answer. */
  readonly durationMs: number;
}

/** What observers of a run see, in order. */
export type RunEvent =
  | {
      readonly type: 'run-start';
      readonly sessionId: string;
      readonly model: string;
      readonly prompt: string;
      readonly input: string;
      readonly tools: readonly string[];
      readonly atMs: number;
    }
  | { readonly type: 'turn-start'; readonly turn: number }
  | { readonly type: 'text-delta'; readonly turn: number; readonly text: string }
  | {
      readonly type: 'model-message';
      readonly turn: number;
      readonly text: string;
      readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: Json }[];
      readonly reason: FinishReason;
      readonly usage?: ModelUsage | undefined;
    }
  | ToolCallStartEvent
  | ToolCallProgressEvent
  | { readonly type: 'approval-request'; readonly pending: PendingApproval }
  | { readonly type: 'approval-answer'; readonly callId: string; readonly answer: ApprovalAnswer }
  | ToolCallEndEvent
  | {
      readonly type: 'run-end';
      readonly status: RunStatus;
      readonly text: string;
      readonly turns: number;
      readonly usage: ModelUsage;
      readonly error?: ThrownError | undefined;
      readonly atMs: number;
    };
