import {
  type HoldfastError,
  isHoldfastError,
  type Json,
  type JsonObject,
  type ModelUsage,
  type Outcome,
  type PendingApproval,
} from '@holdfast/core';
import { describeThrown, toPrintable, toReason } from '@holdfast/core/internal';
import { isModuleError, type ModuleError, type ModuleErrorKind, moduleError } from '../signature/problems.ts';

/** A call requested by a predictor. */
export interface LoopCall {
  /**
   * `call_<round>_<index>`, both counted from 0, or the id of a provider if it is not in use. The id in the session is `outcome.callId`.
   */
  readonly id: string;
  readonly name: string;
  /** As requested. */
  readonly args: Json;
  /** Absent if the call was not run. */
  readonly outcome?: Outcome;
  /** The text that the predictor gets. */
  readonly text: string;
}

/** The reason why a loop ended without an answer. */
export interface LoopProblem {
  readonly code: string;
  /** The finer kind, if the code has several. */
  readonly reason?: string | undefined;
  readonly message: string;
  readonly kind?: ModuleErrorKind;
  readonly recoverable: boolean;
}

interface LoopCourse {
  /** The number of rounds. */
  readonly iterations: number;
  /** All requested calls, in order. */
  readonly calls: readonly LoopCall[];
  /** The tokens used by the model; 0 if the predictor reports none. */
  readonly usage: ModelUsage;
}

/**
 * How a tool loop ended. `completed`: the predictor answered without a call. `submit`: it submitted its outputs. `forced-submit`: it
 * submitted them in the final request at the limit. All others have an `error`, and in `output` the outputs of the last answer as far as
 * there were any.
 */
export type ToolLoopResult<Output = unknown> =
  | (LoopCourse & {
      readonly reason: 'completed' | 'submit' | 'forced-submit';
      readonly output: Output;
      readonly reasoning?: string;
      readonly error?: undefined;
    })
  | (LoopCourse & {
      readonly reason: 'max-iterations' | 'failed' | 'aborted' | 'deadline' | 'budget';
      readonly output: Partial<Output>;
      readonly error: LoopProblem;
    })
  | (LoopCourse & {
      readonly reason: 'suspended';
      readonly output: Partial<Output>;
      readonly error: LoopProblem;
      /** The calls that wait for approval. */
      readonly pending: readonly PendingApproval[];
      /** JSON. Resumes the loop, in any process, once the session's log has the answers. */
      readonly state: JsonObject;
    });

/** The error of a call that did not succeed; its message is the text for the predictor. Pass only outcomes other than `ok`. */
export function toToolError(outcome: Outcome): ModuleError {
  const { kind, message } = describe(outcome);
  return moduleError(kind, message, {
    data: {
      tool: showName(outcome.name),
      outcome: outcome.kind,
      code: outcome.code ?? null,
      // A denial is final, and a call that may have taken effect must not be blindly repeated.
      ...(kind === 'ExecutionFailed' ? { recoverable: mayGoWell.has(outcome.kind) } : {}),
    },
  });
}

/** The text of an ended call for the predictor. */
export function tellOutcome(outcome: Outcome): string {
  return outcome.kind === 'ok' ? outcome.text : toToolError(outcome).message;
}

/** At most `maxCharacters` of `text`, followed by a note if it was cut. */
export function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const shown = text.slice(0, maxCharacters).replace(halfPair, '');
  return `${shown} [cut: ${shown.length} of ${text.length} characters shown]`;
}

/** A name written by a model, made safe for a message. */
export function showName(name: string): string {
  return toPrintable(cutText(name, maxNameCharacters));
}

const maxNameCharacters = 100;
const halfPair = /\p{Cs}$/u;

const mayGoWell: ReadonlySet<Outcome['kind']> = new Set(['failed', 'timed-out']);

function describe({ kind, code, reason, name, text }: Outcome): {
  readonly kind: ModuleErrorKind;
  readonly message: string;
} {
  if (kind === 'unknown-tool') return { kind: 'ToolNotFound', message: `Tool not found: ${showName(name)}` };
  // A result that is not JSON, even if the call is in doubt because of it.
  if (code === 'output.invalid' && reason !== undefined)
    return { kind: 'SerializationError', message: `Serialization error: ${text}` };
  if (kind === 'invalid' && code?.startsWith('output.') !== true)
    return { kind: 'InvalidArguments', message: `Invalid arguments: ${text.replace(ownPrefix, '')}` };
  return { kind: 'ExecutionFailed', message: `Execution failed: ${text}` };
}

/** The prefix that the call path already adds. */
const ownPrefix = /^Invalid arguments for `[^`]{1,64}`: /;

/** The error in the form of a loop's result. */
export function toLoopProblem(error: HoldfastError): LoopProblem {
  const { code, message } = error;
  const problem = { code, ...toReason(error), message };
  if (!isModuleError(error)) return Object.freeze({ ...problem, recoverable: false });
  const { kind, recoverable } = error.data;
  return Object.freeze({ ...problem, kind, recoverable });
}

/** As `toLoopProblem`, for any value that a host's predictor throws. */
export function toPredictorProblem(thrown: unknown): LoopProblem {
  if (isHoldfastError(thrown)) return toLoopProblem(thrown);
  const message = `The predictor failed: ${cutText(describeThrown(thrown), 2_000)}`;
  return Object.freeze({ code: 'modules.failed', reason: 'model', message, kind: 'ModelFailed', recoverable: true });
}

/** The reason why a loop was stopped. */
export type Stop = 'aborted' | 'deadline' | 'budget' | 'suspended';

const stops: Readonly<Record<Stop, LoopProblem>> = {
  aborted: {
    code: 'modules.stopped',
    reason: 'aborted',
    message: 'The loop was aborted by its signal.',
    recoverable: true,
  },
  deadline: {
    code: 'modules.stopped',
    reason: 'deadline',
    message: 'The deadline of the loop has passed.',
    recoverable: true,
  },
  budget: {
    code: 'modules.stopped',
    reason: 'budget',
    message: 'The budget of the loop is used up.',
    recoverable: false,
  },
  suspended: {
    code: 'modules.stopped',
    reason: 'suspended',
    message: 'A call waits for approval. Once it is answered, call `resume` with the `state`.',
    recoverable: true,
  },
};

export function stopProblem(stop: Stop): LoopProblem {
  return Object.freeze({ ...stops[stop] });
}

/** The error of a predictor that requested a call in its last round. */
export function iterationsProblem(iterations: number): LoopProblem {
  return Object.freeze({
    code: 'modules.stopped',
    reason: 'max_iterations',
    message: `No answer after ${iterations} iterations: the last one still requested a tool.`,
    kind: 'MaxIterationsReached',
    recoverable: false,
  });
}
