import type { Message, Model, ModelUsage } from '@holdfast/core';
import type { PredictorType, Program } from './program.ts';
import type { Signature } from './signature.ts';

/** What a predictor answered. Frozen. */
export interface Prediction<Output = unknown> {
  /** As the signature's output schema has it, defaults filled in. */
  readonly output: Output;
  /** What the model wrote before its answer; absent where it was not asked for, or wrote nothing. */
  readonly reasoning?: string;
  /** Of all requests; 0 where the provider reports none. */
  readonly usage: ModelUsage;
  /** How often the model was asked: twice where its first answer had to be corrected. */
  readonly requests: number;
}

export interface InvokeOptions {
  /** Ends the wait; the promise rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Default: the predictor's own. */
  readonly model?: Model;
}

/** A signature that can be called. */
export interface Predictor<Input = unknown, Output = unknown> {
  readonly signature: Signature<Input, Output>;
  readonly predictorType: PredictorType;
  readonly program: Program<Input, Output>;
  readonly model: Model;
  /** What the model is asked with: the same bytes for the same input. @throws HoldfastError `modules.input_invalid`. */
  render(input: Input): readonly Message[];
  /**
   * Asks the model. Rejects with HoldfastError `modules.input_invalid`, `modules.output_unparsable` (also the answer to a correction has
   * not all fields, or wrong ones; or the schema of the outputs threw), `modules.model_failed` (`cause` is what the model threw), and with
   * the reason of an aborted `signal`.
   */
  invoke(input: Input, options?: InvokeOptions): Promise<Prediction<Output>>;
}
