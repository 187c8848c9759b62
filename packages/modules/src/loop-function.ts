import { copyJson, isPlainObject, type JsonObject } from '@holdfast/core';
import { type AskOptions, callKey, type LoopPredictor, noUsage, type RoundAnswer, toolsKey } from './loop-predictor.ts';
import { toLoopProblem, toPredictorProblem } from './loop-problem.ts';
import { moduleError } from './module-error.ts';

/** A predictor that a host wrote as a function: what it answers, and in `tool_call` what it wants to have called first. */
export type PredictFunction = (
  input: JsonObject,
  options: { readonly signal: AbortSignal },
) => Promise<JsonObject> | JsonObject;

export function fromFunction(predict: PredictFunction, contextKey: string): LoopPredictor {
  return {
    signature: null,
    async ask({ input, tools, context }, { signal, onEnd }) {
      const given: JsonObject = { ...input, [toolsKey]: tools, ...(context === '' ? {} : { [contextKey]: context }) };
      try {
        const answered = await beforeEnd(async () => predict(given, { signal }), onEnd);
        return answered.type === 'ended' ? { type: 'ended', usage: noUsage } : readAnswer(answered.value);
      } catch (thrown) {
        return { type: 'failed', error: toPredictorProblem(thrown), output: {}, usage: noUsage };
      }
    },
  };
}

/** Does not wait for a function that ignores its signal. */
async function beforeEnd<Value>(
  run: () => Promise<Value>,
  onEnd: AskOptions['onEnd'],
): Promise<{ readonly type: 'value'; readonly value: Value } | { readonly type: 'ended' }> {
  let stopListening: () => void = () => undefined;
  const ended = new Promise<{ readonly type: 'ended' }>((resolve) => {
    stopListening = onEnd(() => resolve({ type: 'ended' }));
  });
  try {
    // Whoever races is heard, also one that was left and fails later.
    return await Promise.race([run().then((value) => ({ type: 'value' as const, value })), ended]);
  } finally {
    stopListening();
  }
}

function readAnswer(answered: unknown): RoundAnswer {
  if (!isPlainObject(answered)) return unusable('is no object');
  // One that is no JSON is told to the predictor as what it is, beside outputs that are.
  const { [callKey]: toolCall, ...rest } = answered;
  const output = copyJson(rest);
  if (!output.ok) return unusable(`is no JSON: ${output.problem}`);
  return { type: 'answer', output: output.value as JsonObject, toolCall, usage: noUsage };
}

function unusable(problem: string): RoundAnswer {
  const error = moduleError(
    'modules.output_unparsable',
    `What the predictor answered ${problem}; it has to be one JSON object.`,
  );
  return { type: 'failed', error: toLoopProblem(error), output: {}, usage: noUsage };
}
