import type { ModelUsage, Outcome, PendingApproval, RunEvent, RunStatus } from '@holdfast/core';
import type { CutReason, ThrownError } from '@holdfast/core/types';
import type { LogEntry, Session } from '@holdfast/session';
import type { CallScope } from '../call/scope.ts';
import { describeCut } from './cut-message.ts';

/** The status and results of a run, however it ended. Frozen. */
export interface RunResult<Output = unknown> {
  readonly status: RunStatus;
  /** The run's session: pending approvals are answered and resumed there. Not enumerable. */
  readonly session: Session;
  /** The model's last message with text, or its text so far when it was stopped. */
  readonly text: string;
  /** That message parsed by the prompt's output format. Only when `completed`; absent if the prompt has no format. */
  readonly output?: Output;
  /** Missing parts, in sentences: open points of the completion checker when no retries were left, or a cut last message. */
  readonly unfinished?: string;
  /** Why the last message was cut; `text` is then incomplete. */
  readonly cut?: CutReason;
  /** Number of model requests. */
  readonly turns: number;
  /** Of all messages; 0 if the provider reports none. */
  readonly usage: ModelUsage;
  /** Of every finished call, in order; without nested calls. */
  readonly outcomes: readonly Outcome[];
  /** Calls that wait for approval; not empty exactly when `suspended`. */
  readonly pending: readonly PendingApproval[];
  /** When `model-error`: why the model could not be asked, or the prompt could not be rendered again. `output.invalid` if the last message does not match the output format. */
  readonly error?: ThrownError;
}

/** The progress of a run. */
export interface Progress {
  turns: number;
  text: string;
  /** The model's last message, with or without text. */
  answer: string;
  /** Why that message was cut, if it is text. */
  cut?: CutReason | undefined;
  usage: ModelUsage;
  returns: number;
  corrections: number;
  readonly outcomes: Outcome[];
}

/** The result of an ended run beyond its progress. */
export type Rest = Partial<Pick<RunResult, 'pending' | 'error' | 'output' | 'unfinished'>>;

const nothingPending: readonly PendingApproval[] = Object.freeze([]);

/** Records the end of the run. */
export function endRun(scope: CallScope, status: RunStatus, progress: Progress, rest: Rest): RunResult {
  const run = scope.run?.startSeq ?? 0;
  const { turns, text, usage, cut } = progress;
  const { error } = rest;
  const unfinished = toUnfinished(progress, rest);
  note(scope, { type: 'run-end', run, status, text, turns, usage, error, unfinished, cut, atMs: scope.clock.now() });
  return toResult(scope, status, progress, rest);
}

function toUnfinished({ cut }: Progress, { unfinished }: Rest): string | undefined {
  return cut === undefined ? unfinished : [unfinished ?? [], describeCut(cut)].flat().join(' ');
}

/** The result without a record: after a pause between two turns the log is that of an interrupted run. */
export function toResult(
  scope: CallScope,
  status: RunStatus,
  progress: Progress,
  { pending = nothingPending, error, output, unfinished: missing }: Rest = {},
): RunResult {
  const { turns, text, usage, outcomes, cut } = progress;
  const unfinished = toUnfinished(progress, missing === undefined ? {} : { unfinished: missing });
  const result = {
    status,
    text,
    turns,
    usage,
    outcomes: Object.freeze(outcomes),
    pending,
    ...(output === undefined ? {} : { output }),
    ...(unfinished === undefined ? {} : { unfinished }),
    ...(cut === undefined ? {} : { cut }),
    ...(error === undefined ? {} : { error }),
  };
  // Not enumerable, so that a result prints and compares as plain data.
  return Object.freeze(Object.defineProperty(result, 'session', { value: scope.session })) as RunResult;
}

/** Records and emits an event. `kept`: the part for the log, if not all. */
export function note({ session, emit }: CallScope, event: RunEvent, kept: object = event): void {
  const entry = event.type === 'run-end' && event.error !== undefined ? { ...event, error: { ...event.error } } : kept;
  // JSON by construction; TypeScript cannot see that of an interface.
  session.record(entry as unknown as LogEntry);
  emit?.(event);
}
