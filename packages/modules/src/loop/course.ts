import {
  type HoldfastError,
  isHoldfastError,
  type JsonObject,
  type ModelUsage,
  type PendingApproval,
} from '@holdfast/core';
import { leaveWaiting, type NamedCall } from './calls.ts';
import {
  type LoopCall,
  type LoopProblem,
  type Stop,
  stopProblem,
  type ToolLoopResult,
  toLoopProblem,
} from './result.ts';

/** The progress of a loop. JSON. */
export interface Course {
  /** The number of rounds, without a final request for an answer. */
  iterations: number;
  /** The number of requests to the model. */
  requests: number;
  usage: ModelUsage;
  readonly calls: LoopCall[];
  /** The outputs in the last answer, if it was not accepted. */
  partial: JsonObject;
}

export function newCourse(): Course {
  return { iterations: 0, requests: 0, usage: { inputTokens: 0, outputTokens: 0 }, calls: [], partial: {} };
}

export function addUsage(usage: ModelUsage, more: ModelUsage | undefined): ModelUsage {
  return {
    inputTokens: usage.inputTokens + (more?.inputTokens ?? 0),
    outputTokens: usage.outputTokens + (more?.outputTokens ?? 0),
  };
}

/** The calls of one round, and other data that its protocol needs to resume it. JSON. */
export interface LoopTurn {
  readonly calls: readonly NamedCall[];
}

/** How a run ended. */
export type LoopEnd<Turn = LoopTurn> =
  | {
      readonly type: 'answered';
      readonly reason: 'completed' | 'submit' | 'forced-submit';
      readonly output: unknown;
      readonly reasoning?: string | undefined;
    }
  | {
      readonly type: 'unanswered';
      readonly reason: 'max-iterations' | 'failed';
      readonly error: HoldfastError | LoopProblem;
    }
  | { readonly type: 'stopped'; readonly reason: Exclude<Stop, 'suspended'> }
  | {
      readonly type: 'suspended';
      readonly pending: readonly PendingApproval[];
      /** The calls of the turn that have not ended. */
      readonly waiting: readonly NamedCall[];
      readonly turn: Turn;
    };

/** Creates the result of a run. `toState`: the state for resuming it. */
export function toResult<Turn>(
  end: LoopEnd<Turn>,
  { iterations, usage, calls, partial }: Course,
  toState: (turn: Turn) => JsonObject,
): ToolLoopResult {
  const output = Object.freeze(partial);
  const common = { iterations, usage: Object.freeze(usage), calls: Object.freeze([...calls]), output };
  switch (end.type) {
    case 'answered': {
      const { reason, reasoning } = end;
      return { ...common, reason, output: end.output, ...(reasoning === undefined ? {} : { reasoning }) };
    }
    case 'unanswered': {
      const { reason, error } = end;
      return { ...common, reason, error: isHoldfastError(error) ? toLoopProblem(error) : error };
    }
    case 'stopped':
      return { ...common, reason: end.reason, error: stopProblem(end.reason) };
    case 'suspended': {
      const { pending, waiting, turn } = end;
      const asked = Object.freeze([...calls, ...leaveWaiting(waiting)]);
      const error = stopProblem('suspended');
      return { ...common, calls: asked, reason: 'suspended', error, pending, state: toState(turn) };
    }
    default:
      return end satisfies never;
  }
}
