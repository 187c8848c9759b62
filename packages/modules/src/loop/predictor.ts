import { HoldfastError, type Json, type JsonObject, type Model, type ModelUsage } from '@holdfast/core';
import { copyJson, isPlainObject } from '@holdfast/core/internal';
import type { Deadline } from '@holdfast/core/types';
import { moduleError } from '../signature/problems.ts';
import { type LoopProblem, toLoopProblem, toPredictorProblem } from './result.ts';

/** The input of one round. */
export interface RoundInput {
  /** The caller's input. */
  readonly input: JsonObject;
  readonly tools: Json;
  /** `''` if there is none yet. */
  readonly context: string;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  /** As in `Caller`; cheaper than a listener of the signal. */
  readonly onEnd: (listener: () => void) => () => void;
  readonly deadline: Deadline | undefined;
  readonly model: Model | undefined;
}

/** The answer of a predictor in one round. */
export type RoundAnswer =
  | {
      readonly type: 'answer';
      readonly output: JsonObject;
      /** The input of `readToolCall`. */
      readonly toolCall: unknown;
      readonly reasoning?: string | undefined;
      readonly usage: ModelUsage;
    }
  | { readonly type: 'failed'; readonly error: LoopProblem; readonly output: JsonObject; readonly usage: ModelUsage }
  | { readonly type: 'ended'; readonly usage: ModelUsage };

/** The predictor of a loop, called once per round. */
export interface LoopPredictor {
  /** The name of its signature; null for a function. */
  readonly signature: string | null;
  readonly ask: (input: RoundInput, options: AskOptions) => Promise<RoundAnswer>;
}

const noUsage: ModelUsage = Object.freeze({ inputTokens: 0, outputTokens: 0 });

/** The names of fields shared by a loop and its predictor. */
export const toolsKey = 'available_tools';
export const callKey = 'tool_call';

/**
 * A copy of the caller's input, and its context. @throws HoldfastError `modules.invalid`.
 */
export function readInput(
  given: unknown,
  contextKey: string,
): { readonly input: JsonObject; readonly context: string } {
  const copied = copyJson(given);
  if (!copied.ok || !isPlainObject(copied.value)) {
    const problem = copied.ok ? 'it is not an object' : copied.problem;
    throw new HoldfastError('modules.invalid', `The input must be a JSON object: ${problem}.`, {
      data: { reason: 'input' },
    });
  }
  if (Object.hasOwn(copied.value, toolsKey)) {
    throw new HoldfastError(
      'modules.invalid',
      `The input has \`${toolsKey}\`, which the loop adds itself. Remove or rename it.`,
      { data: { reason: 'input_reserved', field: toolsKey } },
    );
  }
  const input = copied.value as JsonObject;
  const context = Object.hasOwn(input, contextKey) ? input[contextKey] : undefined;
  if (context === undefined || context === null) return { input, context: '' };
  if (typeof context === 'string') return { input, context };
  throw new HoldfastError(
    'modules.invalid',
    `\`${contextKey}\` of the input must be text, because tool results are appended to it. Otherwise pass another \`toolResultKey\`.`,
    { data: { reason: 'input', field: contextKey } },
  );
}

/** A predictor written as a function. Returns its outputs, and in `tool_call` the call to make first, if any. */
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
    // `race` also handles a rejection that comes after the end.
    return await Promise.race([run().then((value) => ({ type: 'value' as const, value })), ended]);
  } finally {
    stopListening();
  }
}

function readAnswer(answered: unknown): RoundAnswer {
  if (!isPlainObject(answered)) return unusable('is not an object');
  // A tool call that is not JSON is reported as such to the predictor; the outputs must be JSON.
  const { [callKey]: toolCall, ...rest } = answered;
  const output = copyJson(rest);
  if (!output.ok) return unusable(`is not JSON: ${output.problem}`);
  return { type: 'answer', output: output.value as JsonObject, toolCall, usage: noUsage };
}

function unusable(problem: string): RoundAnswer {
  const error = moduleError('OutputUnparsable', `The answer of the predictor ${problem}. It must be a JSON object.`);
  return { type: 'failed', error: toLoopProblem(error), output: {}, usage: noUsage };
}
