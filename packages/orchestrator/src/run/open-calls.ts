import { isHoldfastError, type ToolCallEndEvent } from '@holdfast/core';
import { describeCode, isPlainObject } from '@holdfast/core/internal';
import type { LogRecord } from '@holdfast/session';
import { toCallId } from '../trace/facts.ts';
import { readPlanLog } from '../trace/log.ts';
import type { PlanState } from './state.ts';

const codes: ReadonlySet<string> = new Set(['work.under_way', 'work.not_open', 'replay.failed: no_content']);

/** True if a call could not be resumed because the host is resuming it, or because it cannot be resumed at all. */
export function isElsewhere(thrown: unknown): boolean {
  return isHoldfastError(thrown) && (codes.has(thrown.code) || codes.has(describeCode(thrown)));
}

/** A change of an open call from outside of the run: an answer to the question with that digest, or its end. */
export type OpenCallChange =
  | { readonly type: 'answer'; readonly digest: string }
  | { readonly type: 'end'; readonly event: ToolCallEndEvent };

/** Watches the log for changes that others make to the open calls of a run. Nodes go by position. */
export class OpenCalls {
  readonly #state: PlanState;
  readonly #open: ReadonlySet<number>;
  /** Includes calls that are no longer open. */
  readonly #byCall = new Map<unknown, number>();
  readonly #onChange: (position: number, change: OpenCallChange) => void;
  #stopWatching: (() => void) | undefined;

  /** `open`: the currently open calls. A call that has ended is removed from it by `onChange`. */
  constructor(
    state: PlanState,
    open: ReadonlySet<number>,
    onChange: (position: number, change: OpenCallChange) => void,
  ) {
    this.#state = state;
    this.#open = open;
    this.#onChange = onChange;
  }

  watch(position: number): void {
    this.#byCall.set(this.#callIdOf(position), position);
    this.#stopWatching ??= this.#state.caller.session.subscribe((record) => this.#note(record));
  }

  /** Reports changes that happened before the call was watched. */
  check(position: number): void {
    const { session } = this.#state.caller;
    const question = session.openCall({ callId: this.#callIdOf(position) })?.approvals.at(-1);
    if (question?.answer !== undefined) this.#onChange(position, { type: 'answer', digest: question.pending.digest });
    this.checkEnd(position);
  }

  /** The same for the end alone. */
  checkEnd(position: number): void {
    const { caller, run } = this.#state;
    const { session } = caller;
    if (session.openCall({ callId: this.#callIdOf(position) }) !== undefined) return;
    const known = readPlanLog(session.records(run), run)?.facts[position];
    if (known?.type === 'tool-call-end' && this.#open.has(position)) {
      this.#onChange(position, { type: 'end', event: known });
    }
  }

  release(): void {
    this.#stopWatching?.();
  }

  #note(record: LogRecord): void {
    const { type, callId, parentId, run, outcome, digest } = record;
    if (type !== 'tool-call-end' && type !== 'approval-answer') return;
    // Ignore nested calls and calls of an agent's run.
    if (parentId !== undefined || run !== undefined) return;
    const position = this.#byCall.get(callId);
    if (position === undefined || !this.#open.has(position)) return;
    if (type === 'approval-answer') this.#onChange(position, { type: 'answer', digest: String(digest) });
    else if (isPlainObject(outcome)) {
      this.#onChange(position, { type: 'end', event: record as unknown as ToolCallEndEvent });
    }
  }

  #callIdOf(position: number): string {
    const { run, nodes } = this.#state;
    return toCallId(run, nodes[position]?.id ?? '');
  }
}
