import {
  copyJson,
  type Deadline,
  HoldfastError,
  isPlainObject,
  type Json,
  type JsonObject,
  type Model,
  type ModelUsage,
} from '@holdfast/core';
import { moduleError } from '../signature/problems.ts';
import { type LoopProblem, toLoopProblem, toPredictorProblem } from './result.ts';

/** What a round of a loop gives its predictor. */
export interface RoundInput {
  /** The caller's. */
  readonly input: JsonObject;
  readonly tools: Json;
  /** `''` as long as there is none. */
  readonly context: string;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  /** As that of a `Caller`; costs less than a listener of the signal. */
  readonly onEnd: (listener: () => void) => () => void;
  readonly deadline: Deadline | undefined;
  readonly model: Model | undefined;
}

/** What a predictor answered in one round. */
export type RoundAnswer =
  | {
      readonly type: 'answer';
      readonly output: JsonObject;
      /** For `readToolCall`. */
      readonly toolCall: unknown;
      readonly reasoning?: string | undefined;
      readonly usage: ModelUsage;
    }
  | { readonly type: 'failed'; readonly error: LoopProblem; readonly output: JsonObject; readonly usage: ModelUsage }
  | { readonly type: 'ended'; readonly usage: ModelUsage };

/** What a loop asks in each round. */
export interface LoopPredictor {
  /** Of its signature; null for a function. */
  readonly signature: string | null;
  readonly ask: (input: RoundInput, options: AskOptions) => Promise<RoundAnswer>;
}

const noUsage: ModelUsage = Object.freeze({ inputTokens: 0, outputTokens: 0 });

/** The names under which a loop and its predictor meet. */
export const toolsKey = 'available_tools';
export const callKey = 'tool_call';

/** The caller's input, copied, and its context. @throws HoldfastError `modules.input_invalid`, `modules.input_reserved`. */
export function readInput(
  given: unknown,
  contextKey: string,
): { readonly input: JsonObject; readonly context: string } {
  const copied = copyJson(given);
  if (!copied.ok || !isPlainObject(copied.value)) {
    const problem = copied.ok ? 'it is no object' : copied.problem;
    throw new HoldfastError('modules.input_invalid', `The input has to be one JSON object: ${problem}.`);
  }
  if (Object.hasOwn(copied.value, toolsKey)) {
    throw new HoldfastError(
      'modules.input_reserved',
      `The input has \`${toolsKey}\`, which the loop puts in itself; leave it out, or name it otherwise.`,
      { data: { field: toolsKey } },
    );
  }
  const input = copied.value as JsonObject;
  const context = Object.hasOwn(input, contextKey) ? input[contextKey] : undefined;
  if (context === undefined || context === null) return { input, context: '' };
  if (typeof context === 'string') return { input, context };
  throw new HoldfastError(
    'modules.input_invalid',
    `\`${contextKey}\` of the input has to be text, as the results of tools are put behind it; give the loop another \`toolResultKey\`.`,
    { data: { field: contextKey } },
  );
}

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
