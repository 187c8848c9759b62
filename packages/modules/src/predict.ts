import type { Model } from '@holdfast/core';
import { askProgram, readInput } from './ask-program.ts';
import { checkDemos } from './check-demos.ts';
import { extraNamesOfCode } from './extra-fields.ts';
import type { Predictor } from './prediction.ts';
import { type Program, type Tuning, toProgram } from './program.ts';
import { renderProgram } from './render-program.ts';
import type { Signature } from './signature.ts';

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
