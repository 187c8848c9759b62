import type { Json, Outcome } from '@holdfast/core';
import type { ChildSession, Touched } from '@holdfast/core/types';
import { type Lifetime, toDeadline } from '../call/execute.ts';
import { statefulFor } from '../call/policies.ts';
import type { RunningCall } from '../call/running-call.ts';
import type { EndOfLife, NestedCalls, NestedDecision, NestedWork } from '../call/types.ts';
import { createChildSession } from './child-session.ts';
import { NestedTouched } from './touched.ts';

/** The nested calls and child sessions of one call. */
export class Nested implements NestedWork {
  readonly #call: RunningCall;
  #calls: NestedCalls | undefined;
  #decisions: NestedDecision[] = [];
  #touched: NestedTouched | undefined;
  #count = 0;
  #children = 0;

  constructor(call: RunningCall) {
    this.#call = call;
  }

  get any(): boolean {
    return this.#count > 0 || this.#children > 0;
  }

  get decisions(): readonly NestedDecision[] {
    return this.#decisions;
  }

  async call(name: string, input: unknown): Promise<Outcome> {
    this.#calls ??= this.#call.scope.features.openCalls(this.#call);
    this.#count += 1;
    return await this.#calls.call(`${this.#call.call.id}/${this.#count}`, name, input);
  }

  openChild(): ChildSession {
    this.#children += 1;
    return createChildSession(this.#call, this.#children);
  }

  note(nested: RunningCall, changes: readonly Json[], touched: ReadonlyMap<string, Touched>): void {
    if (touched.size > 0) {
      this.#touched ??= new NestedTouched();
      this.#touched.add(touched);
    }
    // It counts with the outer call, and may have to be decided again then.
    const { call, scope, approved, nestedWork } = nested;
    const inner = nestedWork?.decisions ?? [];
    if (inner.length > 0 || statefulFor(call, scope).length > 0)
      this.#decisions.push({ call, scope, approved, nested: inner, changes });
  }

  own(touched: ReadonlyMap<string, Touched>): ReadonlyMap<string, Touched> {
    return this.#touched === undefined ? touched : this.#touched.without(touched);
  }

  again(call: RunningCall): Nested {
    const next = new Nested(call);
    next.#count = this.#count;
    next.#children = this.#children;
    return next;
  }
}

/** Ends when the outer call is stopped or has ended. */
export class NestedLifetime implements Lifetime {
  readonly endless = false;
  readonly deadline: Lifetime['deadline'];
  readonly #around: RunningCall;

  constructor(around: RunningCall) {
    this.#around = around;
    const { clock, lifetime } = around.scope;
    const atMs = Math.min(lifetime.deadline.atMs, around.time?.endsAtMs ?? Number.POSITIVE_INFINITY);
    this.deadline = toDeadline(atMs, clock);
  }

  get ended(): EndOfLife | undefined {
    // A tool that blocks the thread also keeps the outer call's timer from firing.
    return this.#around.ended ?? (this.deadline.remainingMs() === 0 ? 'deadline' : undefined);
  }

  // A field, because callers destructure it.
  readonly onEnd = (listener: (end: EndOfLife) => void): (() => void) => {
    const { ended } = this;
    if (ended === undefined) return this.#around.onStop(listener);
    listener(ended);
    return () => undefined;
  };

  dispose(): void {
    // Has no timer of its own; listeners are released with the outer call.
  }
}
