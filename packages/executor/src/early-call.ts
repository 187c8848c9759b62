import type { Outcome } from '@holdfast/core';
import type { Verdict } from './authorise.ts';
import type { CallScope } from './call-scope.ts';
import { conclude } from './conclude.ts';
import { type Enterable, enter, finish, invokeEntered, type Prepared, type Suspended } from './conduct-call.ts';
import type { IdentifiedCall } from './identified-call.ts';
import { type Invoked, waitForAnswer } from './invoke.ts';
import { type Ended, permit } from './permit.ts';
import { abandon, refuse } from './settle.ts';
import { startTrail } from './trail.ts';

/**
 * A call whose tool began while earlier calls of its turn were under way, after a provisional allow. The decision that counts is
 * taken when they have settled; unless it is an allow, what the tool did is dropped and nobody sees it.
 */
export class EarlyCall {
  readonly #entered: Enterable;
  readonly #decided: boolean;
  readonly #invoking: Promise<Invoked | Ended> | Invoked;

  private constructor(entered: Enterable, decided: boolean) {
    this.#entered = entered;
    this.#decided = decided;
    const { resources, trail, scope } = entered;
    if (!decided) resources.hold();
    const invoked = invokeEntered(entered);
    const invoking = invoked instanceof Promise || invoked.type !== 'unstoppable' ? invoked : waitForAnswer(invoked);
    const noteEnd = (): void => {
      trail.finishedAtMs = scope.clock.now();
    };
    if (invoking instanceof Promise) void invoking.then(noteEnd);
    else noteEnd();
    this.#invoking = invoking;
  }

  /** `undefined` when it has to wait for its turn. `decided`: `verdict` is final, as it is for calls that change something. */
  static begin(
    call: IdentifiedCall,
    prepared: Prepared,
    { scope, verdict, decided }: { readonly scope: CallScope; readonly verdict: Verdict; readonly decided: boolean },
  ): EarlyCall | undefined {
    const trail = startTrail(call, scope);
    trail.input = prepared.recorded;
    trail.decisions = verdict.decisions;
    const entered = enter(prepared, trail, scope);
    return entered.type === 'entered' ? new EarlyCall(entered, decided) : undefined;
  }

  async conclude(): Promise<Outcome | Suspended> {
    const { call, trail, scope, resources } = this.#entered;
    if (!this.#decided) {
      const permitted = await permit(call, trail, scope);
      if (permitted.type === 'ended') return finish(await refuse(permitted.ending, this.#entered), scope);
      if (permitted.type === 'suspended') {
        await abandon(this.#entered);
        return { kind: 'suspended', pending: [permitted.pending] };
      }
      resources.release();
    }
    const invoked = await this.#invoking;
    if (invoked.type === 'ended') return finish(await refuse(invoked.ending, this.#entered), scope);
    return finish(await conclude(invoked, this.#entered), scope);
  }

  /** The turn ends before its place in it. What has changed something is concluded all the same: it has happened. */
  async drop(): Promise<void> {
    if (this.#decided) await this.conclude();
    else await abandon(this.#entered);
  }
}
