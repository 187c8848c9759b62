import { defineTool, type Json, type JsonObject, type Tool, type ToolContext } from '@holdfast/core';
import type { PredictFunction, ToolLoopResult } from '@holdfast/modules';

/** A predictor's answer: JSON, or a function of the input. */
export type Answer = JsonObject | ((input: JsonObject, signal: AbortSignal) => JsonObject | Promise<JsonObject>);

export type Playing = PredictFunction & { readonly inputs: readonly JsonObject[] };

/** A predictor as a function, that gives its answers one after another and keeps what it was asked with. */
export function playing(...answers: readonly Answer[]): Playing {
  const inputs: JsonObject[] = [];
  const predict = async (input: JsonObject, { signal }: { readonly signal: AbortSignal }): Promise<JsonObject> => {
    inputs.push(input);
    const answer = answers[inputs.length - 1];
    if (answer === undefined) throw new Error(`Asked ${inputs.length} times, ${answers.length} answers.`);
    return typeof answer === 'function' ? await answer(input, signal) : answer;
  };
  return Object.assign(predict, { inputs });
}

/** A call of each of these tools. */
export function calls(...names: readonly string[]): JsonObject {
  return { tool_call: names.map((name) => ({ name })) };
}

export interface Noting {
  readonly tool: Tool;
  /** Idempotency keys of its runs. */
  readonly keys: readonly string[];
}

/** A tool that notes when it is run. */
export function noting(
  name: string,
  execute: (context: ToolContext) => unknown = () => `${name} done`,
  more: Partial<Omit<Tool, 'execute'>> = { effects: 'none', repeat: 'safe' },
): Noting {
  const keys: string[] = [];
  const tool = defineTool({
    name,
    description: 'Notes when it is run.',
    ...(more as { effects: 'none' }),
    execute: (_input, context) => {
      keys.push(context.idempotencyKey);
      return execute(context) as Json;
    },
  });
  return { tool, keys };
}

/** The lines that the predictor saw at its `at`th time, counted from 0. */
export function linesOf({ inputs }: { readonly inputs: readonly JsonObject[] }, at: number): readonly string[] {
  const context = inputs[at]?.['context'];
  return context === undefined ? [] : String(context).split('\n');
}

/** A result's account of its calls, one text each. */
export function summary({ calls: made }: ToolLoopResult): readonly string[] {
  return made.map(({ id, name, outcome, text }) => `${id} ${name} ${outcome?.kind ?? 'not run'}: ${text}`);
}

/** The result, which has to be one that waits. */
export function suspended(result: ToolLoopResult): Extract<ToolLoopResult, { readonly reason: 'suspended' }> {
  if (result.reason !== 'suspended') throw new Error(`The loop ended: ${result.reason}.`);
  return result;
}
