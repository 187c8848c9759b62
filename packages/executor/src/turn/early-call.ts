import type { Outcome } from '@holdfast/core';
import { answerOf, conclude, enter, finish, invoke, permit, tellStart } from '../call/run-call.ts';
import { RunningCall } from '../call/running-call.ts';
import type { CallScope } from '../call/scope.ts';
import type { Ended, IdentifiedCall, Invoked, Prepared, Suspended, Verdict } from '../call/types.ts';
import { abandon } from '../resources/staged.ts';

/**
 * A call whose tool began during earlier calls of its turn, after a provisional allow. The final decision is made when they have
 * settled; if it is not an allow, the tool's changes are discarded unseen.
 */
export class EarlyCall {
  readonly #call: RunningCall;
  readonly #decided: boolean;
  readonly #invoking: Promise<Invoked | Ended>;

  private constructor(call: RunningCall, decided: boolean) {
    this.#call = call;
    this.#decided = decided;
    if (!decided) call.hold();
    this.#invoking = this.#run();
  }

  /** `undefined` if it must wait for its turn. `decided`: `verdict` is final, as for calls that change something. */
  static begin(
    source: IdentifiedCall,
    prepared: Prepared,
    { scope, verdict, decided }: { readonly scope: CallScope; readonly verdict: Verdict; readonly decided: boolean },
  ): EarlyCall | undefined {
    const call = new RunningCall(source, prepared, { scope, startedAtMs: tellStart(source, scope) });
    call.decisions = verdict.decisions;
    return enter(call) === undefined ? new EarlyCall(call, decided) : undefined;
  }

  async #run(): Promise<Invoked | Ended> {
    const invoking = invoke(this.#call);
    let invoked: Invoked | Ended;
    if (invoking instanceof Promise) invoked = await answerOf(invoking);
    else if (invoking.type !== 'unstoppable') invoked = invoking;
    else {
      try {
        invoked = { type: 'returned', value: await invoking.value };
      } catch (thrown) {
        invoked = { type: 'threw', thrown };
      }
    }
    this.#call.finishedAtMs = this.#call.scope.clock.now();
    return invoked;
  }

  async conclude(): Promise<Outcome | Suspended> {
    const call = this.#call;
    const { scope } = call;
    if (!this.#decided) {
      const permitting = permit(call);
      const permitted = permitting instanceof Promise ? await permitting : permitting;
      if (permitted.type === 'ended') return finish(await scope.features.refuse(permitted.ending, call), scope);
      if (permitted.type === 'suspended') {
        await abandon(call);
        return { kind: 'suspended', pending: [permitted.pending] };
      }
      call.release();
    }
    const invoked = await this.#invoking;
    if (invoked.type === 'ended') return finish(await scope.features.refuse(invoked.ending, call), scope);
    const concluding = conclude(invoked, call);
    return finish(concluding instanceof Promise ? await concluding : concluding, scope);
  }

  /** Drops the call because its turn ended early. A call that has changed something is still settled. */
  async drop(): Promise<void> {
    if (this.#decided) await this.conclude();
    else await abandon(this.#call);
  }
}
