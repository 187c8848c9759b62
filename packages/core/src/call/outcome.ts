import type { Json } from '../basics/json.ts';
import type { PolicyDecision } from './decision.ts';

/** How a tool call ended. Every kind but `ok` has left state and staged resources as they were. */
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

/** How one call ended: for the caller, and by `text` for the model. Frozen. */
export interface Outcome {
  readonly kind: OutcomeKind;
  readonly callId: string;
  /** The name that was asked for. */
  readonly name: string;
  /** The stable reason of anything but `ok`, e.g. `arguments.duplicate_key`. */
  readonly code: string | undefined;
  /** The tool's message, or what went wrong. */
  readonly message: string;
  /** The value of a success, or the payload of a tool's own failure; else null. */
  readonly value: Json;
  /** The value alone as text: by `renderResult`, or compact JSON without null fields. `''` when the value is null. */
  readonly rendered: string;
  /**
   * What the model gets: the message, a blank line and, unless it is excluded, the rendered value. Of more than `maxResultChars` head
   * and tail, with a sentence that says how much is missing.
   */
  readonly text: string;
  /** How often the tool was run, where that was more than once. */
  readonly attempts?: number | undefined;
}

/** How a call of a tool ended, with the value that the tool gives. Where that is not known, an `Outcome`. */
export type ToolOutcome<Output> = unknown extends Output
  ? Outcome
  :
      | (Omit<Outcome, 'kind' | 'value'> & { readonly kind: 'ok'; readonly value: Output })
      | (Outcome & { readonly kind: Exclude<OutcomeKind, 'ok'> });

/** A call that waits for a person. */
export interface PendingApproval {
  readonly callId: string;
  /** The run and turn that it is a call of; absent for a direct call. */
  readonly run?: number;
  readonly turn?: number;
  /** The call that this one is nested in. */
  readonly parentId?: string;
  readonly name: string;
  readonly input: Json;
  readonly dangerous: boolean;
  /** Every ask, with its policy. */
  readonly asks: readonly PolicyDecision[];
  /**
   * SHA-256, in hex, of everything that an answer is about: the call, its arguments, the tool and which policies are in force. An
   * answer counts as long as none of it is another.
   */
  readonly digest: string;
  /** SHA-256 of the tool as declared, in hex: what a grant is bound to. */
  readonly toolDigest: string;
  /** From then on the question counts as answered with no. Milliseconds since 1970. */
  readonly expiresAtMs: number;
}

/**
 * A person's answer. `grant: true` lets further calls of the same tool pass without asking, for this session; in the answer to a
 * question with an ask that cannot be granted it counts for nothing.
 */
export type ApprovalAnswer =
  | { readonly type: 'approve'; readonly grant?: boolean }
  | { readonly type: 'deny'; readonly reason?: string };

/**
 * How a run ended. `completed`: the model answered without a call; the run's `cut` says when that answer is not whole. `suspended`: a call waits for a person. `max-rounds`: the model sent
 * as many messages as it may. `deadline`: its time is over. `budget`: calls, tokens or wall time are used up. `aborted`: by the caller's
 * signal. `model-error`: the model could not be asked, because it failed or the prompt could not be rendered again.
 */
export type RunStatus = 'completed' | 'suspended' | 'max-rounds' | 'deadline' | 'budget' | 'aborted' | 'model-error';
