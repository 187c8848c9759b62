import { HoldfastError, type JsonObject, type Model, type Tool } from '@holdfast/core';
import type { Predictor } from '../predict/predict.ts';
import { fromPredictor } from './model.ts';
import { callKey, fromFunction, type PredictFunction, readInput, toolsKey } from './predictor.ts';
import type { ToolLoopResult } from './result.ts';
import { type LoopSettings, runLoop, wrappedState } from './run.ts';
import { createToolCatalog, putOver, type ToolCatalog, type ToolCatalogOptions } from './tool-catalog.ts';

/** Options of one run (session, signal, deadline, approvals and so on); they override those of the loop. */
export interface LoopRunOptions extends ToolCatalogOptions {
  /** Default: that of the predictor. */
  readonly model?: Model;
  /** Overrides that of the loop. */
  readonly maxIterations?: number;
}

export interface ToolLoopOptions extends ToolCatalogOptions {
  readonly tools: readonly Tool[] | ToolCatalog;
  /** Maximum number of rounds. Integer, default 5. */
  readonly maxIterations?: number | undefined;
}

export interface WrapToolsOptions extends ToolLoopOptions {
  /** The input to which tool results are appended, after the caller's own text. Default `context`. */
  readonly toolResultKey?: string | undefined;
}

/** Calls a predictor until it answers without requesting a tool. */
export interface ToolLoop<Input = unknown, Output = unknown> {
  /**
   * Failures during the run are in the result. Rejects for a wrong configuration: HoldfastError
   * `modules.invalid` (the input has a field that the loop adds), `options.invalid`, and the errors of
   * `executeToolCall`.
   */
  invoke(input: Input, options?: LoopRunOptions): Promise<ToolLoopResult<Output>>;
  /**
   * Resumes a suspended loop from its `state`, in any process that has the session's log open. Calls without an answer suspend it again. No
   * completed call is repeated. The state is as confidential as its input and results. A budget and a deadline count only from now on.
   *
   * Rejects with HoldfastError `modules.invalid` (the loop was already resumed), `work.under_way`,
   * `replay.failed`, `log.unreadable`, and as `invoke`.
   */
  resume(state: JsonObject, options?: LoopRunOptions): Promise<ToolLoopResult<Output>>;
}

/**
 * Lets a predictor call tools. Each round it gets `available_tools` and the results of its earlier calls, until it answers without a
 * `tool_call`. Calls run in order, at most 16 per answer. Newly registered tools are offered from the next round on. Failed calls are
 * reported like any other.
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
  // Input and output have the types of the predictor.
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
    '`toolResultKey` must consist of letters, digits and `_`, and must not be `available_tools` or `tool_call`.',
  );
}

export function isToolCatalog(tools: readonly Tool[] | ToolCatalog): tools is ToolCatalog {
  return !Array.isArray(tools) && typeof tools === 'object';
}
