import {
  describeThrown,
  type HoldfastError,
  isHoldfastError,
  type Json,
  type JsonObject,
  type ModelUsage,
  type Outcome,
  type PendingApproval,
  toPrintable,
} from '@holdfast/core';
import {
  isModuleError,
  type ModuleError,
  type ModuleErrorCode,
  type ModuleErrorKind,
  moduleError,
} from '../signature/problems.ts';

/** A call that a predictor asked for. */
export interface LoopCall {
  /**
   * `call_<round>_<index>`, both counted from 0; with what a provider gave in place of it, if that is free. In the session it is
   * `outcome.callId`.
   */
  readonly id: string;
  readonly name: string;
  /** As it was asked for. */
  readonly args: Json;
  /** Absent for a call that was not run. */
  readonly outcome?: Outcome;
  /** What the predictor is told of it. */
  readonly text: string;
}

/** Why a loop ended without an answer. */
export interface LoopProblem {
  readonly code: string;
  readonly message: string;
  readonly kind?: ModuleErrorKind;
  readonly recoverable: boolean;
}

interface LoopCourse {
  /** How often the predictor was called. */
  readonly iterations: number;
  /** All that were asked for, in order. */
  readonly calls: readonly LoopCall[];
  /** Of the model; 0 for a predictor that reports none. */
  readonly usage: ModelUsage;
}

/**
 * How a tool loop ended. `completed`: the predictor answered without a call. `submit`: it submitted its outputs; `forced-submit`: it did
 * so when it was asked for the last time. Everything else has an `error` and, in `output`, what the last answer had of the outputs.
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
      /** What waits for a person. */
      readonly pending: readonly PendingApproval[];
      /** JSON. With it the loop goes on, also in another process, once the session's log has the answers. */
      readonly state: JsonObject;
    });

/** How a call that did not succeed is told: the sentence is what a predictor reads. Give only one that is not `ok`. */
export function toToolError(outcome: Outcome): ModuleError {
  const { code, message } = describe(outcome);
  return moduleError(code, message, {
    data: {
      tool: showName(outcome.name),
      outcome: outcome.kind,
      code: outcome.code ?? null,
      // A no stays one, and what may have happened must not be done again without a look.
      ...(code === 'modules.execution_failed' ? { recoverable: mayGoWell.has(outcome.kind) } : {}),
    },
  });
}

/** What a predictor is told of a call that ended. */
export function tellOutcome(outcome: Outcome): string {
  return outcome.kind === 'ok' ? outcome.text : toToolError(outcome).message;
}

/** At most `maxCharacters` of `text`, and then that it was cut. */
export function cutText(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const shown = text.slice(0, maxCharacters).replace(halfPair, '');
  return `${shown} [cut: ${shown.length} of ${text.length} characters are shown]`;
}

/** A name that a model wrote, in a message. */
export function showName(name: string): string {
  return toPrintable(cutText(name, maxNameCharacters));
}

const maxNameCharacters = 100;
const halfPair = /\p{Cs}$/u;

const mayGoWell: ReadonlySet<Outcome['kind']> = new Set(['failed', 'timed-out']);

/** What the call path says of a result that is no JSON. Also where the call is in doubt for it. */
const unserializable: ReadonlySet<string | undefined> = new Set([
  'output.undefined',
  'output.not_json',
  'output.unreadable',
]);

function describe({ kind, code, name, text }: Outcome): { readonly code: ModuleErrorCode; readonly message: string } {
  if (kind === 'unknown-tool') return { code: 'modules.tool_not_found', message: `Tool not found: ${showName(name)}` };
  if (unserializable.has(code)) return { code: 'modules.serialization', message: `Serialization error: ${text}` };
  if (kind === 'invalid' && code?.startsWith('output.') !== true)
    return { code: 'modules.invalid_arguments', message: `Invalid arguments: ${text.replace(ownPrefix, '')}` };
  return { code: 'modules.execution_failed', message: `Execution failed: ${text}` };
}

/** With which the call path begins, too. */
const ownPrefix = /^Invalid arguments for `[^`]{1,64}`: /;

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
