import type { Json } from '@holdfast/core';
import type { DspyPredictorState } from './dspy-state.ts';

/** Which model a predictor was saved with. */
export interface DspyModelSuggestion {
  /** Of the predictor. */
  readonly path: string;
  readonly settings: Readonly<Record<string, string | number | boolean>>;
  /** How many other settings there were. Neither their names nor their values are told: they may be keys and addresses. */
  readonly leftOut: number;
}

/**
 * What is told of a saved LM. Keys, addresses and whatever a later version adds are not: a state is made to be passed around.
 *
 * Source: DSPy `dspy/predict/predict.py` (`lm`) and `dspy/clients/base_lm.py` (`dump_state`: the model, and whatever it was made with).
 */
const told: ReadonlySet<string> = new Set([
  'model',
  'model_type',
  'temperature',
  'top_p',
  'max_tokens',
  'max_completion_tokens',
  'reasoning_effort',
]);

export function suggestModels(predictors: readonly DspyPredictorState[]): readonly DspyModelSuggestion[] {
  return predictors.flatMap(({ path, languageModel }) => {
    if (languageModel === undefined) return [];
    const entries = Object.entries(languageModel);
    const settings = entries.filter(
      (entry): entry is [string, string | number | boolean] => told.has(entry[0]) && isShort(entry[1]),
    );
    return [{ path, settings: Object.fromEntries(settings), leftOut: entries.length - settings.length }];
  });
}

function isShort(value: Json): boolean {
  return typeof value === 'number' || typeof value === 'boolean' || (typeof value === 'string' && value.length <= 200);
}
