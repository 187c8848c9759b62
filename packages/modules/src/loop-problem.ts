import { describeThrown, type HoldfastError, isHoldfastError } from '@holdfast/core';
import { isModuleError } from './module-error.ts';
import type { LoopProblem } from './tool-loop-result.ts';
import { cutText } from './tool-outcome.ts';

/** An error as a loop's result tells of it. */
export function toLoopProblem(error: HoldfastError): LoopProblem {
  const { code, message } = error;
  if (!isModuleError(error)) return Object.freeze({ code, message, recoverable: false });
  const { kind, recoverable } = error.data;
  return Object.freeze({ code, message, kind, recoverable });
}

/** As `toLoopProblem`, for whatever a predictor of the host threw. */
export function toPredictorProblem(thrown: unknown): LoopProblem {
  if (isHoldfastError(thrown)) return toLoopProblem(thrown);
  const message = `The predictor failed: ${cutText(describeThrown(thrown), 2_000)}`;
  return Object.freeze({ code: 'modules.model_failed', message, kind: 'ModelFailed', recoverable: true });
}

/** Why a loop ends that did not come to its own end. */
export type Stop = 'aborted' | 'deadline' | 'budget' | 'suspended';

const stops: Readonly<Record<Stop, LoopProblem>> = {
  aborted: { code: 'modules.aborted', message: 'The loop was ended by its signal.', recoverable: true },
  deadline: { code: 'modules.deadline', message: 'The time of the loop was over.', recoverable: true },
  budget: { code: 'modules.budget', message: 'Nothing was left of the budget of the loop.', recoverable: false },
  suspended: {
    code: 'modules.suspended',
    message: 'A call waits for a person; go on with `resume` and the `state` once it is answered.',
    recoverable: true,
  },
};

export function stopProblem(stop: Stop): LoopProblem {
  return Object.freeze({ ...stops[stop] });
}

/** Of a predictor that still asked for calls. */
export function iterationsProblem(iterations: number): LoopProblem {
  return Object.freeze({
    code: 'modules.max_iterations',
    message: `No answer after ${iterations} iterations: the last one still asked for a tool.`,
    kind: 'MaxIterationsReached',
    recoverable: false,
  });
}
