import { isPlainObject, type ToolCallEndEvent } from '@holdfast/core';
import type { LogRecord } from '@holdfast/session';
import { toCallId } from './node-facts.ts';
import type { PlanState } from './plan-state.ts';

/** Places of nodes whose calls have not ended and are not under way in the run: they wait for people, or for being gone on with. */
export class OpenCalls {
  readonly #state: PlanState;
  readonly #positions = new Set<number>();
  readonly #onEnd: (position: number, event: ToolCallEndEvent) => void;
  #stopWatching: (() => void) | undefined;

  /** `onEnd`: the host has ended one by itself, which only the log tells. */
  constructor(state: PlanState, onEnd: (position: number, event: ToolCallEndEvent) => void) {
    this.#state = state;
    this.#onEnd = onEnd;
  }

  has(position: number): boolean {
    return this.#positions.has(position);
  }

  add(position: number): void {
    this.#positions.add(position);
    this.#stopWatching ??= this.#state.caller.session.subscribe((record) => this.#note(record));
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
    const { type, callId, parentId, run, outcome } = record;
    if (type !== 'tool-call-end' || parentId !== undefined || run !== undefined || !isPlainObject(outcome)) return;
    for (const position of this.#positions) {
      const node = this.#state.nodes[position];
      if (node === undefined || toCallId(this.#state.run, node.id) !== callId) continue;
      this.#positions.delete(position);
      this.#onEnd(position, record as unknown as ToolCallEndEvent);
      return;
    }
  }
}
