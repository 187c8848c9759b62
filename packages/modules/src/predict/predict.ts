import type { Message, Model, ModelUsage } from '@holdfast/core';
import { checkDemos } from '../signature/demos.ts';
import { extraNamesOfCode, type PredictorType, type Program, type Tuning, toProgram } from '../signature/program.ts';
import type { Signature } from '../signature/signature.ts';
import { askProgram, readInput } from './ask.ts';
import { renderProgram } from './render.ts';

/** The answer of a predictor. Frozen. */
export interface Prediction<Output = unknown> {
  /** As the signature's output schema returns it, with defaults. */
  readonly output: Output;
  /** The reasoning before the answer; absent if it was not requested or is empty. */
  readonly reasoning?: string;
  /** The tokens of all requests; 0 if the provider reports none. */
  readonly usage: ModelUsage;
  /** The number of requests: 2 if the first answer was corrected. */
  readonly requests: number;
}

export interface InvokeOptions {
  /** Aborts the request; the promise rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Default: that of the predictor. */
  readonly model?: Model;
}

/** A callable signature. */
export interface Predictor<Input = unknown, Output = unknown> {
  readonly signature: Signature<Input, Output>;
  readonly predictorType: PredictorType;
  readonly program: Program<Input, Output>;
  readonly model: Model;
  /** The messages for the model: the same bytes for the same input. @throws HoldfastError `modules.invalid`. */
  render(input: Input): readonly Message[];
  /**
   * Asks the model. Rejects with HoldfastError `modules.invalid`, `modules.output_unparsable` (even the corrected answer lacks fields
   * or has invalid ones, or the schema of the outputs threw), `modules.failed` (with the model's error as `cause`), or the reason of
   * an aborted `signal`.
   */
  invoke(input: Input, options?: InvokeOptions): Promise<Prediction<Output>>;
}

export interface PredictorOptions extends Tuning {
  readonly model: Model;
}

/**
 * Asks a model for the outputs of a signature, and once more if its answer is incomplete or invalid.
 *
 * @throws HoldfastError `modules.invalid` (a demo that is not JSON, has an unknown field, or has an
 * invalid value; fields may be missing).
 */
export function predict<Input, Output>(
  signature: Signature<Input, Output>,
  { model, ...tuning }: PredictorOptions,
): Predictor<Input, Output> {
  return createPredictor(checkDemos(toProgram(signature, 'predict', tuning), extraNamesOfCode('predict')), model);
}

/**
 * Like `predict`, but the model writes a field `reasoning` before the outputs, unless the signature has an output of that name. An answer
 * without reasoning is accepted.
 *
 * @throws HoldfastError as `predict`, and `modules.invalid` if an input has that name.
 */
export function chainOfThought<Input, Output>(
  signature: Signature<Input, Output>,
  { model, ...tuning }: PredictorOptions,
): Predictor<Input, Output> {
  return createPredictor(
    checkDemos(toProgram(signature, 'chain_of_thought', tuning), extraNamesOfCode('chain_of_thought')),
    model,
  );
}

export function createPredictor<Input, Output>(
  program: Program<Input, Output>,
  model: Model,
): Predictor<Input, Output> {
  const { signature, predictorType } = program;
  return Object.freeze<Predictor<Input, Output>>({
    signature,
    predictorType,
    program,
    model,
    render: (input) => renderProgram(program, readInput(program, input)),
    async invoke(input, options = {}) {
      const { signal } = options;
      signal?.throwIfAborted();
      const asked = await askProgram(program, input, { model: options.model ?? model, signal });
      switch (asked.type) {
        case 'answer': {
          // Without extra fields, no answer is partial.
          const output = asked.output as Output;
          const { usage, requests } = asked;
          const reasoning = asked.extras['reasoning'];
          const shown = typeof reasoning === 'string' ? { reasoning } : {};
          return Object.freeze({ output, ...shown, usage: Object.freeze(usage), requests });
        }
        case 'failed':
          throw asked.error;
        case 'ended':
          throw signal?.reason;
        default:
          return asked satisfies never;
      }
    },
  });
}
