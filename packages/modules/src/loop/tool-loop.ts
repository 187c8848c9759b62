import { HoldfastError, type JsonObject, type Model, type Tool } from '@holdfast/core';
import type { Predictor } from '../predict/predict.ts';
import { fromPredictor } from './model.ts';
import { callKey, fromFunction, type PredictFunction, readInput, toolsKey } from './predictor.ts';
import type { ToolLoopResult } from './result.ts';
import { type LoopSettings, runLoop, wrappedState } from './run.ts';
import { createToolCatalog, putOver, type ToolCatalog, type ToolCatalogOptions } from './tool-catalog.ts';

/** A run's own session, signal, time, approvals and so on, over those of the loop. */
export interface LoopRunOptions extends ToolCatalogOptions {
  /** Default: the predictor's own. */
  readonly model?: Model;
  /** In place of the loop's own. */
  readonly maxIterations?: number;
}

export interface ToolLoopOptions extends ToolCatalogOptions {
  readonly tools: readonly Tool[] | ToolCatalog;
  /** How often the predictor is called at most. Integer, default 5. */
  readonly maxIterations?: number | undefined;
}

export interface WrapToolsOptions extends ToolLoopOptions {
  /** The input in which the predictor finds what came of its calls, behind what the caller has put there. Default `context`. */
  readonly toolResultKey?: string | undefined;
}

/** A predictor that is called until it answers without asking for a tool. */
export interface ToolLoop<Input = unknown, Output = unknown> {
  /**
   * Whatever goes wrong on the way is in the result. Rejects for a wrong configuration: HoldfastError `modules.input_invalid`,
   * `modules.input_reserved` (the caller's input has what the loop puts in itself), `options.invalid`, and what `executeToolCall` throws.
   */
  invoke(input: Input, options?: LoopRunOptions): Promise<ToolLoopResult<Output>>;
  /**
   * Goes on with a loop that was suspended, by its `state`, in any process that has the session's log open. Calls that wait are still
   * suspended where they have no answer. Nothing that was run is run again. The state is as confidential as the input and the results
   * that are in it. A budget and a time count only what follows.
   *
   * Rejects with HoldfastError `modules.state_invalid`, `modules.state_used` (the loop was gone on with before), `call.under_way`,
   * `replay.no_content`, `log.not_readable`, and as `invoke`.
   */
  resume(state: JsonObject, options?: LoopRunOptions): Promise<ToolLoopResult<Output>>;
}

/**
 * Lets a predictor call tools: it is asked with `available_tools` and, from the second time on, with what came of its calls, until it
 * answers without a `tool_call`. Calls run one after another, at most 16 of one answer; tools that are registered meanwhile are
 * offered from the next time on. A call that fails is told like any other.
 *
 * @throws HoldfastError `options.invalid`, and as `createToolCatalog`.
 */
export function wrapTools(predict: PredictFunction, options: WrapToolsOptions): ToolLoop<JsonObject, JsonObject>;
export function wrapTools<Input, Output>(
  predict: Predictor<Input, Output>,
  options: WrapToolsOptions,
): ToolLoop<Input, Output>;
export function wrapTools(
  predict: Predictor | PredictFunction,
  { tools, maxIterations = 5, toolResultKey = 'context', ...options }: WrapToolsOptions,
): ToolLoop<never, never> {
  checkCount('maxIterations', maxIterations);
  checkKey(toolResultKey);
  const catalog = isToolCatalog(tools) ? tools : createToolCatalog(tools, options);
  const predictor =
    typeof predict === 'function' ? fromFunction(predict, toolResultKey) : fromPredictor(predict, toolResultKey);
  const toSettings = (limit: number = maxIterations): LoopSettings => {
    checkCount('maxIterations', limit);
    return { catalog, predictor, maxIterations: limit };
  };
  const loop: ToolLoop<unknown> = {
    invoke: async (input, { maxIterations: limit, ...run } = {}) =>
      runLoop(toSettings(limit), readInput(input, toolResultKey), putOver(options, run)),
    async resume(given, { maxIterations: limit, ...run } = {}) {
      const state = wrappedState.read(given, predictor.signature);
      const { context } = readInput(state.input, toolResultKey);
      return await runLoop(toSettings(limit), { input: state.input, context, state }, putOver(options, run));
    },
  };
  // Input and output are those of the predictor.
  return Object.freeze(loop) as ToolLoop<never, never>;
}

/** @throws HoldfastError `options.invalid`. */
export function checkCount(name: string, value: number): void {
  if (Number.isInteger(value) && value >= 1) return;
  throw new HoldfastError('options.invalid', `\`${name}\` must be a positive integer, got ${String(value)}.`);
}

const keyPattern = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
const ownKeys: ReadonlySet<string> = new Set([toolsKey, callKey]);

function checkKey(key: unknown): void {
  if (typeof key === 'string' && keyPattern.test(key) && !ownKeys.has(key)) return;
  throw new HoldfastError(
    'options.invalid',
    '`toolResultKey` must be a name of letters, digits and `_`, and neither `available_tools` nor `tool_call`.',
  );
}

export function isToolCatalog(tools: readonly Tool[] | ToolCatalog): tools is ToolCatalog {
  return !Array.isArray(tools) && typeof tools === 'object';
}
