import { HoldfastError, type Json, type JsonObject, type ToolCall } from '@holdfast/core';
import { deepFreeze } from '@holdfast/core/internal';
import { askProgram } from '../predict/ask.ts';
import type { Predictor } from '../predict/predict.ts';
import type { Program } from '../signature/program.ts';
import type { SignatureField } from '../signature/signature.ts';
import { callKey, type LoopPredictor, toolsKey } from './predictor.ts';
import { own, readToolCall } from './read-tool-call.ts';
import { toLoopProblem } from './result.ts';

const toolsField: SignatureField = deepFreeze({
  name: toolsKey,
  description: 'The tools you can call, with the JSON Schema of their arguments.',
  schema: { type: 'array', items: { type: 'object' } },
  required: true,
});
const callField: SignatureField = deepFreeze({
  name: callKey,
  description:
    'The tool to call before you answer, as JSON: {"name": "...", "args": {...}}, or a list of such calls; null if no further call is needed. With a call, leave out the other fields.',
  schema: {},
  required: false,
});

/** @throws HoldfastError `options.invalid` for a predictor that calls tools itself, or whose field for results is not text. */
export function fromPredictor(predictor: Predictor, contextKey: string): LoopPredictor {
  const { program, model } = predictor;
  if (predictor.predictorType === 'react') {
    throw new HoldfastError(
      'options.invalid',
      'A `react` predictor calls tools itself. Pass it the tools instead of wrapping it.',
    );
  }
  const { signature } = program;
  const input = (name: string): SignatureField | undefined => signature.inputs.find((field) => field.name === name);
  const ownTools = input(toolsKey);
  const ownContext = input(contextKey);
  if (ownContext !== undefined && ownContext.schema['type'] !== 'string') {
    throw new HoldfastError(
      'options.invalid',
      `\`${contextKey}\` of \`${signature.name}\` must be declared as text, because tool results are added to it. Otherwise pass another \`toolResultKey\`.`,
    );
  }
  const takesText = ownTools === undefined || ownTools.schema['type'] === 'string';
  const ownCall = signature.outputs.some(({ name }) => name === callKey);
  const contextField: SignatureField = deepFreeze({
    name: contextKey,
    description: 'The facts so far, including the results of your tool calls.',
    schema: { type: 'string' },
    required: false,
  });
  const extra = {
    inputs: [...(ownTools ? [] : [toolsField]), ...(ownContext ? [] : [contextField])],
    outputs: ownCall ? [] : [callField],
    isPartial: (outputs: JsonObject) => readToolCall(own(outputs, callKey)).type !== 'none',
  };
  return {
    signature: signature.name,
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
        // By definition, the signature's schema returns the type that it declares.
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

/** Returns the same text as long as the tools are the same. */
function listAsText(tools: Json): string {
  if (typeof tools !== 'object' || tools === null) return JSON.stringify(tools);
  const text = texts.get(tools) ?? JSON.stringify(tools);
  texts.set(tools, text);
  return text;
}

/** Removes members that are undefined, which JSON does not have. */
function toPlainCall(call: ToolCall): object {
  return Object.fromEntries(Object.entries(call).filter(([, value]) => value !== undefined));
}
