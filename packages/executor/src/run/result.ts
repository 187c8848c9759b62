import type { CutReason, ModelUsage, Outcome, PendingApproval, RunEvent, RunStatus, ThrownError } from '@holdfast/core';
import type { LogEntry } from '@holdfast/session';
import type { CallScope } from '../call/scope.ts';
import { describeCut } from './cut-message.ts';

/** How a run ended, and what was reached, whatever ended it. Frozen. */
export interface RunResult<Output = unknown> {
  readonly status: RunStatus;
  /** The model's last message that had text, or what it had said when it was stopped. */
  readonly text: string;
  /** What the prompt's output format makes of that message; only when `completed`, and absent where the prompt has none. */
  readonly output?: Output;
  /**
   * What is missing, in sentences: what the completion checker still missed when the model had been sent back as often as it may be,
   * or could not be; and that the last message was cut.
   */
  readonly unfinished?: string;
  /** Why the last message, a text, was cut: `text` is not all that the model had to say. */
  readonly cut?: CutReason;
  /** Messages that the model was asked for. */
  readonly turns: number;
  /** Of all messages; 0 where the provider reports none. */
  readonly usage: ModelUsage;
  /** Of every call that ended, in order; nested ones are their callers' affair. */
  readonly outcomes: readonly Outcome[];
  /** What waits for a person; not empty exactly when `suspended`. */
  readonly pending: readonly PendingApproval[];
  /** When `model-error`: why the model could not be asked, also where the prompt could not be rendered again. `output.invalid` where the last message is not the output that was wanted. */
  readonly error?: ThrownError;
}

/** How far a run has come. */
export interface Progress {
  turns: number;
  text: string;
  /** The model's last message, with or without text. */
  answer: string;
  /** Why that message was cut, where it is a text. */
  cut?: CutReason | undefined;
  usage: ModelUsage;
  returns: number;
  corrections: number;
  readonly outcomes: Outcome[];
}

/** What an ended run says beside how far it came. */
export type Rest = Partial<Pick<RunResult, 'pending' | 'error' | 'output' | 'unfinished'>>;

const nothingPending: readonly PendingApproval[] = Object.freeze([]);

/** Writes down how the run ended. */
export function endRun(
  scope: CallScope,
  status: RunStatus,
  { turns, text, usage, outcomes, cut }: Progress,
  { pending = nothingPending, error, output, unfinished: missing }: Rest,
): RunResult {
  const run = scope.run?.startSeq ?? 0;
  const unfinished = cut === undefined ? missing : [missing ?? [], describeCut(cut)].flat().join(' ');
  note(scope, { type: 'run-end', run, status, text, turns, usage, error, unfinished, cut, atMs: scope.clock.now() });
  return Object.freeze({
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
  });
}

/** Tells the log and whoever listens. `kept`: what the log has of it, if not all. */
export function note({ session, emit }: CallScope, event: RunEvent, kept: object = event): void {
  const entry = event.type === 'run-end' && event.error !== undefined ? { ...event, error: { ...event.error } } : kept;
  // Made of JSON; an interface does not say so to the compiler.
  session.record(entry as unknown as LogEntry);
  emit?.(event);
}
