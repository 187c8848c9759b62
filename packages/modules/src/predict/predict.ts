import type { Message, Model, ModelUsage } from '@holdfast/core';
import { checkDemos } from '../signature/demos.ts';
import { extraNamesOfCode, type PredictorType, type Program, type Tuning, toProgram } from '../signature/program.ts';
import type { Signature } from '../signature/signature.ts';
import { askProgram, readInput } from './ask.ts';
import { renderProgram } from './render.ts';

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

export interface PredictorOptions extends Tuning {
  readonly model: Model;
}

/**
 * Asks a model for the outputs of a signature, and once more where its answer lacks some or has wrong ones.
 *
 * @throws HoldfastError `modules.description_unknown`, `modules.demo_invalid` (a demo that is no JSON, or has a field that the signature
 * does not have, or a value that it refuses; fields may be missing).
 */
export function predict<Input, Output>(
  signature: Signature<Input, Output>,
  { model, ...tuning }: PredictorOptions,
): Predictor<Input, Output> {
  return createPredictor(checkDemos(toProgram(signature, 'predict', tuning), extraNamesOfCode('predict')), model);
}

/**
 * As `predict`; the model writes a field `reasoning` before the outputs, unless the signature itself has an output of that name. An
 * answer without it is taken all the same.
 *
 * @throws HoldfastError as `predict`, and `modules.signature_invalid` where an input has that name.
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
          // Without extra fields no answer is partial.
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
