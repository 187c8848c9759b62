import type { Json } from '../basics/json.ts';
import type { PolicyDecision } from './decision.ts';
import type { RecordedFacts } from './facts.ts';

/** How a tool call ended. Every kind but `ok` leaves state and staged resources unchanged. */
export type OutcomeKind =
  | 'ok'
  | 'failed'
  | 'invalid'
  | 'denied'
  | 'unknown-tool'
  | 'truncated'
  | 'timed-out'
  | 'cancelled'
  | 'in-doubt';

/** The outcome of one call: for the caller, and as `text` for the model. Frozen. */
export interface Outcome {
  readonly kind: OutcomeKind;
  readonly callId: string;
  /** The requested name. */
  readonly name: string;
  /** The stable code of anything but `ok`, e.g. `arguments.invalid`. */
  readonly code: string | undefined;
  /** The finer kind, if the code has several, e.g. `duplicate_key`. */
  readonly reason?: string | undefined;
  /** The tool's message, or the error. */
  readonly message: string;
  /** The value of a success, or the payload of a tool's failure; else null. */
  readonly value: Json;
  /** The value as text: from `renderResult`, or compact JSON without null fields. `''` for null. */
  readonly rendered: string;
  /**
   * The text for the model: the message, a blank line and, unless excluded, the rendered value. A text over `maxResultChars` is cut to
   * head and tail, with a sentence that says how much is missing.
   */
  readonly text: string;
  /** How often the tool ran, if more than once. */
  readonly attempts?: number | undefined;
}

/** The outcome of a tool, with the type of its value if known. */
export type ToolOutcome<Output> = unknown extends Output
  ? Outcome
  :
      | (Omit<Outcome, 'kind' | 'value'> & { readonly kind: 'ok'; readonly value: Output })
      | (Outcome & { readonly kind: Exclude<OutcomeKind, 'ok'> });

/** A call that waits for approval. */
export interface PendingApproval {
  readonly callId: string;
  /** The run and turn of the call; absent for a direct call. */
  readonly run?: number;
  readonly turn?: number;
  /** The outer call. */
  readonly parentId?: string;
  readonly name: string;
  readonly input: Json;
  readonly dangerous: boolean;
  /** Every ask, with its policy. */
  readonly asks: readonly PolicyDecision[];
  /** The facts of the call, if a policy read them. */
  readonly facts?: RecordedFacts;
  /** SHA-256, in hex, of everything an answer covers: call, arguments, tool and policies in force. If any of it changes, the answer is void. */
  readonly digest: string;
  /** SHA-256 of the declared tool, in hex; a grant is bound to it. */
  readonly toolDigest: string;
  /** When the question counts as denied. Milliseconds since 1970. */
  readonly expiresAtMs: number;
}

/**
 * A person's answer. `grant: true` allows further calls of the same tool in this session without approval; ignored if an ask of the
 * question is not grantable.
 */
export type ApprovalAnswer =
  | { readonly type: 'approve'; readonly grant?: boolean }
  | { readonly type: 'deny'; readonly reason?: string };

/**
 * How a run ended. `completed`: the model answered without a call; `cut` is set if the answer is incomplete. `suspended`: a call waits
 * for approval. `max-rounds`, `deadline`, `budget`: the limit was reached. `aborted`: by the caller's signal. `model-error`: the model
 * failed, or the prompt could not be rendered again.
 */
export type RunStatus = 'completed' | 'suspended' | 'max-rounds' | 'deadline' | 'budget' | 'aborted' | 'model-error';
