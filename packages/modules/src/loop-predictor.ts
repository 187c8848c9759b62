import {
  copyJson,
  type Deadline,
  deepFreeze,
  HoldfastError,
  isPlainObject,
  type Json,
  type JsonObject,
  type Model,
  type ModelUsage,
  type ToolCall,
} from '@holdfast/core';
import { askProgram } from './ask-program.ts';
import { toLoopProblem, toPredictorProblem } from './loop-problem.ts';
import { moduleError } from './module-error.ts';
import type { Predictor } from './prediction.ts';
import type { Program } from './program.ts';
import { readToolCall } from './read-tool-call.ts';
import type { SignatureField } from './signature.ts';
import type { LoopProblem } from './tool-loop-result.ts';

/** A predictor that a host wrote as a function: what it answers, and in `tool_call` what it wants to have called first. */
export type PredictFunction = (
  input: JsonObject,
  options: { readonly signal: AbortSignal },
) => Promise<JsonObject> | JsonObject;

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
  readonly ask: (input: RoundInput, options: AskOptions) => Promise<RoundAnswer>;
}

export const noUsage: ModelUsage = Object.freeze({ inputTokens: 0, outputTokens: 0 });

/** The names under which a loop and its predictor meet. */
const toolsKey = 'available_tools';
const callKey = 'tool_call';

export function fromFunction(predict: PredictFunction, contextKey: string): LoopPredictor {
  return {
    async ask({ input, tools, context }, { signal, onEnd }) {
      const given: JsonObject = { ...input, [toolsKey]: tools, ...(context === '' ? {} : { [contextKey]: context }) };
      try {
        const answered = await beforeEnd(async () => predict(given, { signal }), onEnd);
        return answered.type === 'ended' ? { type: 'ended', usage: noUsage } : readAnswer(answered.value);
      } catch (thrown) {
        if (signal.aborted) return { type: 'ended', usage: noUsage };
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
  const running = run();
  // Nobody hears any more how one ends that was left.
  void Promise.allSettled([running]);
  try {
    return await Promise.race([running.then((value) => ({ type: 'value' as const, value })), ended]);
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

const toolsField: SignatureField = deepFreeze({
  name: toolsKey,
  description: 'Tools that can be called, with the JSON Schema of their arguments.',
  schema: { type: 'array', items: { type: 'object' } },
  required: true,
});
const callField: SignatureField = deepFreeze({
  name: callKey,
  description:
    'The tool to call before answering, as JSON: {"name": "...", "args": {...}}, or a list of such calls; null when none is needed any more. With a call the other fields are not wanted yet.',
  schema: {},
  required: false,
});

/** @throws HoldfastError `options.invalid` for a predictor that has tools of its own, or whose field for the results is none of text. */
export function fromPredictor(predictor: Predictor, contextKey: string): LoopPredictor {
  const { program, model } = predictor;
  if (predictor.predictorType === 'react') {
    throw new HoldfastError(
      'options.invalid',
      'A predictor of type `react` calls tools itself: give it the tools, and do not wrap it.',
    );
  }
  const { signature } = program;
  const input = (name: string): SignatureField | undefined => signature.inputs.find((field) => field.name === name);
  const ownTools = input(toolsKey);
  const ownContext = input(contextKey);
  if (ownContext !== undefined && ownContext.schema['type'] !== 'string') {
    throw new HoldfastError(
      'options.invalid',
      `\`${contextKey}\` of \`${signature.name}\` has to be declared as text, as the results of tools are put there; or give the loop another \`toolResultKey\`.`,
    );
  }
  const takesText = ownTools === undefined || ownTools.schema['type'] === 'string';
  const ownCall = signature.outputs.some(({ name }) => name === callKey);
  const contextField: SignatureField = deepFreeze({
    name: contextKey,
    description: 'What is known so far, with the results of the tools that were called.',
    schema: { type: 'string' },
    required: false,
  });
  const extra = {
    inputs: [...(ownTools ? [] : [toolsField]), ...(ownContext ? [] : [contextField])],
    outputs: ownCall ? [] : [callField],
    isPartial: (outputs: JsonObject) => readToolCall(own(outputs, callKey)).type !== 'none',
  };
  return {
    async ask({ input: given, tools, context }, { signal, deadline, model: other }) {
      const { [contextKey]: _, ...rest } = given;
      const all: JsonObject = {
        ...rest,
        [toolsKey]: takesText ? listAsText(tools) : tools,
        ...(context === '' && ownContext?.required !== true ? {} : { [contextKey]: context }),
      };
      const isExtra = (name: string): boolean => extra.inputs.some((field) => field.name === name);
      const pick = (isPicked: (name: string) => boolean): JsonObject =>
        Object.fromEntries(Object.entries(all).filter(([name]) => isPicked(name)));
      const asked = await askProgram<JsonObject>(
        // What a signature's schema makes of an answer is what its author said it is.
        program as Program<unknown, JsonObject>,
        pick((name) => !isExtra(name)),
        { model: other ?? model, signal, deadline, extra: { ...extra, values: pick(isExtra) } },
      );
      const { usage } = asked;
      switch (asked.type) {
        case 'answer': {
          const { output, extras, calls } = asked;
          const reasoning = own(extras, 'reasoning');
          return {
            type: 'answer',
            output,
            toolCall: calls.length > 0 ? calls.map(toPlainCall) : own(ownCall ? output : extras, callKey),
            ...(typeof reasoning === 'string' ? { reasoning } : {}),
            usage,
          };
        }
        case 'failed':
          return { type: 'failed', error: toLoopProblem(asked.error), output: asked.output, usage };
        case 'ended':
          return { type: 'ended', usage };
        default:
          return asked satisfies never;
      }
    },
  };
}

const texts = new WeakMap<object, string>();

/** The list is the same one as long as the tools are. */
function listAsText(tools: Json): string {
  if (typeof tools !== 'object' || tools === null) return JSON.stringify(tools);
  const text = texts.get(tools) ?? JSON.stringify(tools);
  texts.set(tools, text);
  return text;
}

function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Without what is undefined in it, which is no JSON. */
function toPlainCall(call: ToolCall): object {
  return Object.fromEntries(Object.entries(call).filter(([, value]) => value !== undefined));
}
