import type { Outcome } from '@holdfast/core';
import { authorize } from '../approval/authorize.ts';
import { isThenable, waitForAnswer } from '../call/execute.ts';
import { keepsState, policiesFor } from '../call/policies.ts';
import { prepare } from '../call/prepare.ts';
import { runCall } from '../call/run-call.ts';
import type { CallScope } from '../call/scope.ts';
import type { Ending, IdentifiedCall, Prepared, Suspended } from '../call/types.ts';
import { watchSurroundings } from './decide-again.ts';
import { EarlyCall } from './early-call.ts';

interface Slot {
  readonly call: IdentifiedCall;
  readonly refusal: Ending | undefined;
  early: EarlyCall | undefined;
}

/** The calls that may run beside those already running. */
type Beside =
  | { readonly type: 'reading' }
  | { readonly type: 'locked'; readonly locks: Set<string> }
  | { readonly type: 'alone' };

const reading: Beside = { type: 'reading' };
const alone: Beside = { type: 'alone' };

/**
 * Decides and commits calls in order, as if one after another, while some run in parallel: read-only calls, and calls with different
 * declared locks if no policy in force keeps state.
 */
export class CallSequence {
  readonly #scope: CallScope;
  readonly #slots: Slot[] = [];
  /** The first call that has not begun. */
  #next = 0;
  #beside: Beside = alone;
  /** Early calls whose turn has not come. */
  #flying = 0;
  /** Numbers the scans ahead, to detect one that was superseded. */
  #walk = 0;

  constructor(scope: CallScope) {
    this.#scope = scope;
  }

  /** Appends a call. It may begin at once. */
  add(call: IdentifiedCall, refusal: Ending | undefined): number {
    this.#slots.push({ call, refusal, early: undefined });
    this.#goAheadIfOpen();
    return this.#slots.length - 1;
  }

  /** Ends the call at `index`; call it in order, each time the previous call has ended. */
  conduct(index: number): Promise<Outcome | Suspended> {
    const slot = this.#slots[index];
    if (slot === undefined) throw new RangeError(`There is no call ${index}.`);
    const { early, call, refusal } = slot;
    if (early !== undefined) {
      slot.early = undefined;
      this.#flying -= 1;
      return this.#flying === 0 ? this.#closeAfter(early.conclude()) : early.conclude();
    }
    this.#walk += 1;
    // The running calls began beside an earlier one and say nothing about this one.
    if (this.#flying > 0) return runCall(call, this.#scope, { refusal });
    this.#next = index + 1;
    return this.#closeAfter(runCall(call, this.#scope, { refusal, onEntered: () => this.#openTo(call) }));
  }

  /** Closes the window for early calls at the end of `call`, unless others began beside it. */
  async #closeAfter(call: Promise<Outcome | Suspended>): Promise<Outcome | Suspended> {
    try {
      return await call;
    } finally {
      if (this.#flying === 0) this.#beside = alone;
    }
  }

  /** Discards early calls. */
  async abandon(): Promise<void> {
    this.#walk += 1;
    this.#beside = alone;
    for (const slot of this.#slots) {
      const { early } = slot;
      if (early === undefined) continue;
      slot.early = undefined;
      this.#flying -= 1;
      await early.drop();
    }
  }

  /** Lets calls begin beside `call`, which has just begun. */
  #openTo(call: IdentifiedCall): void {
    const tool = this.#scope.toolset.byName.get(call.name)?.tool;
    if (tool === undefined) return;
    if (tool.effects === 'none') this.#beside = reading;
    else if (tool.locks !== undefined) {
      const prepared = prepare(call, this.#scope);
      const locks = prepared.type === 'prepared' ? this.#locksOf(prepared) : undefined;
      this.#beside = locks === undefined ? alone : { type: 'locked', locks: new Set(locks) };
    }
    this.#goAheadIfOpen();
  }

  // No early calls under a call budget: their nested calls would be charged before the calls ahead of them.
  #goAheadIfOpen(): void {
    if (this.#beside.type === 'alone' || this.#next >= this.#slots.length) return;
    if (this.#scope.budgets.some(({ limitsCalls }) => limitsCalls)) return;
    void this.#goAhead();
  }

  /** Begins calls that may run beside the current ones, up to the first that must wait. Never rejects. */
  async #goAhead(): Promise<void> {
    this.#walk += 1;
    const walk = this.#walk;
    const scope = this.#scope;
    for (let index = this.#next; index < this.#slots.length; index += 1) {
      const slot = this.#slots[index];
      if (slot === undefined || slot.early !== undefined || slot.refusal !== undefined) continue;
      const prepared = prepare(slot.call, scope);
      // Ends without its tool when its turn comes, and blocks no other call.
      if (prepared.type === 'ended') continue;
      const locks = this.#fits(prepared);
      if (locks === undefined || scope.lifetime.ended !== undefined) return;
      const decided = this.#beside.type === 'locked';
      // It may have a recorded answer, which counts when its turn comes.
      if (decided && scope.resuming !== undefined) return;
      const watched = decided ? watchSurroundings(scope.surroundings) : undefined;
      const deciding = authorize(
        prepared.call,
        watched === undefined ? scope : { ...scope, surroundings: watched.surroundings },
      );
      const verdict = deciding instanceof Promise ? await deciding : deciding;
      // Its turn may have come meanwhile.
      if (walk !== this.#walk || verdict.type === 'ask') return;
      // An earlier call may be about to change what the policy read.
      const looked = watched?.looked() === true || scope.facts?.madeOf(prepared.call) !== undefined;
      if (decided && (verdict.type === 'deny' || looked)) return;
      if (verdict.type === 'deny') continue;
      slot.early = EarlyCall.begin(slot.call, prepared, { scope, verdict, decided });
      if (slot.early === undefined) return;
      this.#flying += 1;
      this.#next = index + 1;
      if (this.#beside.type === 'locked') for (const lock of locks) this.#beside.locks.add(lock);
    }
  }

  /** The locks of a call that may begin now; `undefined` if it may not. */
  #fits(prepared: Prepared): readonly string[] | undefined {
    const beside = this.#beside;
    const { tool } = prepared.call;
    switch (beside.type) {
      case 'alone':
        return undefined;
      case 'reading':
        return tool.effects === 'none' ? [] : undefined;
      case 'locked': {
        const locks = this.#locksOf(prepared);
        return locks?.some((lock) => beside.locks.has(lock)) === true ? undefined : locks;
      }
    }
  }

  /** The locks of a call, if they decide alone what it may run beside. */
  #locksOf({ call: { tool, input } }: Prepared): readonly string[] | undefined {
    const scope = this.#scope;
    if (tool.locks === undefined || scope.observers.length > 0 || policiesFor(scope, tool.name).some(keepsState))
      return undefined;
    try {
      const locks: unknown = tool.locks(input);
      if (isThenable(locks)) void waitForAnswer(locks);
      return isNames(locks) ? locks : undefined;
    } catch {
      // Locks only let a call begin earlier: if they throw, it runs alone.
      return undefined;
    }
  }
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string');
}
