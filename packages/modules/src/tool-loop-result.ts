import type { Json, JsonObject, ModelUsage, Outcome, PendingApproval } from '@holdfast/core';
import type { ModuleErrorKind } from './module-error.ts';

/** A call that a predictor asked for. */
export interface LoopCall {
  /**
   * `call_<round>_<index>`, both counted from 0; with what a provider gave in place of it, if that is free. In the session it is
   * `outcome.callId`.
   */
  readonly id: string;
  readonly name: string;
  /** As it was asked for. */
  readonly args: Json;
  /** Absent for a call that was not run. */
  readonly outcome?: Outcome;
  /** What the predictor is told of it. */
  readonly text: string;
}

/** Why a loop ended without an answer. */
export interface LoopProblem {
  readonly code: string;
  readonly message: string;
  readonly kind?: ModuleErrorKind;
  readonly recoverable: boolean;
}

interface LoopCourse {
  /** How often the predictor was called. */
  readonly iterations: number;
  /** All that were asked for, in order. */
  readonly calls: readonly LoopCall[];
  /** Of the model; 0 for a predictor that reports none. */
  readonly usage: ModelUsage;
}

/**
 * How a tool loop ended. `completed`: the predictor answered without a call. `submit`: it submitted its outputs; `forced-submit`: it did
 * so when it was asked for the last time. Everything else has an `error` and, in `output`, what the last answer had of the outputs.
 */
export type ToolLoopResult<Output = unknown> =
  | (LoopCourse & {
      readonly reason: 'completed' | 'submit' | 'forced-submit';
      readonly output: Output;
      readonly reasoning?: string;
      readonly error?: undefined;
    })
  | (LoopCourse & {
      readonly reason: 'max-iterations' | 'failed' | 'aborted' | 'deadline' | 'budget';
      readonly output: Partial<Output>;
      readonly error: LoopProblem;
    })
  | (LoopCourse & {
      readonly reason: 'suspended';
      readonly output: Partial<Output>;
      readonly error: LoopProblem;
      /** What waits for a person. */
      readonly pending: readonly PendingApproval[];
      /** JSON. With it the loop goes on, also in another process, once the session's log has the answers. */
      readonly state: JsonObject;
    });
