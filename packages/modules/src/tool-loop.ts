import type { JsonObject, Model, Tool } from '@holdfast/core';
import type { ToolLoopResult } from './tool-loop-result.ts';
import type { Toolset, ToolsetOptions } from './toolset.ts';

/** A run's own session, signal, time, approvals and so on, over those of the loop. */
export interface LoopRunOptions extends ToolsetOptions {
  /** Default: the predictor's own. */
  readonly model?: Model;
}

export interface ToolLoopOptions extends ToolsetOptions {
  readonly tools: readonly Tool[] | Toolset;
  /** How often the predictor is called at most. Integer, default 5. */
  readonly maxIterations?: number;
  /** Characters of one result that the predictor is shown; what is cut is said. Default 8,000. The log has all of it. */
  readonly maxResultCharacters?: number;
}

/** A predictor that is called until it answers without asking for a tool. */
export interface ToolLoop<Input = unknown, Output = unknown> {
  /**
   * Whatever goes wrong on the way is in the result. Rejects for a wrong configuration: HoldfastError `modules.input_invalid`,
   * `modules.input_reserved` (the caller's input has what the loop puts in itself), and what `executeToolCall` throws.
   */
  invoke(input: Input, options?: LoopRunOptions): Promise<ToolLoopResult<Output>>;
  /** Goes on with a loop that was suspended, by its `state`. @throws HoldfastError `modules.state_invalid`. */
  resume(state: JsonObject, options?: LoopRunOptions): Promise<ToolLoopResult<Output>>;
}
