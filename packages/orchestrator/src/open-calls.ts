import { isHoldfastError, isPlainObject, type ToolCallEndEvent } from '@holdfast/core';
import type { LogRecord } from '@holdfast/session';
import { toCallId } from './node-facts.ts';
import { readPlanLog } from './plan-log.ts';
import type { PlanState } from './plan-state.ts';

const codes: ReadonlySet<string> = new Set(['call.under_way', 'call.not_open', 'replay.no_content']);

/** Whether a call could not be gone on with because the host does, or because nobody can. */
export function isElsewhere(thrown: unknown): boolean {
  return isHoldfastError(thrown) && codes.has(thrown.code);
}

/** What the log tells of calls that are open. */
export interface OpenCallHooks {
  /** Somebody has answered the question with that digest. */
  readonly onAnswer: (position: number, digest: string) => void;
  /** The host has ended it by itself: it is open no more. */
  readonly onEnd: (position: number, event: ToolCallEndEvent) => void;
}

/** Places of nodes whose calls have not ended and are not under way in the run: they wait for people, or for being gone on with. */
export class OpenCalls {
  readonly #state: PlanState;
  readonly #positions = new Set<number>();
  /** Also of calls that are open no more. */
  readonly #byCall = new Map<unknown, number>();
  readonly #hooks: OpenCallHooks;
  #stopWatching: (() => void) | undefined;

  constructor(state: PlanState, hooks: OpenCallHooks) {
    this.#state = state;
    this.#hooks = hooks;
  }

  has(position: number): boolean {
    return this.#positions.has(position);
  }

  add(position: number): void {
    this.#positions.add(position);
    this.#byCall.set(this.#callIdOf(position), position);
    this.#stopWatching ??= this.#state.caller.session.subscribe((record) => this.#note(record));
  }

  /** Tells what has become of it before it was added. */
  check(position: number): void {
    const { caller, run } = this.#state;
    const { session } = caller;
    const call = session.openCall({ callId: this.#callIdOf(position) });
    const question = call?.approvals.at(-1);
    if (question?.answer !== undefined) this.#hooks.onAnswer(position, question.pending.digest);
    const known = call === undefined ? readPlanLog(session.records(run), run)?.facts[position] : undefined;
    if (known?.type === 'tool-call-end' && this.#positions.delete(position)) this.#hooks.onEnd(position, known);
  }

  /** Whether it was one of them, which it is no more. */
  take(position: number): boolean {
    return this.#positions.delete(position);
  }

  /** All of them. */
  takeAll(): readonly number[] {
    const all = [...this.#positions];
    this.#positions.clear();
    return all;
  }

  release(): void {
    this.#stopWatching?.();
  }

  #note(record: LogRecord): void {
    const { type, callId, parentId, run, outcome, digest } = record;
    if (type !== 'tool-call-end' && type !== 'approval-answer') return;
    // Neither a call within one of them, nor one of an agent's run.
    if (parentId !== undefined || run !== undefined) return;
    const position = this.#byCall.get(callId);
    if (position === undefined || !this.#positions.has(position)) return;
    if (type === 'approval-answer') this.#hooks.onAnswer(position, String(digest));
    else if (isPlainObject(outcome)) {
      this.#positions.delete(position);
      this.#hooks.onEnd(position, record as unknown as ToolCallEndEvent);
    }
  }

  #callIdOf(position: number): string {
    const { run, nodes } = this.#state;
    return toCallId(run, nodes[position]?.id ?? '');
  }
}
